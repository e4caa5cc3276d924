#!/usr/bin/env python3
"""What a run may cost beside its work: LLVM is loaded only to compile, who waits uses no processor, operators that wait
for one thing are one strand, runs at once share the cache of machine code, programs that wait take bounded memory, loops
that make large arrays the memory of few of their steps; what is compiled for a processor runs on no other one; products
with the same matrix go over it once; operations on arrays are as few launches as fusion makes of them.

    check_costs.py [--raddle PATH] [FILTER]
"""

import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from folder_tests import ROOT, Folder, expect, expect_in, main, wait_for
from golden import SCHEDULERS

WAITING = '@param int seconds = 60;\napp (void done) wait_here() { "sh" "-c" ("echo > ready; exec sleep " + seconds) }\n'
STEPS = "(int n) steps(int start) { for (n = 0, int x = start; x < 1000; n = n + 1, x = x * 3 - 1) {} }\n"
LEAVES = 12


def loads_compiler(folder, line):
    """Whether the module that links LLVM is in memory when the run waits at its end."""
    (folder.path / "ready").unlink(missing_ok=True)
    process = subprocess.Popen([folder.raddle, *shlex.split(line)], cwd=folder.path, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: (folder.path / "ready").exists(), f"{line} to wait")
        with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
            mapped = maps.read()
        expect_in("/raddle", mapped)
        return "libraddle_codegen" in mapped
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=20)


def llvm_is_loaded_to_compile_only(folder):
    folder.write("cold.df", f"{WAITING}(int y) twice(int x) {{ y = 2 * x; }}\ntrace(twice(21)) => wait_here();\n")
    folder.write("hot.df", f"{WAITING}{STEPS}trace(steps(2)) => wait_here();\n")
    expect(loads_compiler(folder, "run --workers=2 cold.df"), False)
    expect(loads_compiler(folder, "run --workers=2 --no-jit-cache hot.df"), True)
    expect(loads_compiler(folder, "run --workers=2 hot.df"), True)  # fills the cache
    expect_in("leaves taken from the cache 1\n", folder.run("run --stats hot.df --seconds=0").stderr)
    expect(loads_compiler(folder, "run --workers=2 hot.df"), False)
    expect(loads_compiler(folder, "run --workers=2 --interpret --no-jit-cache hot.df"), False)


def who_waits_uses_no_processor(folder):
    """For a program, a timer, a server; what is used is for start and end."""
    folder.write("program.df", 'app (void done) nap() { "sleep" "1" }\nnap();\n')
    folder.write("timer.df", "import sys;\nsleep(1.0);\n")
    for script in ("program.df", "timer.df"):
        for scheduler in SCHEDULERS:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            begun = time.monotonic()
            folder.run(f"run --workers=8 --scheduler={scheduler} {script}", out="")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
            expect((time.monotonic() - begun >= 1.0, used < 0.1, round(used, 3)), (True, True, round(used, 3)))


def counters(folder, line):
    told = folder.run(line).stderr
    return Counter({name: int(value) for name, _, value in (text.rpartition(" ") for text in told.splitlines())})


def operators_are_one_strand(folder):
    """Ten times as many that wait for one input: not a task, strand or frame more, in whatever order they stand."""
    def script(count, order):
        lines = [f"int v{i} = v{i - 1} * 3 - {i};" for i in range(1, count + 1)]
        return ("import io;\nimport sys;\n(int n) late() { sleep(0.01) => n = 7; }\n"
                f"(int r) f(int v0) {{ int {', '.join(f'w{i}' for i in range(1, count + 1))}; "
                + " ".join(line.replace("int v", "w").replace(" v", " w").replace("w0", "v0") for line in lines[::order])
                + f' printf("once") => r = w{count}; }}\nprintf("%i", f(late()));\n')

    found = []
    for count in (1, 10):
        for order in (1, -1):
            folder.write("operators.df", script(count, order))
            for options in ("-O0 --workers=1", "-O2 --workers=1"):
                told = counters(folder, f"run --stats --interpret {options} operators.df")
                found.append((told["tasks"], told["strands armed"], told["frames"]))
    expect(found, found[:1] * len(found))


