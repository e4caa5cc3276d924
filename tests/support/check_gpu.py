#!/usr/bin/env python3
"""What `--gpus` does, without a GPU: with a simulated one, with none, with a driver that has no GPU behind it
(tests/unit/gpu/fake_driver.cpp). Each test has a folder of its own.

    check_gpu.py [--raddle PATH] [FILTER]
"""

import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import unittest.mock

from folder_tests import ROOT, expect, expect_in, main, wait_for

sys.path.insert(0, str(ROOT / "tests" / "gpu"))
from check_steps import FAILS, FAILS_IN_NEST, golden  # noqa: E402  pylint: disable=wrong-import-position

FAKE = {"LD_LIBRARY_PATH": str(ROOT / "build" / "tests" / "fake_cuda")}

LOOPS = """import io;
import math;
import stats;
(int n) fib(int k) { if (k < 2) { n = k; } else { n = fib(k - 1) + fib(k - 2); } }
float a[];
foreach i in [0:9999] { a[i] = sqrt(itof(i)); }
float b[];
foreach i in [0:999] { b[i] = a[(i * 7) %% 10000] + exp(itof(i) * 0.001); }
int c[];
foreach i in [0:19] { c[i] = fib(i); }
foreach i in [0:2] { printf("%i", i); }
float d[];
foreach i in [1:9000] { d[i - 1] = a[i] * 0.5 + a[i - 1]; }
float e[];
foreach i in [0:99] { e[i * 2] = a[i]; }
printf("%.17g %.17g %i %.17g %.17g", sum_float(a), avg(b), sum_integer(c), avg(d), sum_float(e));
"""

# loops around loops: whole rows; rows with gaps between them; columns that are read as rows; rows that nobody can write in order
NESTS = """import arrays;
import io;
@param int n = 4;
@param int m = 4;
float a[n, m];
foreach i in [0:n-1], j in [0:m-1] { a[i, j] = exp(itof(i) * 0.01) * itof(j + 1); }
(float b[n, m]) smooth(float a[n, m]) {
  foreach i in [1:n-2], j in [1:m-2] { b[i, j] = 0.25 * (a[i-1, j] + a[i+1, j] + a[i, j-1] + a[i, j+1]); }
  foreach i in [0:n-1] { b[i, 0] = 0.5; b[i, m-1] = 1.5; }
  foreach j in [1:m-2] { b[0, j] = 2.5; b[n-1, j] = 3.5; }
}
float b[:, :] = smooth(a);
boolean c[m, n];
foreach j in [0:m-1], i in [0:n-1] { c[j, i] = a[n-1-i, j] > b[i, j]; }
int d[n, m];
foreach i in [0:n-1], j in [0:m-1] { d[(i * 3) %% n, j] = i * m + j; }
float e[4, 40000];
foreach i in [0:3], j in [0:39999] { e[i, j] = itof(i * j) * 0.5; }
printf("%.17g %.17g %i %i %.17g", sum(a), sum(b), count(c[:, n - 1]), sum(d), sum(e));
printf("%s", a[n-1, :]);
printf("%s", b[:, m-2]);
"""

APP_KERNELS = """#include "raddle_kernel.h"
RADDLE_KERNEL int scale(raddle::Warp warp, raddle::In<double, 1> x, int64_t by, const char* word, raddle::Out<double, 1> y, double& total) {
  if (by == 13) return 7;
  warp.for_each(x.size(), [&](int64_t i) { y[i] = std::exp(0.01 * by * x[i]) + word[1]; });
  total = warp.sum(y.size(), [&](int64_t i) { return y[i]; });
  return 0;
}
"""
CALLS_APP_KERNELS = """import arrays;
import io;
@param int n = 100;
%s @kernel="k.cu" (float y[n], float total) scale(float x[n], int by, string word);
float x[:] = random(50);
float totals[n];
foreach i in [0:n-1] {
  float y[:];
  (y, totals[i]) = scale(x[0 : i %%%% 50 - 1], i, "ab");
  trace(i, sum(y) == sum(y), size(y));
}
printf("%%.17g", sum(totals));
"""

# each loop reads what the one before has computed, the last one three parts that overlap
CHAIN = """import math;
import stats;
float a[];
@cpu foreach i in [0:19999] { a[i] = sqrt(itof(i)); }
(float y[]) next(float x[]) { foreach i in [0:19999] { y[i] = exp(x[i] * -0.5) + 0.1; } }
float b[] = next(next(next(next(next(next(next(next(next(next(a))))))))));
float c[] = next(next(next(next(next(next(next(next(next(next(b))))))))));
float d[];
foreach i in [0:19997] { d[i] = c[i] + 2.0 * c[i + 1] + c[i + 2]; }
trace(sum_float(d));
"""

NEAR = """import math;
import stats;
float a[];
@cpu foreach i in [0:199999] { a[i] = sqrt(itof(i)); }
float b[];
foreach i in [0:199999] { b[i] = exp(a[i] * -0.5) + 0.1; }
float e[];
foreach i in [1:199998] { e[i - 1] = 0.25 * (b[i - 1] + 2.0 * b[i] + b[i + 1]); }
trace(sum_float(b), sum_float(e));
"""

# each point reduces a row: less than a lane, less than a block, blocks that are a power of two and others
REDUCES = """import arrays;
import io;
import math;
import stats;
@param int n = 7;
@param float far = 1.0;
float d[60, n];
foreach i in [0:59], j in [0:n-1] { d[i, j] = sin(itof(i * j + 1)) * exp(itof(j %% 31)) * (1.0 - 2.0 * itof(j %% 2)) * far; }
int k[60, n];
foreach i in [0:59], j in [0:n-1] { k[i, j] = (i * 7919 + j * j * 31) %% 1009 - 500; }
float s[], m[], hi[], lo[], sd[], km[];
int ks[], kh[], kl[];
foreach i in [0:59] { float x = sum(d[i %% 50, :]); s[i] = x + 1.0; }
foreach i in [0:59] { float x = mean(d[i %% 50, :]); m[i] = x + 1.0; }
foreach i in [0:59] { float x = max(d[i %% 50, :]); hi[i] = x * 2.0; }
foreach i in [0:59] { float x = min(d[i %% 50, :]); lo[i] = x * 2.0; }
foreach i in [0:59] { int x = sum(k[i %% 50, :]); ks[i] = x + 1; }
foreach i in [0:59] { float x = mean(k[i %% 50, :]); km[i] = x * 2.0; }
foreach i in [0:59] { int x = max(k[i %% 50, :]); kh[i] = x + 1; }
foreach i in [0:59] { int x = min(k[i %% 50, :]); kl[i] = x + 1; }
foreach i in [0:59] { float x = std(d[i %% 50, :]); sd[i] = x + 1.0; }
foreach i in [0:59] { printf("%i %.17g %.17g %.17g %.17g %.17g %i %.17g %i %i", i, s[i], m[i], hi[i], lo[i], sd[i], ks[i], km[i], kh[i], kl[i]); }
"""

# rows that do not follow each other, and twice the same ones
TWICE = """import arrays;
float a[6, 40];
foreach i in [0:4:2], j in [0:39] { a[i, j] = 1.0; }
foreach i in [0:4:2], j in [0:39] { a[i, j] = 2.0; }
foreach i in [1:5:2], j in [0:39] { a[i, j] = 3.0; }
trace(sum(a));
"""


def devices_in(stderr):
    """(points on the first device, {line of a loop: why it did not go})."""
    points = re.search(r"^points on device 0, simulated (\d+) in \d+ batches$", stderr, re.MULTILINE)
    stays = re.findall(r"^not on devices as a whole, loop at ((?:\S+:\d+:\d+(?:, |(?=:)))+): (.*)$", stderr, re.MULTILINE)
    return int(points[1]) if points else 0, {int(line): why for places, why in stays for line in re.findall(r":(\d+):\d+", places)}


def devices_in_all_modes(folder, command):
    """What devices_in() finds in each mode in which loops are launches. In all of them the output is that without devices."""
    expected = sorted(folder.run(f"run --gpus none {command}").stdout.splitlines())
    for options in ("--workers=1", "--workers=2", "--workers=8", "--workers=2 -O0", "--workers=2 --scheduler-seed=3"):
        done = folder.run(f"run --stats --gpus simulated:whole {options} {command}")
        expect(sorted(done.stdout.splitlines()), expected)
        if "-O0" not in options:
            yield devices_in(done.stderr)


def loops_go_or_it_is_said_why(folder):
    folder.write("loops.df", LOOPS)
    for points, stays in devices_in_all_modes(folder, "loops.df"):
        expect(points, 20000)  # the three loops over floats
        expect(stays[15], "its points write elements that do not follow each other")
        expect(stays[10], "`fib` calls itself")
        expect(stays[11], "`printf` prints (loops.df:11:%d)" % (LOOPS.splitlines()[10].index("printf") + 1))
        expect(sorted(stays), [10, 11, 15])
    expect(devices_in(folder.run("run --stats --gpus none loops.df").stderr), (0, {}))
    expect(set(devices_in(folder.run("run --stats --interpret --gpus simulated:whole loops.df").stderr)[1].values()), {"nothing is compiled"})


def what_is_in_the_way_is_named(folder):
    """Also where the loop is interpreted; each reason once."""
    head = 'import stats;\nimport string;\nimport math;\n@library="libm.so.6" (float y) j0(float x);\n'
    folder.write("c.df", head + "@gpu (float y) f(float x) { y = j0(x) + 1.0; }\nfloat a[];\nforeach i in [0:999] { a[i] = f(itof(i) + 0.5); }\ntrace(size(a));\n")
    done = folder.run("run --stats --gpus simulated:whole c.df")
    expect_in("c.df:7:1: `j0` is a function in C\n", done.stderr)
    expect_in("`@gpu`: `f` stays on the CPU: `j0` is a function in C", done.stderr)
    folder.write("s.df", head + "(int n) g(int i) { string s = fromint(i); n = strlen(s); }\nint a[];\nforeach i in [0:999] { a[i] = g(i); }\ntrace(sum_integer(a));\n")
    expect_in("s.df:7:1: `fromint` works with strings (s.df:5:31)\n", folder.run("run --stats --gpus simulated:whole s.df").stderr)
    folder.write("fib.df", head + "(int n) fib(int k) { if (k < 2) { n = k; } else { n = fib(k - 1) + fib(k - 2); } }\nint a[], b[], c[];\n" +
                 "".join(f"foreach i in [0:19] {{ {name}[i] = fib(i) + {name == 'b':d}; }}\n" for name in "abc") +
                 "trace(sum_integer(a), sum_integer(b), sum_integer(c), fib(25));\n")
    done = folder.run("run --stats --gpus simulated:whole fib.df")
    expect_in("not on devices as a whole, loop at fib.df:7:1, fib.df:8:1, fib.df:9:1: `fib` calls itself\n", done.stderr)
    expect_in("not on devices, single calls of `fib`: `fib` calls itself\n", done.stderr)
    expect("single calls" in folder.run("run --stats --gpus none fib.df").stderr, False)
    # a function that takes long, and is no kernel: said once; one that only has loops of tasks is not named
    folder.write("single.df", head + "(int n) hs(int k) { for (int i=0, n=0; i<k; i=i+1, n=n+strlen(fromint(i))) {} }\n"
                 "(float y) hc(int k) { for (int i=0, y=0.0; i<k; i=i+1, y=y+j0(itof(i))) {} }\n"
                 "(int n) tasks(int k) { int a[]; foreach i in [0:k] { a[i] = strlen(fromint(i)); } n = sum_integer(a); }\n"
                 "trace(hs(5), hs(6), hc(3), hc(4), tasks(3));\n")
    done = folder.run("run --stats --gpus simulated:whole single.df", out="trace: 5,6,1.9890884656992023,1.7290365107972687,4\n")
    said = re.findall(r"^not on devices, single calls of (.*)$", done.stderr, re.MULTILINE)
    expect(sorted(said), ["`hc`: `j0` is a function in C", "`hs`: `fromint` works with strings (single.df:5:63)"])


