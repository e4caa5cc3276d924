#!/usr/bin/env python3
"""Runs whose arrays do not fit into --memory. Each test has a folder of its own.

    check_memory.py [--raddle PATH] [FILTER]
"""

import json
import os
import re
import resource
import signal
import subprocess
import time
from collections import Counter

from folder_tests import Fault, expect, expect_in, main

MIB = 1 << 20

# 40 tiles of 2 MiB, each read twice, the second time in the other order
TILES = """import arrays;
int n = 40;
float T[][:, :];
foreach i in [0 : n - 1] { T[i] = full(1.0 * i, 512, 512) + eye(512); }
float s[];
foreach i in [0 : n - 1] { s[i] = sum(T[i]) - 2.0 * sum(T[n - 1 - i]); }
trace(sum(s), T[n - 1][3, 3], T[0][511, 511]);
"""
TILES_OUT = "trace: -204492800.0,40.0,1.0\n"

# arrays of 76 MiB, the second one read from both ends
LONG = """import math;
import arrays;
int n = 10000000;
float a[n];
foreach i in [0 : n - 1] { a[i] = i * 0.5; }
float b[n];
foreach i in [0 : n - 1] { b[i] = sqrt(a[i]) + a[n - 1 - i]; }
trace(b[0], b[n - 1], b[12345], max(b), min(b));
"""


def stats(stderr):
    """What --stats says of bytes of arrays."""
    return Counter({name: int(value) for name, value in re.findall(r"^bytes of arrays, (.*) (\d+)$", stderr, re.MULTILINE)})


def tiles_go_and_come(folder):
    folder.write("tiles.df", TILES)
    expect(folder.run("run tiles.df").stdout, TILES_OUT)
    for workers in (1, 2, 8):
        for limit in (16, 40):
            done = folder.run(f"run -j {workers} --memory {limit}M --stats tiles.df", out=TILES_OUT)
            told = stats(done.stderr)
            expect((workers, limit, told["at most"] <= limit * MIB, told["to the spill file"] >= (80 - limit) * MIB), (workers, limit, True, True))
        folder.run(f"run -j {workers} --memory 16M --interpret tiles.df", out=TILES_OUT)
        folder.run(f"run -j {workers} --memory 16M --gpus simulated:whole tiles.df", out=TILES_OUT)


def what_moves_is_drawn_and_told_by_array(folder):
    folder.write("tiles.df", TILES)
    done = folder.run("run -j 2 --memory 16M --stats --trace=t.json tiles.df", out=TILES_OUT)
    events = json.loads(folder.read("t.json"))["traceEvents"]
    lanes = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    told, moved = stats(done.stderr), Counter()
    for event in events:
        if event.get("cat") == "link":
            moved[re.sub(r", \d+$", "", lanes[event["tid"]])] += event["args"]["bytes"]
    expect(moved, Counter({"memory, from the file": told["from the spill file"], "memory, to the file": told["to the spill file"]}))
    expect({event["args"]["taken"] + event["args"]["free"] for event in events if event["name"] == "bytes of memory"}, {16 * MIB})
    of_arrays = re.findall(r"^(?:array `(.*)` at \S+|arrays without a name), in memory, by the MiB: (\d+) loads of (\d+) bytes, (\d+) write-backs of (\d+) bytes, \d+ evictions$", done.stderr, re.MULTILINE)
    expect((sum(int(each[2]) for each in of_arrays), sum(int(each[4]) for each in of_arrays)), (told["from the spill file"], told["to the spill file"]))


def all_fits(folder):
    folder.write("tiles.df", TILES)
    told = stats(folder.run("run --memory 1G --stats tiles.df", out=TILES_OUT).stderr)
    expect((told["to the spill file"], told["from the spill file"], told["dropped"]), (0, 0, 0))
    expect(told["at most"] >= 80 * MIB, True)


def an_array_is_longer_than_memory(folder):
    folder.write("long.df", LONG)
    whole = folder.run("run long.df").stdout
    for workers in (1, 2, 8):
        done = folder.run(f"run -j {workers} --memory 32M --stats long.df", out=whole)
        told = stats(done.stderr)
        expect((told["at most"] <= 32 * MIB, told["to the spill file"] > 100 * MIB), (True, True))