def runs_share_the_cache(folder):
    """Several at once that compile the same leaves, in one of two rounds one of them is killed: all have the right
    result, the next one finds everything, and nothing half-written is left of those that came to their end."""
    leaves = "".join(f"(int n) steps_{i}(int start) {{ for (n = {i}, int x = start; x < 1000; n = n + 1, x = x * 3 - {i}) {{}} }}\n"
                     for i in range(LEAVES))
    folder.write("many.df", "import io;\n" + leaves + "".join(f'printf("%i", steps_{i}(100));\n' for i in range(LEAVES)))
    expected = sorted(folder.run("run --interpret many.df").stdout.split())
    for number in range(6):
        cache = folder.path / f"cache_{number}"
        environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
        runs = [subprocess.Popen([folder.raddle, "run", "--workers=2", "many.df"], cwd=folder.path, env=environment, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
        if number % 2 == 1:
            jit = cache / "raddle" / "jit"
            wait_for(lambda: runs[0].poll() is not None or (jit.exists() and any(jit.iterdir())), "a first leaf")
            runs[0].kill()
            runs.pop(0).communicate(timeout=60)
        for run in runs:
            out, err = run.communicate(timeout=60)
            expect((run.returncode, sorted(out.split()), err), (0, expected, ""))
        last = folder.run("run --stats many.df", env={"XDG_CACHE_HOME": str(cache)})
        expect(sorted(last.stdout.split()), expected)
        expect_in(f"\nleaves taken from the cache {LEAVES}\n", last.stderr)
        expect("leaves compiled" in last.stderr, False)
        left = [path.name for path in (cache / "raddle" / "jit").iterdir() if path.suffix != ".leaf"]
        expect(left if number % 2 == 0 else [], [])


def what_starts_programs_is_bounded(folder):
    """Loops and recursion go on when enough programs have ended: some thousand that wait take 1 KiB each, with the rest."""
    folder.write("loop.df", 'app (void done) nothing() { "/bin/true" }\nforeach i in [1:6000] { nothing(); }\n')
    folder.write("recursion.df", 'app (void done) nothing() { "/bin/true" }\n'
                 "(void o) down(int n) { if (n > 0) { nothing(); o = down(n - 1); } else { o = make_void(); } }\ndown(6000);\n")
    for script in ("loop.df", "recursion.df"):
        told = counters(folder, f"run --stats --no-record {script}")
        expect((told["programs started"], told["bytes for frames and tasks, at most"] < 3 << 20), (6000, True))


LARGE_STEPS = """import arrays;
@param int steps = 24;
x = sqrt(1.0 + random(100000));
float total;
for (total = 0.0, int t = 0; t < steps; t = t + 1, total = total + d[t]) {
  a = x * itof(t + 1);
  b = a[1:99999] + sqrt(a[0:99998]);
  c = b[1:99998] * sqrt(b[0:99997]);
  d = c[1:99997] - sqrt(c[0:99996]) + sum(a[0:10]);
}
"""


def large_steps_are_made_in_order(folder):
    """Launches that wait for one input all begin when it comes. One worker has the arrays of one or two steps in memory, not
    those of all that a window lets wait. (How many several workers have, the system's threads decide.)"""
    folder.write("steps.df", LARGE_STEPS)
    for steps in (24, 48):
        told = counters(folder, f"run --stats --workers=1 steps.df --steps={steps}")
        expect(told["memory for large arrays, made"] <= 8, True)


def joined_products(text):
    """In which functions of the script such a pair is called, in the IR."""
    functions = re.finditer(r"^function @(\S+) .*?^}", text, re.MULTILINE | re.DOTALL)
    return {function[1].split(".")[0] for function in functions if re.search(r"= call @\S+\.joined\.", function[0])}


def products_of_a_step_are_joined(folder):
    """The pass knows functions of arrays.df by their shape: this says when that has changed."""
    script = Path(__file__).resolve().parents[1] / "golden" / "language" / "dense" / "joined_products.df"
    expect(joined_products(folder.run(f"run --emit=opt {script}").stdout), {"gradient", "by_steps"})
    expect(joined_products(folder.run(f"run --emit=opt --disable-pass=join-products {script}").stdout), set())


def code_of_other_processors_stays_apart(folder):
    """What is compiled for one processor has no function that the linker could take for another one, which could not run it."""
    objects = list(Path(folder.raddle).resolve().parent.glob("vm/CMakeFiles/*_of_processor_*.dir/**/*.o"))
    expect(len(objects) >= 3, True)
    for path in objects:
        processor = path.parts[-3].removesuffix(".dir").rsplit("_", 1)[1]
        symbols = subprocess.run(["nm", "--demangle", path], capture_output=True, text=True, check=True).stdout.splitlines()
        kinds = [(line.split()[-2], line) for line in symbols if len(line.split()) > 2]
        shared = [line for kind, line in kinds if kind in "WV" and f"::{processor}::" not in line]
        expect((path.name, shared), (path.name, []))


def launches_are_counted(folder):
    """Four operations that are one launch, one behind a sum, one that reads other points, two with others."""
    folder.write("launches.df", "import arrays;\nimport stats;\nimport io;\n@param int n = 100;\n@param int m = 50;\n"
                 "float a[n], b[m], c[n];\nforeach i in [0 : n - 1] { a[i] = itof(i); }\n"
                 "float d[:] = a * 2.0;\nfloat e[:] = d + 1.0;\nfloat f[:] = sqrt(e);\nfloat g[:] = f / sum(f);\n"
                 "foreach i in [0 : n - 1] { c[i] = g[n - 1 - i] - g[i]; }\n"
                 "foreach i in [0 : m - 1] { b[i] = itof(i); }\nfloat h[:] = b * b;\n"
                 'printf("%.6f %.6f", sum(c), sum(h));\n')
    names = ("", ", loops in them", ", fused", ", loops in fused ones", ", loops in the shortest fused one",
             ", loops in the longest fused one", ", behind communication", ", behind another space", ", behind other points")
    fused = (4, 8, 2, 6, 2, 4, 1, 1, 1)
    for fusion, expected in (("off", (8, 8) + 7 * (0,)), ("tasks", fused), ("kernels", fused)):
        told = counters(folder, f"run --stats --fuse={fusion} launches.df")
        expect((fusion, *(told[f"launches{name}"] for name in names)), (fusion, *expected))
        expect((told["launches, behind an order"], told["launches, behind a limit"]), (0, 0))


def the_bench_of_fusion_runs(folder):
    """Tables I to III: counts are the same each time, and results in each mode (27 arrays that a nest writes among them)."""
    launches = {"stencil27": (34, 7, 82, "28 / 28.0 / 28", 98), "mandelbrot": (10, 1, 100, "10 / 10.0 / 10", 100),
                "logistic_regression": (9, 4, 78, "2 / 3.5 / 5", 75), "jacobi": (3, 2, 67, "2 / 2.0 / 2", 63)}
    barriers = {"stencil27": "0 6", "mandelbrot": "0 0", "logistic_regression": "2 0", "jacobi": "1 0"}
    done = subprocess.run([sys.executable, str(ROOT / "tests/bench/fusion.py"), "--small", *launches],
                          stdout=subprocess.PIPE, text=True, timeout=120, check=True)
    times, *counted = ([" ".join(line.split()) for line in table.splitlines()] for table in done.stdout.split("\n\n"))
    expect([line.split()[0] for line in times], ["I", *launches])
    lines = ["II mode launches fused, % least, mean, greatest the paper, %"]
    for name, (alone, together, share, lengths, paper) in launches.items():
        lines += [f"{name} off {alone} 0 0 / 0.0 / 0", f"{name} tasks {together} {share} {lengths} {paper}",
                  f"{name} kernels {together} {share} {lengths}"]
    expect(counted, [lines, ["III mode communication space points order limit",
                             *(f"{name} {mode} {found} 0 0 0" for name, found in barriers.items() for mode in ("tasks", "kernels"))]])


if __name__ == "__main__":
    main("costs", "What a run costs beside its work.",
         [llvm_is_loaded_to_compile_only, who_waits_uses_no_processor, operators_are_one_strand, runs_share_the_cache,
          what_starts_programs_is_bounded, large_steps_are_made_in_order, code_of_other_processors_stays_apart, products_of_a_step_are_joined,
          launches_are_counted, the_bench_of_fusion_runs], Folder)