def what_iterations_do_is_told(folder):
    """As it is written, with its place; loops that have the same reason share a line."""
    folder.write("ops.df", """import arrays; import assert;
bag<int> b, c;
foreach i in [0:9] { b += i; }
foreach i in [0:9] { c += i; }
foreach i in [0:9] { trace(i); }
foreach i in [0:9] { trace(-i); }
string w[] = ["u", "v"];
foreach i in [0:1] { boolean is = w[i] + "v" == "uv"; trace(is); }
foreach i in [2:3] {
  float m[:, :] = [[1.0, itof(i)], [0.0, 1.0]];
  assert(sum(matmul(m, m)) > 0.0, "");
}
trace(bag_size(b), bag_size(c));
""")
    done = folder.run("run --stats --gpus simulated:whole -O1 ops.df")
    expect_in("loop at ops.df:3:1: `b += i` works with bags (ops.df:3:22)\n", done.stderr)
    expect_in("loop at ops.df:4:1: `c += i` works with bags (ops.df:4:22)\n", done.stderr)
    expect_in("loop at ops.df:5:1, ops.df:6:1: `trace` prints (ops.df:5:22, ops.df:6:22)\n", done.stderr)
    expect_in("works with strings (ops.df:8:35)\n", done.stderr)
    expect_in("loop at ops.df:9:1: `matmul(m, m)` works with whole arrays, whose shapes only workers check", done.stderr)


def reasons_are_of_the_script(folder):
    """Of what the compiler and the library have made of it, the place in the script is told."""
    folder.write("dense.df", "import arrays;\nimport io;\n"
                 "(float b[n]) halves(float a[n]) { b = a * 0.5; }\n"
                 "foreach i in [1:3] {\n  float a[:] = linspace(0.0, itof(i), i + 1);\n  printf(\"%s\", repr(halves(a)));\n}\n"
                 "foreach i in [2:3] {\n  float m[:, :] = [[1.0, itof(i)], [0.0, 1.0]];\n  trace(matmul(m, m)[0, 1]);\n}\n")
    done = folder.run("run --stats --gpus simulated:whole dense.df")
    expect_in("not on devices as a whole, loop at dense.df:4:1: ", done.stderr)
    said = 0
    for case in [golden.Case(folder.path / "dense.df"), *golden.find_cases(["examples/"])]:
        _, _, stderr = golden.run_once(folder.raddle, case, [*case.options, "--stats", "--gpus=simulated:whole"])
        reasons = [line for line in re.findall(r"^(?:not on devices|loop at).*$", stderr, re.MULTILINE) if not line.endswith("`@cpu` says so")]
        expect((case.script.name, [line for line in reasons if "`@" in line or "<stdlib>" in line or "_`" in line]), (case.script.name, []))
        said += len(reasons)
    expect(said > 20, True)


def loops_around_loops_go(folder):
    """Whole arrays, rows with gaps between them, reads that do not follow each other."""
    folder.write("nests.df", NESTS)
    for n, m in ((70, 90), (4, 4), (4, 4000), (500, 4)):
        for points, stays in devices_in_all_modes(folder, f"nests.df --n={n} --m={m}"):
            # a, b, c, e, what is printed of them, and what `count` adds up
            expect((points, sorted(stays)), (2 * n * m + (n - 2) * (m - 2) + 160_000 + n + 3 * m, [9, 10, 16]))


def traffic_in(stderr):
    """Bytes to the first device, from it, there already; evictions."""
    found = re.search(r"^bytes to device 0, simulated (\d+), from it (\d+), there already (\d+), evictions (\d+)$", stderr, re.MULTILINE)
    return tuple(int(number) for number in found.groups())


def mostly(happens):
    """In two of three runs at least: a loop may begin before what it reads is there, and then some of its points are the workers'."""
    return sum(happens() for _ in range(3)) >= 2


def arrays_stay_on_the_device(folder):
    """What one loop has computed the next one reads there, whole or in part; the first array is copied once."""
    folder.write("chain.df", CHAIN)
    expected = folder.run("run --gpus none chain.df").stdout
    for workers in (1, 2, 8):
        def stays():
            traffic = traffic_in(folder.run(f"run --stats --gpus simulated:whole --workers={workers} chain.df", out=expected).stderr)
            return traffic[0::3] == (8 * 20000, 0) and traffic[1] >= 8 * (20000 * 20 + 19998)
        expect(mostly(stays), True)


SPACE = """import arrays;
@param int n = 12;
@param int m = 10;
@param int l = 8;
float a[n, m, l];
foreach i in [0 : n - 1], j in [0 : m - 1], k in [0 : l - 1] { a[i, j, k] = 1.0 / (1 + i + 2 * j + 3 * k); }
float b[n, m, l];
b[0, :, :] = a[0, :, :];
b[n - 1, :, :] = a[n - 1, :, :];
b[1 : n - 2, 0, :] = a[1 : n - 2, 0, :];
b[1 : n - 2, m - 1, :] = a[1 : n - 2, m - 1, :];
b[1 : n - 2, 1 : m - 2, 0] = a[1 : n - 2, 1 : m - 2, 0];
b[1 : n - 2, 1 : m - 2, l - 1] = a[1 : n - 2, 1 : m - 2, l - 1];
foreach i in [1 : n - 2], j in [1 : m - 2], k in [1 : l - 2] { b[i, j, k] = a[i - 1, j, k] + a[i + 1, j, k] + a[i, j, k - 1]; }
float c[n, m, 2, l];
foreach i in [0 : n - 1], j in [0 : m - 1], p in [0:1], k in [0 : l - 1] { c[i, j, p, k] = a[i, j, k] * (p + 1); }
float d[m, n, l];
foreach i in [0 : n - 1], j in [0 : m - 1], k in [0 : l - 1] { d[j, i, k] = 1.0 / (i + j + k - 20); }
printf("%.17g %.17g %.17g %.17g", sum(a), sum(b), sum(c), sum(d));
"""


def a_space_of_more_dimensions_is_one_batch(folder):
    """Rows that follow each other, that have gaps of two kinds, and that are written in another order."""
    folder.write("space.df", SPACE)
    for options in ("", "--n=3 --m=3 --l=3", "--n=4 --m=3 --l=40", "--n=30 --m=4 --l=3"):
        expected = folder.run(f"run --gpus none space.df {options}").stdout
        for which in ("simulated:whole", "simulated:h200x3"):
            for workers in (1, 2, 8):
                done = folder.run(f"run --stats --gpus {which} --workers={workers} space.df {options}", out=expected)
                loops = dict(re.findall(r"^points of the loop at space.df:(\d+):\d+: (\d+) by ", done.stderr, re.MULTILINE))
                n, m, l = map(int, re.findall(r"\d+", options) or (12, 10, 8))
                expect({line: int(loops[line]) for line in ("6", "14", "16", "18")},
                       {"6": n * m * l, "14": (n - 2) * (m - 2) * (l - 2), "16": 2 * n * m * l, "18": n * m * l})
    stderr = folder.run("run --stats --gpus simulated:whole --workers=1 space.df").stderr
    # a loop that is a launch by itself fills a face: six of them, and four of three dimensions or four
    expect(int(re.search(r" in (\d+) batches$", stderr, re.MULTILINE)[1]) <= 10, True)


def models_tell_what_gpus_would_take(folder):
    """Each of them by itself, and the run; never times of devices that are there, nor of those that stand for nothing."""
    folder.write("loops.df", LOOPS)
    expected = sorted(folder.run("run --gpus none loops.df").stdout.splitlines())
    for which, cards in (("simulated:h100", 1), ("simulated:h200x3", 3), ("simulated:h200x2:whole:memory=256K", 2)):
        for workers in (1, 2, 8):
            done = folder.run(f"run --stats --gpus {which} --workers={workers} loops.df")
            expect(sorted(done.stdout.splitlines()), expected)
            told = re.findall(r"^points on device \d, (.*) \(model\) (\d+) in (\d+) batches$", done.stderr, re.MULTILINE)
            expect((which, sum(int(points) for _, points, _ in told), {name for name, _, _ in told}), (which, 20000, {which[10:14].upper()}))
            seconds = re.findall(r"^predicted by a model, device (\d+): copies there ([\d.]+) s, (\d+) launches ([\d.]+) s, copies back ([\d.]+) s$", done.stderr, re.MULTILINE)
            expect([int(row[0]) for row in seconds], list(range(cards)))
            expect(sum(int(row[2]) for row in seconds) >= 3, True)
            run = re.search(r"^predicted by a model, the run: ([\d.]+) s,", done.stderr, re.MULTILINE)
            expect(float(run[1]) > 0.3 + max(sum(float(row[i]) for i in (1, 3, 4)) for row in seconds), True)
    for which in ("none", "simulated", "simulated:whole"):
        expect("predicted" in folder.run(f"run --stats --gpus {which} loops.df").stderr, False)


def data_choose_the_device(folder):
    """Of loops one after the other on several devices, each piece goes where what it reads has been computed."""
    folder.write("chain.df", CHAIN)
    expected = folder.run("run --gpus none chain.df").stdout
    for workers in (1, 2, 8):
        def is_kept():
            stderr = folder.run(f"run --stats --gpus simulated:h200x4 --workers={workers} chain.df", out=expected).stderr
            found = re.findall(r"^bytes to device \d, .* (\d+), from it \d+, there already (\d+), ", stderr, re.MULTILINE)
            copied, kept = (sum(int(row[i]) for row in found) for i in (0, 1))
            return kept > 4 * copied
        expect(mostly(is_kept), True)


SEVERAL_AT_ONCE = """import arrays;
float r[40];
foreach k in [0:39] {
  int n = 20000 + (k * 7919) %% 60000;
  float a[n];
  float b[n];
  foreach i in [0 : n - 1] { a[i] = itof(i + k); }
  foreach i in [0 : n - 1] { b[i] = sqrt(a[i]) + a[n - 1 - i]; }
  r[k] = sum(b);
}
trace(sum(r));
"""