def an_array_is_larger_than_half_of_the_machine(folder):
    """A limit of addresses is what the machine has."""
    folder.write("large.df", "int n = 75000000;\nfloat a[n];\nforeach i in [0 : n - 1] { a[i] = i * 0.5; }\ntrace(a[0], a[n - 1]);\n")
    folder.write("larger.df", "int n = 4000000000000;\nfloat a[n];\nforeach i in [0 : n - 1] { a[i] = i * 0.5; }\ntrace(a[0], a[n - 1]);\n")

    def limit_addresses():
        resource.setrlimit(resource.RLIMIT_AS, (1024 * MIB, 1024 * MIB))

    def run(words):
        return subprocess.run([folder.raddle, "run", "-j", "1", *words], cwd=folder.path, preexec_fn=limit_addresses, capture_output=True,
                              text=True, timeout=60, check=False)

    done = run(["large.df"])
    expect(done.returncode, 1)
    expect_in("the array `a[75000000]` needs 0.559 GiB of memory: more than half of what this process may use", done.stderr)
    done = run(["--memory", "32M", "large.df"])
    expect((done.returncode, done.stdout), (0, "trace: 0.0,37499999.5\n"))
    done = run(["--memory", "32M", "larger.df"])
    expect(done.returncode, 1)
    expect_in("the array `a[4000000000000]` needs 2.98e+04 GiB: more than --memory 32.0 MiB and the disk of the folder `", done.stderr)


# arrays of 190 MiB, read forwards, backwards, and for one number each
WALKS = """import math;
import arrays;
int n = 25000000;
float a[n];
foreach i in [0 : n - 1] { a[i] = i * 0.5; }
float b[n];
foreach i in [0 : n - 1] { b[i] = sqrt(a[i]) + a[n - 1 - i]; }
trace(b[0], b[n - 1], b[12345], max(b), min(b), sum(a));
"""

# a matrix of 122 MiB, read by columns
COLUMNS = """import arrays;
int n = 4000;
float a[n, n];
foreach i in [0 : n - 1], j in [0 : n - 1] { a[i, j] = i * 0.5 + j; }
float b[n, n];
foreach i in [0 : n - 1], j in [0 : n - 1] { b[i, j] = a[j, i] + a[n - 1 - i, j]; }
trace(b[0, 0], b[n - 1, 3], b[5, 12], sum(b));
"""


def the_process_stays_within_its_limit(folder):
    """What the system says: the limit, what a run has without arrays, windows (16 MiB), and code that is being made."""
    folder.write("nothing.df", "trace(1);\n")

    def most(line):
        process = folder.start(line)
        out, _ = process.stdout.read(), process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        expect(os.waitstatus_to_exitcode(status), 0)
        return out, usage.ru_maxrss * 1024

    fixed = most("run -j 1 nothing.df")[1] + 80 * MIB
    tiles = TILES.replace("n = 40", "n = 48")  # what a run has without arrays is a few MiB more or less
    for name, text, limit, most_workers in (("tiles", tiles, 16, 8), ("walks", WALKS, 32, 8), ("columns", COLUMNS, 40, 2)):
        folder.write(f"{name}.df", text)
        whole, taken = most(f"run -j 1 {name}.df")
        if taken < fixed + (limit - 10) * MIB:
            raise Fault(f"{name}.df takes {taken / MIB:.0f} MiB: its arrays are too small to tell anything")
        for workers in [each for each in (1, 2, 8) if each <= most_workers]:
            out, taken = most(f"run -j {workers} --memory {limit}M {name}.df")
            expect(out, whole)
            if taken > fixed + limit * MIB:
                raise Fault(f"{name}.df took {taken / MIB:.0f} MiB with --memory {limit}M and {workers} workers")


def too_little_is_an_error(folder):
    folder.write("keyed.df", "int n = 4000000;\nfloat a[];\nforeach i in [0 : n - 1] { a[3 * i] = i * 0.5; }\ntrace(size(a));\n")
    done = folder.run("run --memory 16M keyed.df", code=1, err="raddle: --memory 16.0 MiB is too little: ")
    expect_in("elements of arrays that lie apart", done.stderr)
    folder.run("run --memory 4M keyed.df", code=2, err="raddle: --memory: 4.0 MiB is less than can be worked with, 8.0 MiB")
    for size in ("0", "-1", "2X", "two", "nan", "1e30"):
        folder.run(f"run --memory={size} keyed.df", code=2, err=f"`{size}` is no size; 500M, 2G or 1.5T are")


def no_folder_no_disk(folder):
    folder.write("tiles.df", TILES)
    folder.run("run --memory 16M --spill nowhere tiles.df", code=2,
               err="raddle: --spill: no file can be made in `nowhere`: No such file or directory")
    folder.write("file", "")
    folder.run("run --memory 16M --spill file tiles.df", code=2, err="raddle: --spill: no file can be made in `file`: Not a directory")

    def limit_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (10 * MIB, 10 * MIB))

    done = subprocess.run([folder.raddle, "run", "--memory", "16M", "--spill", str(folder.path), "tiles.df"], cwd=folder.path,
                          preexec_fn=limit_files, capture_output=True, text=True, timeout=60, check=False)
    expect((done.returncode, done.stdout), (1, ""))
    expect_in(f"can not be written to the folder `{folder.path}`: File too large", done.stderr)
    expect(sorted(each.name for each in folder.path.iterdir()), ["file", "tiles.df"])