def nobody_waits_for_memory_that_a_driver_is_slow_to_give(folder):
    """Whoever has the memory of a card asks after 100 ms how long the driver may take, while others look which card has what."""
    folder.write("several.df", SEVERAL_AT_ONCE)
    expected = folder.run("run --gpus none several.df").stdout
    slow = {**FAKE, "RADDLE_FAKE_TAKES_PTX": "1", "RADDLE_FAKE_GPUS": "2", "RADDLE_FAKE_SLOW_MEMORY": "1"}
    for _ in range(3):
        folder.run("run --gpus all:whole:memory=1500K --workers=4 several.df", out=expected, env=slow)


def models_make_calls(folder):
    folder.write("k.cu", APP_KERNELS)
    folder.write("a.df", CALLS_APP_KERNELS % "")
    expected = sorted(folder.run("run --gpus none a.df --n=13").stdout.splitlines())
    done = folder.run("run --stats --gpus simulated:h200x2 a.df --n=13")
    expect(sorted(done.stdout.splitlines()), expected)
    expect(sum(int(calls) for calls in re.findall(r"^calls on device \d, H200 \(model\) (\d+)$", done.stderr, re.MULTILINE)), 13)


# all pairs of some arrays of 1 MiB: results are numbers
PAIRS = """import arrays;
import io;
import kernels;
(float x[m]) ramp(int i, int m) { @cpu foreach k in [0 : m - 1] { x[k] = itof((k + i) %% 100); } }
float x[][:];
foreach i in [0:23] { x[i] = ramp(i, 131072); }
float r[24, 24];
wait deep (x) {
  foreach i in [0:23], j in [0:23] { r[i, j] = warp_dot(x[i], x[j]); }
}
printf("%.17g", sum(r));
"""
POLICIES = ("eager", "lws", "dmdar", "dmdas", "dmdas-paper", "darts", "darts-count", "darts-order")


def of_all_models(stderr):
    """Of all devices: calls, bytes copied there, those that were there already, evictions."""
    calls = sum(int(number) for number in re.findall(r"^calls on device \d, H200 \(model\) (\d+)$", stderr, re.MULTILINE))
    found = re.findall(r"^bytes to device \d, H200 \(model\) (\d+), from it \d+, there already (\d+), evictions (\d+)$", stderr, re.MULTILINE)
    return (calls, *(sum(int(row[i]) for row in found) for i in range(3)))


def calls_with_large_arrays_are_placed(folder):
    """Every policy makes each call once, and prints the same; what is read several times stays on the card."""
    folder.write("pairs.df", PAIRS)
    expected = folder.run("run --gpus none pairs.df").stdout
    mib = 1 << 20
    roomy = of_all_models(folder.run("run --stats --gpus simulated:h200 pairs.df", out=expected).stderr)
    expect((roomy[0], 24 * mib <= roomy[1] < 25 * mib, roomy[3]), (576, True, 0))
    for policy in POLICIES:
        for which in ("simulated:h200x2:memory=8M", "simulated:h200x4:memory=8M:link=shared:ahead=0"):
            done = folder.run(f"run -j 8 --stats --gpus {which} --place {policy} pairs.df", out=expected)
            calls, copied, _, evictions = of_all_models(done.stderr)
            expect((policy, which, calls, copied >= 24 * mib, evictions > 0), (policy, which, 576, True, True))
            ahead = [int(number) for number in re.findall(r"^bytes to device \d, H200 \(model\), ahead of the calls that read them (\d+)$", done.stderr, re.MULTILINE)]
            expect((policy, which, "ahead=0" in which, sum(ahead) <= copied), (policy, which, not ahead, True))
        folder.run(f"run --gpus simulated:whole:memory=8M --place {policy} pairs.df", out=expected)
    # most calls are known at once: then it loads less to choose data first
    def is_less():
        loads = [of_all_models(folder.run(f"run -j 8 --stats --gpus simulated:h200x2:memory=8M --place {policy} pairs.df").stderr)[1]
                 for policy in ("darts-order", "eager")]
        return loads[0] * 3 < loads[1] * 2
    expect(mostly(is_less), True)


SLICES = """import arrays;
import io;
import kernels;
float x[8, 131072];
@cpu foreach i in [0:7], k in [0:131071] { x[i, k] = itof((k * (i + 1)) %% 100); }
float r[8, 8], s[8];
wait (sum(x)) {
  foreach i in [0:7], j in [0:7] { r[i, j] = warp_dot(x[i, :], x[j, :]); }
  foreach i in [0:7] { s[i] = warp_dot(x[i, 1:], x[i, 0:131070]); }
}
// what begins as a part of another array, or is one in another case only
(float v[131072]) begin_of(int i, float x[n, m]) { foreach k in [0:65535] { v[k] = x[i, k]; } foreach k in [65536:131071] { v[k] = 1.0; } }
(float r) of_part(int i, float x[n, m]) {
  float v[131072];
  if (i %% 2 == 0) { foreach k in [0:131071] { v[k] = x[i, k]; } } else { foreach k in [0:131071] { v[k] = 2.0 * x[i, k]; } }
  r = warp_dot(v, v);
}
float t[8], u[8];
wait (sum(x)) {
  foreach i in [0:7] { float b[:] = begin_of(i, x); t[i] = warp_dot(b, b); u[i] = of_part(i, x); }
}
printf("%.17g %.17g %.17g %.17g %.17g", sum(r), r[3, 5], sum(s), sum(t), sum(u));
"""


def slices_are_parts_of_their_arrays(folder):
    """Each row is loaded once by a card that has room for all: calls that read the same slice share it."""
    folder.write("slices.df", SLICES)
    expected = folder.run("run --gpus none slices.df").stdout
    mib = 1 << 20
    for which, most in (("simulated:h200", 1), ("simulated:h200x2", 2), ("simulated:h200x2:peers=nvlink", 2)):
        done = folder.run(f"run -j 2 --stats --gpus {which} slices.df", out=expected)
        loaded = int(re.search(r"^array `x` at slices.df:4:7, on devices: \d+ loads of (\d+) bytes,", done.stderr, re.MULTILINE)[1])
        expect((which, 8 * mib <= loaded <= 8 * most * mib), (which, True))
    for which in ("simulated:whole", "simulated:h200x2:memory=4M"):
        folder.run(f"run -j 2 --gpus {which} slices.df", out=expected)


def copies_take_turns_on_one_bus(folder):
    """What four cards copy there takes the run as long as all of it takes."""
    folder.write("pairs.df", PAIRS)
    stderr = folder.run("run -j 8 --stats --gpus simulated:h200x4:memory=8M:link=shared --place eager pairs.df").stderr
    copies = sum(float(seconds) for seconds in re.findall(r"^predicted by a model, device \d: copies there ([\d.]+) s", stderr, re.MULTILINE))
    run = re.search(r"^predicted by a model, the run: ([\d.]+) s,", stderr, re.MULTILINE)
    expect(float(run[1]) > 0.3 + copies, True)
    for which, why in (("simulated:link=shared", "links are of a model's cards, as in `simulated:h200x4:link=shared`"),
                       ("simulated:ahead=2", "how many calls ahead arrays are copied is a model's, as in `simulated:h200:ahead=4`"),
                       ("all:ahead=2", "how many calls ahead arrays are copied is a model's, as in `simulated:h200:ahead=4`"),
                       ("simulated:h200:ahead=x", "ahead is a number of calls, 64 at most, as in `ahead=4`"),
                       ("simulated:h200x4:link=fast", "link is `shared`, one bus for the copies of all cards, or `own`, one for each"),
                       ("all:link=shared", "links are what they are; those of a model stand behind `simulated:h200x4`, say")):
        expect_in(f"`{which}`: {why}\n", folder.run(f"run --gpus {which} pairs.df", code=2).stderr)


def models_copy_from_each_other(folder):
    """Every policy prints the same, and much of what several cards read comes from one of them; results, too."""
    folder.write("pairs.df", PAIRS)
    expected = folder.run("run --gpus none pairs.df").stdout
    for policy in POLICIES:
        done = folder.run(f"run -j 8 --stats --gpus simulated:h200x4:memory=8M:link=shared:peers=nvlink --place {policy} pairs.df", out=expected)
        between = sum(int(number) for number in re.findall(r"^bytes to device \d, H200 \(model\), from other devices (\d+)$", done.stderr, re.MULTILINE))
        calls, copied, _, _ = of_all_models(done.stderr)
        expect((policy, calls, copied >= 24 << 20, between > 24 << 20), (policy, 576, True, True))
        expect(len(re.findall(r"^predicted by a model, device \d: copies there [\d.]+ s, from other devices [\d.]+ s, \d+ launches ", done.stderr, re.MULTILINE)) > 1, True)
    folder.write("chain.df", CHAIN)
    expected = folder.run("run --gpus none chain.df").stdout
    folder.run("run --gpus simulated:h200x4:peers=nvlink chain.df", out=expected)
    for which, why in (("simulated:peers=nvlink", "links are of a model's cards, as in `simulated:h200x4:link=shared`"),
                       ("simulated:h200x4:peers=fast", "peers is `nvlink`, cards copy from each other by links of that kind, or `none`"),
                       ("all:peers=nvlink", "links are what they are; those of a model stand behind `simulated:h200x4`, say")):
        expect_in(f"`{which}`: {why}\n", folder.run(f"run --gpus {which} pairs.df", code=2).stderr)


def devices_have_lanes_in_traces(folder):
    """What a model stands for is called so. Loops and calls; each has a slice for each batch or bundle."""
    folder.write("chain.df", CHAIN)
    folder.write("k.cu", APP_KERNELS)
    folder.write("a.df", CALLS_APP_KERNELS % "")
    for which, name in (("simulated:whole", "simulated"), ("simulated:h200", "H200 (model)")):
        for script, at, computed in (("chain.df", "chain.df:", 20 * 20000 + 19998), ("a.df --n=13", "a.df:4:43", 13)):
            folder.run(f"run --trace=t.json --gpus {which} --workers=2 {script}")
            events = json.loads(folder.read("t.json"))["traceEvents"]
            lanes = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
            slices = [event for event in events if event.get("cat") == "device"]
            expect({re.sub(r", \d+$", "", lanes[event["tid"]]) for event in slices}, {f"device 0, {name}"})
            found = sum(int(event["args"]["computed"]) for event in slices if event["args"]["at"].startswith(at))
            expect((which, script, found), (which, script, computed))
            expect(all(event["ts"] >= 0 and event["dur"] > 0 for event in slices), True)
            expect(all(event["name"].endswith(" at " + event["args"]["at"]) for event in slices), True)
    folder.run("run --trace=t.json --gpus none chain.df")
    expect("device" in folder.read("t.json"), False)


def statistics_tell_what_ran_where(folder):
    """A line for each loop and function of the script, with the counts of all devices."""
    folder.write("chain.df", CHAIN)
    folder.write("k.cu", APP_KERNELS)
    folder.write("a.df", CALLS_APP_KERNELS % "")
    for which in ("simulated:whole", "simulated:h200x2"):
        for script, expected in (("chain.df", {"points of the loop at chain.df:5:31": 20 * 20000, "points of the loop at chain.df:9:1": 19998}),
                                 ("a.df --n=13", {"points of the loop at a.df:5:14": 50, "points of the loop at a.df:4:55": sum(range(13)),  # random(50); copies of x
                                                  "calls of `scale`": 13})):
            stderr = folder.run(f"run --gpus {which} --stats --workers=1 {script}").stderr
            lines = re.findall(r"^((?:points of the loop at|calls of `).*): (.* by device \d.*)$", stderr, re.MULTILINE)
            expect({what: sum(int(count) for count in re.findall(r"(\d+) by device \d", counts)) for what, counts in lines}, expected)


def loaded_by(folder, words, env):
    """({process: files that its dynamic linker has opened}, standard output)."""
    for path in folder.path.glob("linked.*"):
        path.unlink()
    done = folder.run(words, env={**env, "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(folder.path / "linked")})
    return {path.suffix: set(re.findall(r"file=(\S+)", path.read_text())) for path in folder.path.glob("linked.*")}, done.stdout


def what_needs_no_gpu_loads_nothing_of_it(folder):
    """Neither the driver's library nor a process for it, also where there is one."""
    folder.write("empty.df", "")
    folder.write("short.df", "import stats;\nint a[];\nforeach i in [0:999] { a[i] = i * i; }\ntrace(sum_integer(a));\n")
    for env in ({}, FAKE):
        for words, out in (("run empty.df", ""), ("run short.df", "trace: 332833500\n"), ("run --gpus none short.df", "trace: 332833500\n")):
            files, printed = loaded_by(folder, words, env)
            expect((words, printed, len(files)), (words, out, 1))
            expect((words, [file for file in set.union(*files.values()) if "cuda" in file]), (words, []))
    files, _ = loaded_by(folder, "run --gpus 1:whole short.df", {**FAKE, "RADDLE_FAKE_TAKES_PTX": "1"})
    expect((len(files) > 1, any("libcuda.so.1" in file for file in set.union(*files.values()))), (True, True))


def copies_have_lanes_and_are_told_by_array(folder):
    """As many bytes in lanes of links as --stats counts; of arrays as many, but for words of calls and what is small."""
    folder.write("pairs.df", PAIRS)
    done = folder.run("run -j 8 --stats --trace=t.json --gpus simulated:h200x2:memory=8M:peers=nvlink pairs.df")
    events = json.loads(folder.read("t.json"))["traceEvents"]
    lanes = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    copied = {}
    for event in events:
        if event.get("cat") == "link":
            lane = re.sub(r", \d+$", "", lanes[event["tid"]])
            copied[lane] = copied.get(lane, 0) + event["args"]["bytes"]
    for device in (0, 1):
        name = f"device {device}, H200 (model)"
        up, down = re.search(rf"^bytes to device {device}, H200 \(model\) (\d+), from it (\d+),", done.stderr, re.MULTILINE).groups()
        between = re.search(rf"^bytes to device {device}, H200 \(model\), from other devices (\d+)$", done.stderr, re.MULTILINE)[1]
        expect({lane: copied[f"{name}, {lane}"] for lane in ("from the host", "to the host", "from other devices")},
               {"from the host": int(up), "to the host": int(down), "from other devices": int(between)})
        most = int(re.search(rf"^bytes on device {device}, H200 \(model\), at most (\d+)$", done.stderr, re.MULTILINE)[1])
        held = [event["args"] for event in events if event["name"] == f"bytes of {name}"]
        expect((max(each["taken"] for each in held), {each["taken"] + each["free"] for each in held}), (most, {8 << 20}))
    found = re.findall(r"^array `(\w+)` at \S+, on devices: (\d+) loads of (\d+) bytes, 0 write-backs of 0 bytes, (\d+) evictions$", done.stderr, re.MULTILINE)
    _, to_devices, _, evictions = of_all_models(done.stderr)
    between = sum(copied[lane] for lane in copied if lane.endswith("from other devices"))
    expect((0 < to_devices + between - sum(int(each[2]) for each in found) < 1 << 20, sum(int(each[3]) for each in found)), (True, evictions))
    expect(all(int(each[1]) << 20 <= int(each[2]) for each in found), True)
    folder.write("loops.df", NEAR)
    expect_in("array `b` at loops.df:5:7, on devices: ", folder.run("run --stats --gpus simulated:whole loops.df").stderr)


def recorded_runs_have_lanes_of_devices(folder):
    """Those of scripts that call what is recorded, and of sweeps. What only computes leaves no record."""
    folder.write("chain.df", CHAIN)
    folder.run("run --gpus simulated:whole chain.df")
    expect((folder.path / ".raddle").exists(), False)
    folder.write("model.df", "import stats;\n@param int n = 1000;\n@memo (int m) twice(int k) { m = 2 * k; }\nfloat a[];\n"
                             "foreach i in [0:n-1] { a[i] = itof(i) * 0.5; }\n@result float y = sum_float(a) + itof(twice(n));\n"
                             "trace(y);\n")
    for which, name in (("simulated:whole", "simulated"), ("simulated:h200x2", "H200 (model)")):
        for words, computed, others in ((f"run --gpus {which} model.df", 1000, {"lane 1"}),
                                        (f"sweep --gpus {which} --no-cache model.df -p n=500,2000", 2500, {"lane 1"})):
            folder.run(words)
            events = json.loads(folder.run("trace last").stdout)["traceEvents"]
            lanes = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
            slices = [event for event in events if event.get("cat") == "device"]
            expect({re.sub(r"^device \d, |, \d+$", "", lanes[event["tid"]]) for event in slices}, {name})
            expect((words, sum(event["args"]["computed"] for event in slices)), (words, computed))
            expect({event["args"]["at"] for event in slices}, {"model.df:5:1"})
            expect(others <= set(lanes.values()), True)
    folder.run("run --gpus none model.df")
    expect("device" in folder.run("trace last").stdout, False)
    joined = json.loads(folder.run("trace --limit 1 " + json.loads(folder.run("runs list --json").stdout)["runs"][1]["id"]).stdout)["traceEvents"]
    expect(len([event for event in joined if event.get("cat") == "device"]) <= 2, True)


def examples_have_lanes_of_devices(folder):
    """On each way they print the same, and what workers and devices have done is in the trace."""
    for example, arguments in (("option_book", "--options=20000"), ("replica_exchange", "--rounds=3 --steps=20")):
        script = f"{ROOT}/examples/{example}.df {arguments}"
        expected = sorted(folder.run(f"run --gpus none {script}").stdout.splitlines())
        for which, name in (("simulated:whole", "simulated"), ("simulated:h200x2", "H200 (model)")):
            done = folder.run(f"run --trace=t.json --gpus {which} {script}")
            expect(sorted(done.stdout.splitlines()), expected)
            events = json.loads(folder.read("t.json"))["traceEvents"]
            lanes = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
            used = {lanes[event["tid"]] for event in events if event.get("cat") == "device"}
            expect((example, which, [lane for lane in used if name not in lane], used != set()), (example, which, [], True))
            expect((example, which, "worker 1" in lanes.values()), (example, which, True))


def points_that_reduce_go(folder):
    """With the bits that workers have; what needs more than a sum of floats of usual size workers compute."""
    folder.write("reduces.df", REDUCES)
    for n, far in ((1, 1.0), (7, 1.0), (8, 1.0), (9, 1e30), (256, 1.0), (257, 1.0), (513, 1e-300), (1800, 1.0), (300, 1e200), (12, 1e308)):
        for options in ("--workers=1", "--workers=2 --scheduler-seed=3", "--workers=8"):
            arguments = f"{options} reduces.df --n={n} --far={far}"
            expected = sorted(folder.run(f"run --gpus none {arguments}").stdout.splitlines())
            done = folder.run(f"run --stats --gpus simulated:whole {arguments}")
            expect((arguments, sorted(done.stdout.splitlines())), (arguments, expected))
            points, stays = devices_in(done.stderr)
            expect([why for line, why in stays.items() if line in range(13, 22)], ["its points compute the deviation of many numbers each"])
            if far == 1.0:  # eight loops of 60 points; rows of both arrays, and launches of the deviation, unless workers are faster than the first code
                expect((arguments, 8 * 60 <= points <= 8 * 60 + 2 * 60 * n + 60 * n), (arguments, True))


def a_small_device_computes_what_it_has_room_for(folder):
    """It forgets what it has had, and computes halves; what it has no room for at all workers compute, and that is said once."""
    folder.write("chain.df", CHAIN)
    folder.write("loops.df", LOOPS)
    folder.write("nests.df", NESTS)
    for script, evicts in (("chain.df", True), ("loops.df", False), ("nests.df --n=70 --m=90", True), ("nests.df --n=500 --m=4", True)):
        expected = sorted(folder.run(f"run --gpus none {script}").stdout.splitlines())
        for memory in ("64K", "256K", "2M"):
            for workers in (1, 2, 8):
                done = folder.run(f"run --stats --gpus simulated:whole:memory={memory} --workers={workers} {script}")
                expect(sorted(done.stdout.splitlines()), expected)
                expect((script, memory, devices_in(done.stderr)[0] > 0), (script, memory, True))
                expect((script, memory, not evicts or memory != "256K" or traffic_in(done.stderr)[3] > 0), (script, memory, True))
                expect(done.stderr.count("has no room") <= 1, True)
    # points read near their own index: of arrays that are larger than the card it gets parts
    folder.write("near.df", NEAR)
    expected = folder.run("run --gpus none near.df").stdout
    for memory in ("256K", "1M"):
        for workers in (1, 2, 8):
            done = folder.run(f"run --stats --gpus simulated:whole:memory={memory} --workers={workers} near.df", out=expected)
            expect((memory, devices_in(done.stderr)[0], done.stderr.count("has no room")), (memory, 200_000 + 199_998, 0))
    folder.write("gather.df", "import stats;\nfloat a[];\nforeach i in [0:19999] { a[i] = itof(i) * 0.5; }\nfloat b[];\n"
                 "foreach i in [0:999] { b[i] = a[(i * 7919) %% 20000]; }\ntrace(sum_float(b));\n")
    alone = folder.run("run --gpus none gather.df").stdout
    done = folder.run("run --gpus simulated:whole:memory=64K gather.df", out=alone)
    expect(done.stderr.count("has no room for what a loop reads at once"), 1)


def nobody_waits_for_a_driver_that_is_not_used(folder):
    """It never begins: the run ends all the same."""
    script = ROOT / "tests/gpu/pi.df"
    expected = folder.run(f"run --gpus none {script} --n=80000").stdout
    for options in ("", "--json"):
        done = folder.run(f"run --gpus all --workers=2 {options} {script} --n=80000", env={**FAKE, "RADDLE_FAKE_NEVER_BEGINS": "1", "LD_DEBUG": "libs"})
        expect(options != "" or done.stdout == expected, True)
        expect_in("libcuda.so.1", done.stderr)


def annotations_are_followed(folder):
    script = ROOT / "tests/golden/language/gpu_annotations.df"
    for workers in (1, 2, 8):
        done = folder.run(f"run --stats --gpus simulated --workers={workers} {script}")
        points, stays = devices_in(done.stderr)
        expect((done.stdout, points), ("trace: 998002.0,10.0,955500.0,499500.0\n", 1000 + 2000 + 1000 + 998))
        expect(list(stays.values()), ["`@cpu` says so"])


def failing_points_read_as_on_workers(folder):
    for text in (FAILS, FAILS_IN_NEST):
        folder.write("fails.df", text)
        for bad in (0, 1, 31, 32, 99, 2500, 4999):
            for options in ("", "--keep-going"):
                alone = folder.run(f"run --gpus none {options} fails.df --bad={bad}", code=1)
                beside = folder.run(f"run --gpus simulated:whole {options} fails.df --bad={bad}", code=1)
                expect((beside.stdout, beside.stderr), (alone.stdout, alone.stderr))
                expect_in("division by zero", beside.stderr)
        expect(folder.run("run --gpus simulated:whole fails.df --bad=-1").stdout, folder.run("run --gpus none fails.df --bad=-1").stdout)


def an_element_is_assigned_once(folder):
    folder.write("twice.df", TWICE)
    for workers in (1, 2, 8):
        done = folder.run(f"run --gpus simulated:whole --workers={workers} twice.df", code=1, out="")
        expect_in("assigned more than once", done.stderr)


def an_endless_point_is_ended(folder):
    folder.write("endless.df", "(int n) f(int k) { for (n = 0, int x = k; x != 9; n = n + 1, x = (3 * x + 1) %% 7) {} }\n"
                 "int a[];\nforeach i in [0:99] { a[i] = f(i %% 5); }\ntrace(a[7]);\n")
    folder.run("run --gpus simulated:whole --timeout 1 endless.df", code=124)


def what_is_not_there_is_said(folder):
    folder.write("hello.df", 'trace("hello");\n')
    folder.run("run --gpus 2 hello.df", out="trace: hello\n", err="raddle: warning: --gpus 2: there is no driver for GPUs of NVIDIA (libcuda.so.1); workers compute everything\n")
    folder.run("run --gpus some hello.df", code=2, out="", err="--gpus")
    folder.run("run --gpus all hello.df", out="trace: hello\n")
    folder.run("run --gpus none hello.df", out="trace: hello\n")
    told = folder.run("doctor", code=folder_code(folder)).stdout
    expect((re.search(r"^absent   GPU  .*there is no driver", told, re.MULTILINE) is None), False)


def folder_code(folder):
    """That of `raddle doctor` here: machines differ in what is there."""
    return subprocess.run([folder.raddle, "doctor"], cwd=folder.path, capture_output=True, check=False).returncode


def a_driver_is_asked(folder):
    folder.write("hello.df", 'trace("hello");\n')
    two = {**FAKE, "RADDLE_FAKE_GPUS": "2"}
    folder.run("run --gpus 2 hello.df", out="trace: hello\n", env=two)
    folder.run("run --gpus 9 hello.df", out="trace: hello\n", err="raddle: warning: --gpus 9: there are 2 GPUs\n", env=two)
    folder.run("run --gpus 9 hello.df", out="trace: hello\n", err="raddle: warning: --gpus 9: there is 1 GPU\n", env={**FAKE, "RADDLE_FAKE_GPUS": "1"})
    folder.run("run --gpus 1 hello.df", out="trace: hello\n", env={**FAKE, "RADDLE_FAKE_CUDA": "11040"},
               err="raddle: warning: --gpus 1: the driver is too old: of CUDA 11.4, and 11.8 is needed; workers compute everything\n")
    folder.run("run --gpus 1 hello.df", out="trace: hello\n", env={**FAKE, "RADDLE_FAKE_GPUS": "0"},
               err="raddle: warning: --gpus 1: the driver does not begin: CUDA_ERROR_NO_DEVICE; workers compute everything\n")
    folder.write("loops.df", LOOPS)
    done = folder.run("run --gpus all:whole --stats loops.df", env={**FAKE, "RADDLE_FAKE_CUDA": "11040"})
    expect(done.stderr.count("raddle: warning: --gpus all:whole: the driver is too old: of CUDA 11.4, and 11.8 is needed; workers compute everything\n"), 1)
    # who asks for no more than is the default misses no GPU
    folder.run("run hello.df", out="trace: hello\n", err="", env={**FAKE, "RADDLE_FAKE_CUDA": "11040"})
    # one of three that can not be used: the others are
    three = {**FAKE, "RADDLE_FAKE_GPUS": "3", "RADDLE_FAKE_UNFIT": "1"}
    told = folder.run("run --gpus 3 hello.df", out="trace: hello\n", env=three).stderr
    expect(told, "raddle: warning: --gpus 3: there are 2 GPUs\nraddle: warning: GPU 1 can not be used: CUDA_ERROR_NO_DEVICE\n")
    told_by_doctor = [(folder_code(folder), "ok", "Fake GPU 0, 8 GiB, sm_90, driver of CUDA 12.0; Fake GPU 1, 8 GiB, sm_90, driver of CUDA 12.0", two),
                      (1, "warning", "Fake GPU 0, 8 GiB, sm_90, driver of CUDA 12.0; Fake GPU 2, 8 GiB, sm_90, driver of CUDA 12.0; GPU 1 can not be used", three),
                      (1, "warning", "the driver is too old: of CUDA 11.4, and 11.8 is needed", {**FAKE, "RADDLE_FAKE_CUDA": "11040"})]
    # one that lacks functions, and one that is no driver
    for name, version, why in (("old", "11020", "the driver is too old: of CUDA 11.2, and 11.8 is needed; it has no cu"), ("new", "12040", "the driver has no cu"),
                               ("none", "", "the driver is too old: CUDA 11.8 is needed; it has no cu")):
        folder.write(f"{name}.c", f"int cuDriverGetVersion(int* version) {{ *version = {version}; return 0; }}\n" if version else "int nothing;\n")
        (folder.path / name).mkdir()
        subprocess.run(["cc", "-shared", "-fPIC", "-o", f"{name}/libcuda.so.1", f"{name}.c"], cwd=folder.path, check=True)
        env = {"LD_LIBRARY_PATH": str(folder.path / name)}
        expect_in(f"raddle: warning: --gpus 1: {why}", folder.run("run --gpus 1 hello.df", out="trace: hello\n", env=env).stderr)
        told_by_doctor.append((1, "warning", why, env))
    for code, health, why, env in told_by_doctor:
        lines = [line for line in folder.run("doctor", code=code, env=env).stdout.splitlines() if why in line]
        expect((why, [line.split()[:2] for line in lines]), (why, [[health, "GPU"]]))


def what_a_driver_compiles_is_kept(folder):
    """Beside the machine code of leaves, where a run keeps any; a run without devices makes no folder."""
    folder.write("loops.df", LOOPS)
    kept, cache = folder.path / "cache" / "raddle", {"XDG_CACHE_HOME": str(folder.path / "cache")}
    env = {**FAKE, **cache, "RADDLE_FAKE_TAKES_PTX": "1"}
    folder.run("run --gpus 1:whole --no-jit-cache loops.df", env=env)
    folder.run("run --gpus all:whole loops.df", env=cache)
    expect((kept / "cubins").exists(), False)
    for _ in range(2):
        folder.run("run --gpus 1:whole loops.df", env=env)
        expect(len(list((kept / "cubins").iterdir())), 3)
    (kept / "cubins").chmod(0o777)
    for path in (kept / "cubins").iterdir():
        path.unlink()
    folder.run("run --gpus 1:whole loops.df", env=env)
    expect(list((kept / "cubins").iterdir()), [])


def what_a_driver_does_not_take_is_done_by_workers(folder):
    """It has no GPU that would run PTX."""
    folder.write("loops.df", LOOPS)
    expected = sorted(folder.run("run --gpus none loops.df").stdout.splitlines())
    for which in ("all:whole", "all:whole:resident"):
        done = folder.run(f"run --gpus {which} --stats loops.df", env=FAKE)
        expect(sorted(done.stdout.splitlines()), expected)
        points, stays = devices_in(done.stderr)
        expect((points, set(stays)), (0, {6, 8, 10, 11, 13, 15}))
        for line in (6, 8, 13):
            expect(stays[line], "no GPU takes its code: CUDA_ERROR_INVALID_PTX")
    folder.write("placed.df", """import math;
import stats;
@gpu (float y) f(float x) { for (y = x, int i = 0; i < 3; y = sin(y), i = i + 1) {} }
float a[];
@gpu foreach i in [0:999] { a[i] = sin(itof(i)); }
trace(sum_float(a) < 9.0, f(a[3]) < 9.0);
""")
    for options in ("", "--stats "):
        done = folder.run(f"run --gpus all {options}placed.df", out="trace: 1,1\n", env={**FAKE, "RADDLE_FAKE_GPUS": "1"})
        expect_in("placed.df:5:6: warning: `@gpu`: this loop stays on the CPU: no GPU takes its code: CUDA_ERROR_INVALID_PTX [not_for_gpus]", done.stderr)
        expect_in("placed.df:3:", done.stderr)
        expect_in("warning: `@gpu`: `f` stays on the CPU: no GPU takes its code: CUDA_ERROR_INVALID_PTX [not_for_gpus]", done.stderr)
    expect_in("not on devices as a whole, loop at placed.df:5:6: no GPU takes its code: CUDA_ERROR_INVALID_PTX\n", done.stderr)


def servers_of(process):
    """Numbers of the processes that have its drivers."""
    found = []
    for children in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += [child for child in children.read_text().split() if "-gpu-server" in pathlib.Path(f"/proc/{child}/cmdline").read_text()]
        except OSError:  # it has just ended
            continue
    return found


def first_server_of(run):
    """As soon as there is one."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if found := servers_of(run.pid):
            return found[0]
        time.sleep(0.001)
    expect("no process has a driver", "")


def a_fault_costs_no_task(folder):
    """The fake driver takes PTX, of which no point ends well: so workers compute all, and outputs are as ever."""
    folder.write("k.cu", APP_KERNELS.replace("by == 13", "by == -13"))
    folder.write("loops.df", LOOPS)
    folder.write("chain.df", CHAIN)
    folder.write("calls.df", CALLS_APP_KERNELS % "@gpu")
    for script, what in (("loops.df", "a loop"), ("chain.df", "a loop"), ("calls.df", "the AppKernel `scale`")):
        expected = sorted(folder.run(f"run --gpus none {script}").stdout.splitlines())
        for fault, why in (("illegal", "CUDA_ERROR_ILLEGAL_ADDRESS"), ("endless", "its process did not answer, and was ended"),
                           ("exit", "its process has ended with code 9"), ("kill", "its process was ended by signal 9 (Killed)")):
            for number in (1, 3):
                if fault == "endless" and (number == 3 or script == "loops.df"):
                    continue  # each of them takes three seconds
                env = {**FAKE, "RADDLE_FAKE_TAKES_PTX": "1", "RADDLE_FAKE_FAULT": f"{fault}:{number}"}
                patience = ":patience=3" if fault == "endless" else ""
                done = folder.run(f"run --gpus 1:whole{patience} --stats --workers=2 {script}", env=env)
                expect((script, fault, number, sorted(done.stdout.splitlines())), (script, fault, number, expected))
                if number == 1:  # each launch fails
                    expect_in(f"Fake GPU 0: {what}", done.stderr)
                    expect_in(f" makes it fail: {why}; workers have computed it", done.stderr)
                    expect_in(": devices fail when they compute it", done.stderr)
        for fault in ("illegal:1", "exit:1", "kill:1"):  # each launch of a super kernel fails
            env = {**FAKE, "RADDLE_FAKE_TAKES_PTX": "1", "RADDLE_FAKE_FAULT": fault}
            done = folder.run(f"run --gpus 1:whole:resident --workers=2 {script}", env=env)
            expect((script, fault, sorted(done.stdout.splitlines())), (script, fault, expected))
            expect_in(f"Fake GPU 0: {what}", done.stderr)
            expect_in(" makes it fail: ", done.stderr)


def a_driver_may_be_killed(folder):
    """Whenever: the run does not notice. Nor does its end leave a process behind, or wait for one that does not answer."""
    folder.write("chain.df", CHAIN.replace("19999", "199999").replace("19997", "199997"))
    expected = folder.run("run --gpus none chain.df").stdout
    env = {**os.environ, **FAKE, "RADDLE_FAKE_TAKES_PTX": "1"}
    for patience in (0, 0.01, 0.03, 0.1):
        with subprocess.Popen([folder.raddle, "run", "--gpus", "all:whole", "chain.df"], cwd=folder.path, env=env, stdout=subprocess.PIPE, text=True) as run:
            while run.poll() is None:
                for server in servers_of(run.pid):
                    subprocess.run(["kill", "-9", server], check=False, stderr=subprocess.DEVNULL)
                time.sleep(patience)
            expect((run.stdout.read(), run.returncode), (expected, 0))
    env["RADDLE_FAKE_NEVER_BEGINS"] = "1"
    with subprocess.Popen([folder.raddle, "doctor"], cwd=folder.path, env=env, stdout=subprocess.DEVNULL) as run:
        server = first_server_of(run)
        run.kill()
    for _ in range(1000):
        try:
            if pathlib.Path(f"/proc/{server}/stat").read_text().split()[2] == "Z":
                return
        except OSError:
            return
        time.sleep(0.01)
    expect("the server is there still", "")


def a_driver_that_hangs_is_noticed(folder):
    """Soon: one that is halted, one that does not begin."""
    folder.write("chain.df", CHAIN.replace("19999", "199999").replace("19997", "199997"))
    expected = folder.run("run --gpus none chain.df").stdout
    env = {**os.environ, **FAKE, "RADDLE_FAKE_TAKES_PTX": "1"}
    begin = time.monotonic()
    with subprocess.Popen([folder.raddle, "run", "--gpus", "1:whole", "chain.df"], cwd=folder.path, env=env, stdout=subprocess.PIPE, text=True) as run:
        subprocess.run(["kill", "-STOP", first_server_of(run)], check=False)
        expect((run.stdout.read(), run.wait()), (expected, 0))
    expect(time.monotonic() - begin < 20, True)
    begin = time.monotonic()
    done = folder.run("doctor", code=1, env={**FAKE, "RADDLE_FAKE_NEVER_BEGINS": "1"})
    expect_in("its process did not answer, and was ended", done.stdout)
    expect(time.monotonic() - begin < 20, True)


def short_scripts_look_for_no_driver(folder):
    folder.write("hello.df", 'trace("hello");\n')
    folder.write("loops.df", LOOPS)
    for script in ("hello.df", "loops.df"):
        told = folder.run(f"run {script}", env={"LD_DEBUG": "libs"}).stderr
        expect(("libcuda" in told, "libc.so.6" in told), (False, True))
    told = folder.run("run --gpus all:whole loops.df", env={"LD_DEBUG": "libs"}).stderr
    expect_in("libcuda.so.1", told)


def sweeps_and_sessions_have_devices(folder):
    folder.write("model.df", "import stats;\n@param int n = 1;\nint a[];\nforeach i in [0:999] { a[i] = i * n; }\n@result int s = sum_integer(a);\n")
    for which in ("none", "simulated", "simulated:whole"):
        folder.run(f"sweep --no-cache --gpus {which} model.df -p n=1:20 -o {which}.csv")
    columns = [[line.split(",")[:2] for line in folder.read(f"{which}.csv").splitlines()] for which in ("none", "simulated", "simulated:whole")]
    expect(columns[1:], [columns[0]] * 2)
    expect(columns[0][3], ["3", str(3 * 999 * 500)])


CHECK = ROOT / "tests" / "gpu" / "gpu_check.py"


def checked(folder, line, env=None):
    """The process of gpu_check.py, and its rows."""
    out = folder.path / "rows.jsonl"
    done = subprocess.run([CHECK, "--raddle", folder.raddle, "--out", out, *line.split()], env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False)
    return done, [json.loads(row) for row in out.read_text(encoding="utf-8").splitlines()] if out.exists() else []


def the_check_for_machines_with_a_gpu_says_so_without_one(folder):
    for step in ("", "gemtc"):
        done, rows = checked(folder, step)
        expect((done.returncode, done.stdout, done.stderr, rows), (0, "gpu-check: there is no driver for GPUs of NVIDIA (libcuda.so.1)\n", "", []))
    expect_in("no step speed: facts, start, compile", checked(folder, "speed")[0].stderr)
    for name, value, told in (("RADDLE_FAKE_GPUS", "0", "the driver does not begin: CUDA_ERROR_NO_DEVICE"), ("RADDLE_FAKE_CUDA", "11040", "the driver is too old: of CUDA 11.4, and 11.8 is needed"),
                              ("RADDLE_FAKE_NEVER_BEGINS", "1", "its process did not answer, and was ended")):
        done, rows = checked(folder, "", env={**FAKE, name: value})
        expect((name, done.returncode, rows, told in done.stdout), (name, 1, [], True))
    folder.write("broken", "#!/bin/sh\nkill -SEGV $$\n")
    (folder.path / "broken").chmod(0o755)
    for tool, told in (("broken", "ends with code -11"), ("nowhere", "No such file or directory")):
        done = subprocess.run([CHECK, "--raddle", folder.path / tool], capture_output=True, text=True, check=False)
        expect((tool, done.returncode, told in done.stdout), (tool, 1, True))


def all_steps_of_the_check_run(folder):
    """On the driver without a GPU: that they run, not how fast. Of compute-sanitizer there is what it says at the end."""
    folder.write("compute-sanitizer", '#!/bin/sh\nshift 2\n"$@" && echo "========= ERROR SUMMARY: 0 errors"\n')
    (folder.path / "compute-sanitizer").chmod(0o755)
    env = {**FAKE, "RADDLE_FAKE_TAKES_PTX": "1", "PATH": f"{folder.path}:{os.environ['PATH']}"}
    done, rows = checked(folder, "--small --filter=warp_kernels --filter=gpu_annotations --filter=gpu/pi", env=env)
    expect([row for row in rows if row.get("failed")], [])
    expect(done.returncode, 0)
    known = subprocess.run([CHECK, "--help"], capture_output=True, text=True, check=True).stdout
    steps = list(dict.fromkeys(row["step"] for row in rows))
    expect(steps, ["run", *re.findall(r"^(\w+) +at most +\d+ s:", known, re.MULTILINE), "ratios"])
    expect(re.findall(r"^gpu-check: (\w+) (begins|took)", done.stderr, re.MULTILINE), [(step, what) for step in steps[1:-1] for what in ("begins", "took")])
    expect(sum(int(limit) for limit in re.findall(r"at most +(\d+) s:", known)) <= 8 * 60, True)
    names = {row["row"] for row in rows}
    expect({"name", "clock", "module", "ten_leaves", "launch_and_wait_p50", "graph_node", "allocate_p50", "copy_in_pageable", "copy_out_pinned", "question_p99",
            "differing_arguments", "golden_scripts", "failing_points", "null_tasks", "range_points", "growth_points", "growth_of_host", "start_up", "start_up_alone", "submit_to_complete_p99", "efficiency_4000us",
            "efficiency_of_ranges_400us", "arena_10000", "script", "lost_by_a_kill", "wild", "gemtc", "sanitizer", "tasks_in_a_launch"} - names, set())
    expect(sum(row["row"] == "differing_arguments" for row in rows), 2 * (33 + 1 + 25 + 1))
    expect_in("| facts | GPU | Fake GPU 0 |  |  |\n", done.stdout)
    expect_in("; 0 failed\nrows as lines of JSON: ", done.stdout)


def the_measuring_tool_says_what_is_wrong(folder):
    bench = ROOT / "build" / "tests" / "raddle_gpu_bench"
    done = subprocess.run([bench, "facts"], capture_output=True, text=True, check=False)
    expect((done.returncode, json.loads(done.stdout), done.stderr),
           (0, {"row": "no_driver", "what": "driver", "value": "there is no driver for GPUs of NVIDIA (libcuda.so.1)", "unit": ""}, ""))
    folder.write("none.ptx", ".version 7.8\n")
    folder.write("bad.ptx", ".version 7.8\n.visible .entry raddle_other()\n{\n}\n")
    for file, why in (("none.ptx", "none.ptx has no kernel"), ("bad.ptx", "bad.ptx: CUDA_ERROR_INVALID_PTX"), ("absent.ptx", "absent.ptx can not be read")):
        done = subprocess.run([bench, "modules", file], cwd=folder.path, env={**os.environ, **FAKE, "RADDLE_FAKE_TAKES_PTX": "1"}, capture_output=True, text=True, check=False)
        expect((done.returncode, json.loads(done.stdout)), (1, {"row": "failed", "what": why, "failed": True}))
    done = subprocess.run([bench, "speed"], capture_output=True, text=True, check=False)
    expect((done.returncode, done.stdout), (2, ""))
    expect_in("facts|driver|queues", done.stderr)


def the_bench_of_devices_runs(_):
    """That it runs, not how fast; other figures than those of a GPU are never told as such."""
    done = subprocess.run([sys.executable, ROOT / "tests" / "bench" / "gpu.py", "--small", "--repeats=1"], capture_output=True, text=True, check=False)
    expect((done.returncode, done.stderr), (0, ""))
    expect_in("none of it is of a GPU.\n", done.stdout)
    rows = [line.split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")]
    expect(len(rows), 1 + 3 + 3 + 1 + 3 + 3 * (3 + 1 + 3 + 1) + (1 + 5) + (1 + 5) + (1 + 4) + (1 + 5) + (1 + 8) + (1 + 6))
    expect(re.findall(r"^\*\*.*?\*\* \((\w+)", done.stdout, re.MULTILINE), ["measured", "measured", "model", "measured", "model", "model"])
    expect([row[2] for row in rows if "10000 live" in row[0]], ["at most 0.3 us"])
    expect([bool(re.search(r" ns, of the processor [\d.,e+]+ ns, [\d.,e+]+ calls a bundle$", row[1])) for row in rows if "in bundles, each" in row[0]], [True] * 3)
    expect_in("cudaMallocAsync 1.68 us", done.stdout)


def gpu_check():
    import gpu_check as module  # pylint: disable=import-outside-toplevel
    return module


def the_check_sees_what_fails_on_both_ways(_):
    steps = gpu_check().check_steps
    case = next(case for case in steps.golden.find_cases(["warp_kernels"]) if case.exit_code == 0)
    with unittest.mock.patch.object(steps.golden, "run_once", return_value=(1, "", "there is no compiler")):
        expect_in("there is no compiler", steps.golden_difference("raddle", case, ["all:whole"])[1] or "")


def a_step_of_the_check_is_ended_at_its_limit(folder):
    """With what it has started; its rows are kept. What it says beside rows is a fault."""
    row = '{"row": "launch", "what": "a launch", "value": 1.5, "unit": "us"}'
    begun = gpu_check().StepProcess(["sh", "-c", f"echo '{row}'; sleep 1000 & echo $! > {folder.path}/sleeps; wait"])
    rows = begun.rows(1)
    expect([each["what"] for each in rows], ["a launch", "it did not end within 1 s"])
    wait_for(lambda: not pathlib.Path(f"/proc/{folder.read('sleeps').strip()}/cmdline").exists()
             or not pathlib.Path(f"/proc/{folder.read('sleeps').strip()}/cmdline").read_bytes(), "the end of what a step has started")
    rows = gpu_check().StepProcess(["sh", "-c", f"echo '{row}'; echo lost; exit 3"]).rows(10)
    expect([each["what"] for each in rows], ["a launch", "lost"])
    expect(gpu_check().StepProcess(["sh", "-c", "exit 3"]).rows(10)[0]["what"], "it ends with code 3")


def goals_of_the_check_are_told(_):
    """Only what is wrong with any card is a failure."""
    rows = [{"step": "queues", "row": "null_tasks", "what": "tasks", "value": 9.5, "unit": "M/s"}, {"step": "driver", "row": "launch", "what": "a launch", "value": 2.0, "unit": "us"},
            {"step": "bits", "row": "differing_arguments", "what": "bits", "value": 3, "unit": ""}]
    rows += [{"step": "ratios", **row} for row in gpu_check().check_rows.tell_ratios(rows)]
    with contextlib.redirect_stdout(io.StringIO()) as table:
        expect(gpu_check().check_rows.print_table(rows), 1)
    expect(table.getvalue(), """| step | what | figure | goal | met |
|---|---|---|---|---|
| queues | tasks | 9.5 M/s | at least 10 M/s | NO |
| driver | a launch | 2 us |  |  |
| bits | bits | 3 | at most 0 | NO |
| ratios | null tasks through the queues in the time of one launch | 19 | at least 15 | yes |

4 rows; 1 of 3 goals met; 1 failed
""")


def the_scripts_of_the_check_run(folder):
    done, rows = checked(folder, "--simulated --small scripts")
    expect((done.returncode, [row for row in rows if row.get("failed")]), (0, []))
    whole = {row["what"].partition(",")[0]: row["points"] for row in rows if row["row"] == "script" and row["what"].endswith(", simulated:whole")}
    expect(sorted(whole), sorted(path.stem for path in ROOT.glob("tests/gpu/*.df")))
    expect(whole, {**dict.fromkeys(whole, 3000), "gather": 1_003_000, "gravity": 2 * 3000, "replicas": 17_532})
    done, rows = checked(folder, "--simulated --small bits golden failing --filter=gpu_annotations")
    expect((done.returncode, [row for row in rows if row.get("failed")]), (0, []))
    expect([(row["value"], row["unit"]) for row in rows if row["row"] in ("golden_scripts", "golden_went")], [(1, "of 1"), (1, "")])
    expect([row["points"] > 0 for row in rows if row["row"] == "differing_arguments" and "points" in row], [True] * 2)


def what_is_shared_prints_the_same(folder):
    """How many points go depends on time, and may be none: unit tests see to it that some do."""
    alone, beside = (folder.run(f"run --stats --workers=2 --gpus {which} {ROOT}/tests/gpu/pi.df --n=40000") for which in ("none", "simulated"))
    expect(beside.stdout, alone.stdout)
    points, stays = devices_in(beside.stderr)
    expect((points < 40000, stays), (True, {}))


def expect_little_memory(script, text):
    """Of each thread's own: what a reduction needs (lanes, and parts of the tree)."""
    sizes = [int(size) for size in re.findall(r"__local_depot\d+\[(\d+)\]", text)]
    expect((script.name, [size for size in sizes if size > 1100]), (script.name, []))


def kernels_become_ptx(folder):
    """Those of all examples and golden scripts, without what a GPU should not meet."""
    count = singles = 0
    forbidden = re.compile(r"\b(trap|brkpt|vprintf|__nv_\w+|fma\.rn\.f32|div\.full|(add|sub|mul)\.f64|fence|membar|(atom|red)\.(?!(global\.)?min\.u64)\S+)\b|call\s*\(?[^;]*,\s*%rd|\.callprototype")
    for script in sorted([*ROOT.glob("tests/golden/language/*.df"), *ROOT.glob("tests/golden/run/*.df"), *ROOT.glob("examples/*.df")]):
        done = subprocess.run([folder.raddle, "run", "--emit=ptx", script.name], cwd=script.parent, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            continue
        kernels = re.findall(r"^// (?!Generated)(\S+?(?:, single calls)?)(: .*)?$", done.stdout, re.MULTILINE)
        for name, why in kernels:
            expect((script.name, name, why if "LLVM" in why else ""), (script.name, name, ""))
        entries = done.stdout.count(".visible .entry raddle_range(")
        expect((script.name, entries), (script.name, sum(not why for _, why in kernels)))
        found = forbidden.search(done.stdout)
        expect((script.name, found and found[0]), (script.name, None))
        expect_little_memory(script, done.stdout)
        count += entries
        singles += sum(name.endswith(", single calls") and not why for name, why in kernels)
    expect((count > 100, singles > 3), (True, True))


def library_kernels_are_for_gpus(_):
    """Nothing in them that loses its order, or would end all that a GPU computes."""
    forbidden = re.compile(r"^\s*(?:@\S+\s+)?(trap|brkpt|fence|membar|(?:ld|st)\.volatile|(?:atom|red)\.(?!relaxed\.)|\.extern)\S*", re.MULTILINE)
    texts = {path.stem: path.read_text(encoding="latin-1") for path in (ROOT / "build" / "raddle_kernels").glob("*.ptx")}
    expect({name: found[0] for name, text in texts.items() if (found := forbidden.search(text))}, {})
    expect_in("red.relaxed.gpu.add.u64", texts["histogram"])


def single_calls_in(stderr):
    found = re.search(r"^calls on device 0, \D*(\d+)$", stderr, re.MULTILINE)
    return int(found[1]) if found else 0


def single_calls_of_leaves_go(folder):
    """All with `:whole`, else those with @gpu, and others as they are worth it. Bundles of them are in traces."""
    script = "single_calls.df"
    folder.write(script, (ROOT / "tests" / "golden" / "language" / script).read_text())
    expected = sorted((ROOT / "tests" / "golden" / "language" / "single_calls.out").read_text().splitlines())
    for options in ("--workers=1", "--workers=2", "--workers=8", "--workers=2 -O0", "--workers=2 --scheduler-seed=3"):
        for which, calls in (("simulated:whole", {277}), ("simulated:whole:memory=64K", {277}), ("simulated:h200x2", {277}), ("none", {0}), ("simulated", range(3, 278))):
            done = folder.run(f"run --stats --gpus {which} {options} {script}")
            expect(sorted(done.stdout.splitlines()), expected)
            if which != "simulated:h200x2":
                expect(single_calls_in(done.stderr) in calls, True)
    # what stays after all is compiled, as it is without devices
    done = folder.run(f"run --stats --gpus simulated:whole --memory=64M {script}")
    expect(sorted(done.stdout.splitlines()), expected)
    expect("leaf calls, interpreted" in done.stderr, False)
    expect_in("leaf calls, native 74\n", done.stderr)  # those with arrays, which may leave memory
    folder.run(f"run --trace=t.json --gpus simulated:whole {script}")
    slices = [event for event in json.loads(folder.read("t.json"))["traceEvents"] if event.get("cat") == "device"]
    expect(sum(int(event["args"]["computed"]) for event in slices), 277)


SINGLE_CALLS_THAT_FAIL = """import io;
(int y) f(int n, int by) {
  for (y = n, int k = 0; k < 100; y = y + 12 %/ by, k = k + 1) { }
}
foreach i in [0:40] {
  if (i %% 2 == 0) { printf("%i: %i", i, f(i, i %% 10)); }
}
"""


def single_calls_that_fail_read_as_on_workers(folder):
    folder.write("f.df", SINGLE_CALLS_THAT_FAIL)
    for workers in (1, 8):
        alone, beside = (folder.run(f"run --gpus {which} --workers={workers} --keep-going f.df", code=1) for which in ("none", "simulated:whole"))
        expect((sorted(beside.stdout.splitlines()), beside.stderr), (sorted(alone.stdout.splitlines()), alone.stderr))
        expect_in("division by zero", beside.stderr)
        expect(len(beside.stdout.splitlines()), 16)


def single_calls_survive_faults(folder):
    """The fake driver takes PTX, of which no point ends well: so workers make all calls. A super kernel may be launched once only."""
    script = "single_calls.df"
    folder.write(script, (ROOT / "tests" / "golden" / "language" / script).read_text())
    expected = sorted((ROOT / "tests" / "golden" / "language" / "single_calls.out").read_text().splitlines())
    for way, faults in (("", ("illegal:1", "illegal:3", "exit:2", "kill:2")), (":resident", ("illegal:1", "exit:1", "kill:1"))):
        for fault in ("none:1", *faults):
            env = {**FAKE, "RADDLE_FAKE_TAKES_PTX": "1", "RADDLE_FAKE_FAULT": fault}
            done = folder.run(f"run --gpus all:whole{way} --workers=2 {script}", env=env)
            expect((way, fault, sorted(done.stdout.splitlines())), (way, fault, expected))
            if fault.endswith(":1"):  # there may be one launch only
                expect((way, fault, "raddle: warning: Fake GPU 0: " in done.stderr), (way, fault, fault in faults))
            if (fault, way) == ("illegal:1", ""):  # each launch fails
                expect_in("Fake GPU 0: a single call of `", done.stderr)
                expect("a loop of `" in done.stderr, False)


def app_kernels_go(folder):
    folder.write("k.cu", APP_KERNELS)
    folder.write("a.df", CALLS_APP_KERNELS % "")
    folder.write("gpu.df", CALLS_APP_KERNELS % "@gpu")
    folder.write("cpu.df", CALLS_APP_KERNELS % "@cpu")
    expected = sorted(folder.run("run --gpus none a.df --n=13").stdout.splitlines())
    for workers in (1, 2, 8):
        for which, script, calls in (("simulated:whole", "a.df", 13), ("simulated", "gpu.df", 13), ("simulated:whole", "cpu.df", 0)):
            for more in ("", "--scheduler-seed=5", "--interpret"):
                done = folder.run(f"run --stats --gpus {which} --workers={workers} {more} {script} --n=13")
                expect(sorted(done.stdout.splitlines()), expected)
                found = re.search(r"^calls on device 0, simulated (\d+)$", done.stderr, re.MULTILINE)
                expect(int(found[1]) if found else 0, calls)


def an_app_kernel_that_fails_reads_as_on_workers(folder):
    folder.write("k.cu", APP_KERNELS)
    folder.write("a.df", CALLS_APP_KERNELS % "")
    alone, beside = (folder.run(f"run --gpus {which} --keep-going a.df --n=20", code=1) for which in ("none", "simulated:whole"))
    expect((sorted(beside.stdout.splitlines()), beside.stderr), (sorted(alone.stdout.splitlines()), alone.stderr))
    expect_in("`scale` returned 7", beside.stderr)


def a_lane_that_fails_fails_its_call(folder):
    """In the code of GPUs lanes tell each other what they return before one of them writes it."""
    folder.write("k.cu", '#include "raddle_kernel.h"\nRADDLE_KERNEL int f(raddle::Warp warp, int64_t n, int64_t& y) {\n'
                 "  int bad = 0;\n  warp.for_each(n, [&](int64_t i) { if (i == 5) bad = 3; });\n  return bad;\n}\n")
    folder.write("a.df", '@kernel="k.cu" (int y) f(int n);\ntrace(f(3));\n')
    cache = folder.path / "cache"
    folder.run("run --gpus 1:whole a.df", out="trace: 0\n", env={**FAKE, "RADDLE_FAKE_TAKES_PTX": "1", "XDG_CACHE_HOME": str(cache)})
    texts = [path.read_bytes().decode("latin-1") for path in cache.glob("raddle/jit/*")]
    texts = [text for text in texts if ".entry raddle_calls" in text]
    expect(len(texts), 1)
    returns = ("summary", "inverse", "stencil", "black_scholes", "histogram", "convolution", "bilateral", "pi")
    for text in [texts[0], *[(ROOT / f"build/raddle_kernels/{name}.ptx").read_text(encoding="latin-1") for name in returns]]:
        expect(text.count("shfl.sync.bfly.b32") >= 5, True)
    # the host's form has one lane, which does what all do
    folder.write("a.df", '@kernel="k.cu" (int y) f(int n);\ntrace(f(30));\n')
    for gpus in ("none", "simulated:whole"):
        folder.run(f"run --gpus {gpus} a.df", code=1, err="`f` returned 3")


def a_kernel_that_no_gpu_would_take_stays(folder):
    """Also where the device is simulated."""
    folder.write("k.cu", '#include "raddle_kernel.h"\nRADDLE_KERNEL void f(raddle::Warp, double x, double& y) { y = std::fmod(x, 2.0) + 3; }\n')
    folder.write("a.df", '@kernel="k.cu" (float y) f(float x);\ntrace(f(3.0));\n')
    for which in ("simulated:whole", "simulated:h200"):
        done = folder.run(f"run --gpus {which} --stats a.df", out="trace: 4.0\n")
        expect_in("not on devices, AppKernel at a.df:1:26: it needs `fmod`, which GPUs do not have\n", done.stderr)
        expect_in("calls of AppKernels by workers 1\n", done.stderr)
    folder.write("a.df", '@gpu @kernel="k.cu" (float y) f(float x);\ntrace(f(3.0));\n')
    folder.run("run --gpus simulated a.df", out="trace: 4.0\n",
               err="a.df:1:31: warning: `@gpu`: `f` stays on the CPU: it needs `fmod`, which GPUs do not have [not_for_gpus]")
    folder.run("run --gpus none a.df", out="trace: 4.0\n", err="")


def why_an_app_kernel_stays_is_said(folder):
    """A driver without a GPU that would run PTX: clang is asked, and what it has made is refused."""
    script = '@kernel="k.cu" (float y) f(float x);\ntrace(f(3.0));\n'
    folder.write("a.df", script)
    one = {**FAKE, "RADDLE_FAKE_GPUS": "1", "XDG_CACHE_HOME": str(folder.path)}
    kernel = '#include "raddle_kernel.h"\n%s\nRADDLE_KERNEL void f(raddle::Warp, double x, double& y) { y = %s; }\n'
    for before, result, why in (
            ("", "x + 1", "no GPU takes its code: CUDA_ERROR_INVALID_PTX"),
            ("#include <stdexcept>\ninline double g(double x) { if (x > 9) throw std::runtime_error(\"large\"); return x + 1; }", "g(x)",
             "it needs `__cxa_allocate_exception`, which GPUs do not have"),
            ("", "std::fmod(x, 2.0) + 3", "it needs `fmod`, which GPUs do not have"),
            ("#include <vector>\ninline double g(double x) { std::vector<double> v; for (int i = 0; i < x; ++i) v.push_back(i); return v.size() + 1; }", "g(x)",
             "it needs `std::__throw_length_error(char const*)`, which GPUs do not have"),
            ("inline double g(double x) { if (x > 9) __builtin_trap(); return x + 1; }", "g(x)", "it may trap, which would end all that the GPU computes"),
            ("inline double g(double x, double& y) { __atomic_exchange_n(reinterpret_cast<int64_t*>(&y), 0, __ATOMIC_SEQ_CST); return x + 1; }", "g(x, y)",
             "it has atomic operations of C++, whose order clang leaves out for GPUs: `raddle::add` is there"),
            ("inline double g(double x) { thread_local double z = x; return z + 1; }", "g(x)",
             "k.cu:2:29: error: thread-local storage is not supported for the current target")):
        folder.write("k.cu", kernel % (before, result))
        done = folder.run("run --gpus all:whole --stats a.df", out="trace: 4.0\n", env=one)
        expect_in(f"not on devices, AppKernel at a.df:1:26: {why}\n", done.stderr)


def kernels_become_a_super_kernel(folder):
    """Of the same scripts. What LLVM 19 would make of atomics loses its order: there is none but what the queues say by themselves."""
    count = 0
    forbidden = re.compile(r"\b(trap|brkpt|vprintf|__nv_\w+|fence|membar|(ld|st)\.volatile|(atom|red)\.(?!relaxed|acq_rel)\S+|call\S*|\.callprototype)\b")
    ordered = ("ld.acquire.sys.u64", "st.release.sys.v2.u64", "st.release.gpu.u64", "ld.acquire.gpu.u64", "atom.acq_rel.gpu.add.u64")
    for script in sorted([*ROOT.glob("tests/gpu/*.df"), *ROOT.glob("tests/golden/language/*.df"), *ROOT.glob("examples/*.df")]):
        text = subprocess.run([folder.raddle, "run", "--emit=super", script.name], cwd=script.parent, capture_output=True, text=True, check=False).stdout
        if ".entry" not in text:
            expect((script.name, text if "LLVM" in text else ""), (script.name, ""))
            continue
        expect((script.name, re.findall(r"\.entry \w+", text), re.findall(r"^\.target \w+", text, re.MULTILINE)), (script.name, [".entry raddle_super"], [".target sm_70"]))
        found = forbidden.search(text)
        expect((script.name, found and found[0]), (script.name, None))
        expect_little_memory(script, text)
        expect((script.name, [form for form in ordered if form not in text]), (script.name, []))
        expect((script.name, ".maxntid 256, 1, 1" in text, ".minnctapersm 4" in text), (script.name, True, True))
        count += 1
    expect(("scripts with a super kernel", count, count > 10), ("scripts with a super kernel", count, True))


def kernels_of_c_programs_become_ptx(folder):
    """By the command that gemtc_gpu.h has; where there is an assembler of NVIDIA's, it takes them."""
    header = (ROOT / "gpu/gemtc/gemtc_gpu.h").read_text(encoding="utf-8")
    command = re.search(r"clang\+\+-19 .*?kernels\.ptx", header, re.DOTALL)[0].replace("\n *", " ")
    words = [{"-IDIR": f"-I{ROOT}", "kernels.cpp": str(ROOT / "tests/unit/gpu/gemtc_test_gpu.cpp")}.get(word, word) for word in command.split()]
    subprocess.run(words, cwd=folder.path, check=True)
    text = folder.read("kernels.ptx")
    expect(re.findall(r"\.entry \w+", text), [".entry raddle_super", ".entry raddle_gemtc_test"])
    expect(re.findall(r"\.extern.*", text), [])
    for form in ("st.release.sys.v2.u64", "atom.acq_rel.gpu.add.u64", "red.relaxed.gpu.min.u64", "add.rn.f64"):
        expect((form, form in text), (form, True))
    if shutil.which("ptxas"):
        subprocess.run(["ptxas", "-arch=sm_90", "kernels.ptx", "-o", "kernels.cubin"], cwd=folder.path, check=True)


TESTS = [loops_go_or_it_is_said_why, single_calls_of_leaves_go, single_calls_that_fail_read_as_on_workers, single_calls_survive_faults, what_is_in_the_way_is_named, what_iterations_do_is_told, reasons_are_of_the_script, loops_around_loops_go, a_space_of_more_dimensions_is_one_batch, arrays_stay_on_the_device, models_tell_what_gpus_would_take, data_choose_the_device, nobody_waits_for_memory_that_a_driver_is_slow_to_give, models_make_calls, calls_with_large_arrays_are_placed, slices_are_parts_of_their_arrays, copies_take_turns_on_one_bus, models_copy_from_each_other, what_needs_no_gpu_loads_nothing_of_it, devices_have_lanes_in_traces, copies_have_lanes_and_are_told_by_array, statistics_tell_what_ran_where, recorded_runs_have_lanes_of_devices, examples_have_lanes_of_devices, points_that_reduce_go, a_small_device_computes_what_it_has_room_for,
         nobody_waits_for_a_driver_that_is_not_used, annotations_are_followed, failing_points_read_as_on_workers, an_element_is_assigned_once, app_kernels_go, an_app_kernel_that_fails_reads_as_on_workers,
         a_lane_that_fails_fails_its_call, a_kernel_that_no_gpu_would_take_stays, why_an_app_kernel_stays_is_said, an_endless_point_is_ended, what_is_not_there_is_said,
         a_driver_is_asked, what_a_driver_compiles_is_kept, a_fault_costs_no_task, a_driver_may_be_killed, a_driver_that_hangs_is_noticed, what_a_driver_does_not_take_is_done_by_workers, short_scripts_look_for_no_driver,
         sweeps_and_sessions_have_devices, the_check_for_machines_with_a_gpu_says_so_without_one,
         all_steps_of_the_check_run, the_check_sees_what_fails_on_both_ways, a_step_of_the_check_is_ended_at_its_limit, goals_of_the_check_are_told, the_scripts_of_the_check_run,
         the_measuring_tool_says_what_is_wrong, the_bench_of_devices_runs, what_is_shared_prints_the_same, kernels_become_ptx, library_kernels_are_for_gpus, kernels_become_a_super_kernel, kernels_of_c_programs_become_ptx]


if __name__ == "__main__":
    main("gpu", "Tests --gpus without a GPU.", TESTS)