def a_kill_leaves_nothing(folder):
    folder.write("tiles.df", TILES.replace("int n = 40", "int n = 200"))
    (folder.path / "spill").mkdir()
    for i in range(20):
        process = folder.start("run --no-record --memory 16M --spill spill tiles.df")
        time.sleep(0.02 * (i + 1))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        expect(list((folder.path / "spill").iterdir()), [])


def settings_and_sweeps(folder):
    folder.write("tiles.df", TILES)
    folder.write("raddle.toml", '[run]\nmemory = "16M"\nspill = "."\n')
    told = stats(folder.run("run --stats tiles.df", out=TILES_OUT).stderr)
    expect((told["at most"] <= 16 * MIB, told["to the spill file"] > 60 * MIB), (True, True))
    folder.write("point.df", TILES.replace("int n = 40;", "int n = 40;\n@param float x = 1.0;").replace("trace(sum(s)", "trace(x * sum(s)"))
    swept = folder.run("sweep --memory 24M -j 2 -p x=1,2 point.df").stdout
    expect_in("-204492800.0", swept)
    expect_in("-408985600.0", swept)


# 2 x 12 tiles of 1 MiB, and all products of two of them
PRODUCT = """import arrays;
int n = 12;
(float t[b, b]) tile(int row, int b) {
  foreach i in [0 : b - 1], j in [0 : b - 1] { t[i, j] = 0.001 * ((row * 31 + i * 7 + j * 3) %% 101); }
}
float A[][:, :];
float B[][:, :];
foreach i in [0 : n - 1] { A[i] = tile(i, 362); B[i] = tile(i + 100, 362); }
float C[][];
foreach i in [0 : n - 1] { foreach j in [0 : n - 1] { C[i][j] = sum(matmul(A[i], B[j])); } }
float rows[];
foreach i in [0 : n - 1] { rows[i] = sum(C[i]); }
trace(sum(rows));
"""

# `halves` gives its first result without its second input, which is made of that
LATE = """import arrays;
(float left[:], float right[:]) halves(float a[:], float b[:]) { left = a * 2.0; right = b + a; }
float a[:] = full(1.0, 200000);
float left[:];
float right[:];
(left, right) = halves(a, left);
trace(sum(left), sum(right));
"""

POLICIES = "eager", "lws", "dmdar", "dmdas", "dmdas-paper", "darts", "darts-count", "darts-order"


def policies_give_equal_results(folder):
    folder.write("product.df", PRODUCT)
    whole = folder.run("run product.df").stdout
    for number, policy in enumerate(POLICIES):
        for workers in (1, 2, 8) if policy == "darts-order" else ((2, 8)[number % 2],):
            done = folder.run(f"run -j {workers} --memory 24M --place {policy} --stats product.df", out=whole)
            expect((policy, workers, stats(done.stderr)["at most"] <= 24 * MIB), (policy, workers, True))
            expect_in("calls placed 288", done.stderr)  # products, and sums of these
        # a sum is the last to read its product: it goes first, so that no product leaves memory
        roomy = folder.run(f"run -j 1 --memory 30M --place {policy} --stats product.df", out=whole)
        expect((policy, stats(roomy.stderr)["from the spill file"]), (policy, 0))
    folder.run("run -j 2 --memory 24M --interpret product.df", out=whole)
    folder.write("few.df", PRODUCT.replace("n = 12", "n = 4").replace("362", "200"))
    whole = folder.run("run few.df").stdout
    for seed in range(1, 6):
        folder.run(f"run -j 2 --memory 64M --scheduler-seed {seed} few.df", out=whole)


def our_policy_reads_less(folder):
    folder.write("product.df", PRODUCT)
    read = {policy: stats(folder.run(f"run -j 1 --memory 12M --place {policy} --stats product.df").stderr)["from the spill file"]
            for policy in ("eager", "darts-order")}
    if read["darts-order"] * 1.5 > read["eager"]:
        raise Fault(f"{read}: choosing calls by their data does not help")


def without_a_limit_nothing_is_placed(folder):
    folder.write("product.df", PRODUCT)
    expect("calls placed" in folder.run("run --place lws --stats product.df").stderr, False)


def a_call_may_give_a_result_without_all_inputs(folder):
    folder.write("late.df", LATE)
    for workers in (1, 2, 8):
        folder.run(f"run -j {workers} --memory 16M late.df", out="trace: 400000.0,600000.0\n")


def policies_have_names(folder):
    folder.write("nothing.df", "trace(1);\n")
    done = folder.run("run --memory 16M --place best nothing.df", code=2)
    for policy in POLICIES:
        expect_in(policy, done.stderr)
    folder.write("raddle.toml", 'place = "lws"\n')
    folder.run("run --memory 16M nothing.df", out="trace: 1\n")
    folder.write("raddle.toml", 'place = "best"\n')
    expect_in("best", folder.run("run --memory 16M nothing.df", code=2).stderr)


def write_zeros(path, shape, descr, byte_count, columns_first=False):
    """A NumPy file that takes nothing of the disk."""
    header = f"{{'descr': '{descr}', 'fortran_order': {columns_first}, 'shape': {shape}, }}"
    header += " " * ((64 - (11 + len(header)) % 64) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        file.truncate(file.tell() + byte_count)


def a_numpy_file_is_read_without_a_copy(folder):
    """There is room for it, as an array is to be at most half of it, or not even for one; not for two."""
    write_zeros(folder.path / "rows.npy", "(75000000,)", "<f8", 600000000)
    write_zeros(folder.path / "narrow.npy", "(50000000,)", "<i4", 200000000)
    write_zeros(folder.path / "columns.npy", "(2, 37500000)", "<f8", 600000000, columns_first=True)
    text = 'import arrays;\nX = ones(1);\n{} A{} = read_npy(input("{}.npy"));\ntrace(sum(A), size(A), X[0]);\n'
    folder.write("rows.df", text.format("float", "[:]", "rows"))
    folder.write("narrow.df", text.format("int", "[:]", "narrow"))
    folder.write("columns.df", text.format("float", "[:, :]", "columns"))

    def run(name, *words):
        limit = (1024 * MIB, 1024 * MIB)
        return subprocess.run([folder.raddle, "run", "-j", "1", *words, name], cwd=folder.path, capture_output=True, text=True, timeout=60,
                              check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit))

    expect(run("rows.df").stdout, "trace: 0.0,75000000,1.0\n")
    expect(run("narrow.df").stdout, "trace: 0,50000000,1.0\n")
    expect_in("`columns.npy` does not fit: an array of the shape [2, 37500000] needs 0.559 GiB of memory: more than half of what this process "
              "may use", run("columns.df").stderr)
    expect(run("narrow.df", "--memory", "64M").stdout, "trace: 0,50000000,1.0\n")


def numpy_files_are_written_and_read_within_a_limit(folder):
    folder.write("files.df", """import arrays;
type both { float x[:, :]; int k[:]; }
float x[:, :] = reshape(linspace(0.0, 1.0, 4000000), 2000, 2000);
file f<"x.npy"> = write_npy(x);
file z<"z.npz"> = write_npz(both(x, arange(1000000)));
float y[:, :] = read_npy(f);
float u[:, :] = read_npz(z, "x");
int k[:] = read_npz(z, "k");
trace(all(x == y), all(x == u), sum(k));
""")
    out = "trace: 1,1,499999500000\n"
    told = stats(folder.run("run -j 2 --memory 40M --stats files.df", out=out).stderr)
    expect(told["at most"] <= 40 * MIB, True)
    folder.run("run -j 2 files.df", out=out)


def numpy_files_that_others_write_to_are_told_of(folder):
    folder.write("cut.df", """import arrays;
app (void v) sh(string s) { "sh" "-c" s }
@param string how = "true";
float A[:] = read_npy(input("a.npy"));
first = A[0];
wait (first) {
  void done = sh(how);
  wait (done) { trace(sum(A)); }
}
""")
    write_zeros(folder.path / "a.npy", "(1000000,)", "<f8", 8000000)
    folder.run("run cut.df", out="trace: 0.0\n", err="")
    expect(folder.run("run cut.df --how='mv a.npy b.npy; echo > a.npy'", out="trace: 0.0\n").stderr, "")
    os.rename(folder.path / "b.npy", folder.path / "a.npy")
    folder.run("run cut.df --how='touch -d 1980-01-01 a.npy'", out="trace: 0.0\n",
               err="raddle: warning: `a.npy` was written to while its numbers were in use: some may be the old ones, some the new ones\n")
    done = folder.run("run cut.df --how='truncate -s 100000 a.npy'", code=1, out="")
    expect(done.stderr, "raddle: `a.npy` was cut short while its numbers were in use: what is read may be replaced, not written to\n")


if __name__ == "__main__":
    main("memory", __doc__, [tiles_go_and_come, what_moves_is_drawn_and_told_by_array, all_fits, an_array_is_longer_than_memory, an_array_is_larger_than_half_of_the_machine, the_process_stays_within_its_limit,
                             too_little_is_an_error, no_folder_no_disk, a_kill_leaves_nothing, settings_and_sweeps, policies_give_equal_results,
                             our_policy_reads_less, without_a_limit_nothing_is_placed, a_call_may_give_a_result_without_all_inputs, policies_have_names,
                             a_numpy_file_is_read_without_a_copy, numpy_files_are_written_and_read_within_a_limit,
                             numpy_files_that_others_write_to_are_told_of])
