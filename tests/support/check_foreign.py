#!/usr/bin/env python3
"""Code outside of the script that works on dense arrays: functions of a shared library, AppKernels by hand.

    check_foreign.py [--raddle PATH] [FILTER]
"""

import os
import shutil
import subprocess
from pathlib import Path

from folder_tests import ROOT, Fault, Folder, expect, expect_in, main

DATA = ROOT / "tests/support/tcl_packages"
LIBRARY = """#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
void scale(const double *x, int64_t n, double by, double *y, int64_t m) {
  for (int64_t i = 0; i < m; ++i) y[i] = by * x[i];
}
double products(const double *a, int64_t n, const int64_t *k, int64_t m, double *c, int64_t rows, int64_t columns, bool *large,
                int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) sum += c[i * columns + j] = a[i] * k[j];
  for (int64_t i = 0; i < count; ++i) large[i] = a[i] > 1;
  return sum;
}
void fall(int64_t n, double *y, int64_t m) { y[0] = 1; abort(); }
float narrow(float x, int32_t k, const float *a, int64_t n, int32_t *y, int64_t m) {
  for (int64_t i = 0; i < m; ++i) y[i] = (int32_t)(a[i] * 10) + k;
  return x / 3;
}
int32_t twice(int32_t k) { return 2 * k; }
"""
LIBRARY_SCRIPT = """import arrays;
@library="./fill.so" (float y[n]) scale(float x[n], float by);
@library="./fill.so" (float total, float c[n, m], boolean large[n]) products(float a[n], int k[m]);
float A[2, 3] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
trace("row", scale(A[1, :], 10.0));
float t, c[:, :];
boolean large[:];
(t, c, large) = products(A[0, :], dense([1, 2]));
trace("products", t, c[2, 1], large);
trace("none", size(scale(zeros(0), 1.0)));
@library="./fill.so" (float32 third, int32 y[n]) narrow(float32 x, int32 k, float32 a[n]);
@library="./fill.so" (int32 y) twice(int32 k);
float32 B[:] = [0.1, -0.25];
(third, y) = narrow(0.1, -4, B);
trace("narrow", third, y, twice(-7));
"""
PRINTED = ["trace: narrow,0.033333335,[-3, -6],-14", "trace: none,0",
           "trace: products,18.0,6.0,[false, true, true]", "trace: row,[40.0, 50.0, 60.0]"]

ENDINGS = """#include <cstdint>
#include <cstdlib>
#include <pthread.h>
#include <signal.h>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#define FUNCTION(name, body) int64_t name(int64_t n) { body; return n; }
extern "C" {
FUNCTION(leave, exit(n))
FUNCTION(leave_late, if (n == 900000) exit(0))
FUNCTION(throw_late, if (n == 900000) throw std::runtime_error("too large"))
FUNCTION(leave_at_once, _exit(n))
FUNCTION(leave_quickly, quick_exit(n))
FUNCTION(leave_thread, pthread_exit(nullptr))
FUNCTION(fall, abort())
FUNCTION(fault, *(volatile int*)8 = 1)
FUNCTION(divide, n = 5 / (n - n))
FUNCTION(throw_it, throw std::runtime_error("too large"))
FUNCTION(throw_uncaught, [&]() noexcept { throw std::runtime_error("too large"); }())
FUNCTION(leave_later, std::thread([] { exit(0); }).detach(); sleep(5))
FUNCTION(fault_later, std::thread([] { *(volatile int*)8 = 1; }).detach(); sleep(5))
int64_t descend(int64_t n) { volatile char page[4096]; page[0] = n; return descend(n + 1) + page[0]; }
FUNCTION(fork_and_leave, pid_t child = fork(); if (child == 0) exit(0); sleep(0))
}
"""

KERNELS = """#include <cstdlib>
#include <stdexcept>
#include <unistd.h>
#include <vector>
#include "raddle_kernel.h"
#include "parts/twice.h"
RADDLE_KERNEL void scale(raddle::Warp warp, raddle::In<double, 1> x, double by, raddle::Out<double, 1> y) {
  warp.for_each(x.size(), [&](int64_t i) { y[i] = by * x[i]; });
}
RADDLE_KERNEL int products(raddle::Warp warp, raddle::In<double, 1> a, raddle::In<int64_t, 1> k, double& total,
                           raddle::Out<double, 2> c, raddle::Out<bool, 1> large) {
  if (a.size() > 5) return 3;
  warp.for_each(c.size(), [&](int64_t i) { c[i] = a[i / k.size()] * k[i % k.size()]; });
  warp.for_each(a.size(), [&](int64_t i) { large[i] = a[i] > 1; });
  total = warp.sum(c.size(), [&](int64_t i) { return c[i]; });
  return 0;
}
RADDLE_KERNEL void fold(raddle::Warp warp, raddle::In<double, 1> x, bool both, const char* word, int64_t k, int64_t& length,
                        bool& flipped, double& sum, double& least, double& most) {
  while (word[length] != 0) ++length;
  flipped = !both;
  sum = warp.sum(x.size(), [&](int64_t i) { return x[i]; }) + twice(k);
  least = warp.min(x.size(), 1e9, [&](int64_t i) { return x[i]; });
  most = warp.max(x.size(), -1e9, [&](int64_t i) { return x[i]; });
}
RADDLE_KERNEL void narrow(raddle::Warp warp, float x, int32_t k, raddle::In<float, 1> a, float& third,
                          raddle::Out<int32_t, 1> y) {
  warp.for_each(y.size(), [&](int64_t i) { y[i] = static_cast<int32_t>(a[i] * 10) + k; });
  third = x / 3;
}
RADDLE_KERNEL void twice(raddle::Warp, int32_t k, int32_t& y) { y = 2 * k; }
RADDLE_KERNEL int64_t wide(raddle::Warp, int64_t k, int64_t&) { return k; }
RADDLE_KERNEL void thrown(raddle::Warp, double x, double& y) {
  if (x > 2) throw std::runtime_error("too large");
  if (x < 0) throw 3;
  y = x;
}
RADDLE_KERNEL void ones(raddle::Warp, int64_t n, double& y) {
  thread_local std::vector<double> scratch;
  scratch.assign(n, 1.0);
  for (double each : scratch) y += each;
}
RADDLE_KERNEL void hundreds(raddle::Warp, int64_t n, double& y) {
  thread_local std::vector<double> scratch;
  scratch.assign(n, 100.0);
  for (double each : scratch) y += each;
}
RADDLE_KERNEL int refuse(raddle::Warp, int64_t n, int64_t& y) { return n > 2 ? raddle::failure("n is too large") : 0; }
RADDLE_KERNEL void leave(raddle::Warp, int64_t n, int64_t& y) { std::exit(static_cast<int>(n)); }
RADDLE_KERNEL void leave_at_once(raddle::Warp, int64_t n, int64_t& y) { _exit(static_cast<int>(n)); }
RADDLE_KERNEL void drop(raddle::Warp, int64_t n, int64_t& y) { std::abort(); }
inline int64_t deeper(int64_t n) { volatile char page[4096]; page[0] = static_cast<char>(n); return deeper(n + 1) + page[0]; }
RADDLE_KERNEL void descend(raddle::Warp, int64_t n, int64_t& y) { y = deeper(n); }
RADDLE_KERNEL void fall(raddle::Warp, raddle::Out<double, 1> y) { *(volatile int*)8 = 1; y[0] = 0; }
"""
TWICE = "inline double twice(double x) { return 2 * x; }\n"
FOLD = '@kernel="all.cu" (int length, boolean flipped, float sum, float least, float most) fold(float x[], boolean both, string word, int k);\n'


def lines_of(text):
    return sorted(text.splitlines())


class ForeignFolder(Folder):
    def __init__(self, raddle, path):
        super().__init__(raddle, path)
        (self.path / "cache").mkdir()
        self.cache = {"XDG_CACHE_HOME": str(self.path / "cache")}

    def make_library(self):
        self.write("fill.c", LIBRARY)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "fill.so", "fill.c"], cwd=self.path, check=True)

    def make_kernels(self):
        (self.path / "parts").mkdir()
        self.write("parts/twice.h", TWICE)
        self.write("all.cu", KERNELS)


MODES = ("", "-O0 ", "--interpret ", "--workers=1 ", "--scheduler-seed=3 ")


def library_fills_arrays(folder):
    folder.make_library()
    folder.write("a.df", LIBRARY_SCRIPT)
    folder.write("b.df", LIBRARY_SCRIPT.replace("@library", "@isolate @library"))
    for mode in MODES:
        for script in ("a.df", "b.df"):
            expect(lines_of(folder.run(f"run {mode}{script}").stdout), PRINTED)


def isolated_library_that_crashes_while_it_fills(folder):
    folder.make_library()
    folder.write("a.df", '@isolate @library="./fill.so" (float y[n]) fall(int n);\ntrace(fall(3));\n')
    folder.run("run a.df", 1, "", "`fall` was ended by signal 6")


def extents_that_can_not_be(folder):
    folder.make_library()
    folder.write("a.df", '@library="./fill.so" (float y[m]) scale(float x[n], float by, int m);\n'
                         "@param int m = 1;\nfloat x[2] = [1.0, 2.0];\ntrace(scale(x, 1.0, m));\n")
    folder.run("run a.df --m=-1", 1, "", "`y` can not have the extent -1")
    folder.run("run a.df --m=1000000000000", 1, "", "the array `y` needs")
    folder.write("b.df", '@library="./fill.so" (float y[n]) scale(float x[n, 2], float by);\n'
                         "float x[2, 1] = [[1.0], [2.0]];\ntrace(scale(x, 1.0));\n")
    folder.run("run b.df", 3, "", "`x` is to have the shape [:, 2], found [2, 1]")
    folder.write("c.df", '@library="./fill.so" (float y[n]) scale(float x[n, 2], float by);\nimport arrays;\n'
                         "@param int columns = 1;\ntrace(scale(ones(2, columns), 1.0));\n")
    folder.run("run c.df", 1, "", "`x` is to have the shape [:, 2], found [2, 1]")


def kernels_do_what_libraries_do(folder):
    folder.make_kernels()
    folder.write("a.df", LIBRARY_SCRIPT.replace('@library="./fill.so"', '@kernel="all.cu"'))
    for mode in MODES:
        expect(lines_of(folder.run(f"run {mode}a.df", env=folder.cache).stdout), PRINTED)


def kernel_with_scalars_and_words(folder):
    folder.make_kernels()
    folder.write("a.df", FOLD + """float x[];
foreach i in [0:99] { x[i] = i * 0.5; }
int l; boolean b; float s, low, high;
(l, b, s, low, high) = fold(x, false, "word", 4);
trace(l, b, s, low, high);
""")
    for mode in MODES:
        done = folder.run(f"run --stats {mode}a.df", env=folder.cache)
        expect(done.stdout, "trace: 4,1,2483.0,0.0,49.5\n")
        expect_in("calls of AppKernels by workers 1\n", done.stderr)


def kernel_is_compiled_once(folder):
    folder.make_kernels()
    folder.write("a.df", '@kernel="all.cu:scale" (float y[n]) f(float x[n], float by);\nfloat x[1] = [2.0];\n'
                         "trace(f(x, 3.0));\n")
    folder.run("run a.df", 0, "trace: [6.0]\n", env=folder.cache)
    # what was compiled before needs no compiler
    path = {"PATH": "/nowhere"}
    folder.run("run a.df", 0, "trace: [6.0]\n", env={**folder.cache, **path})
    folder.write("parts/twice.h", TWICE.replace("2", "3"))
    folder.run("run a.df", 1, "", "package clang-19", env={**folder.cache, **path})
    folder.run("run a.df", 0, "trace: [6.0]\n", env=folder.cache)
    folder.run("run --no-jit-cache a.df", 1, "", "package clang-19", env={**folder.cache, **path})


def edited_kernel_runs_points_again(folder):
    folder.write("k.cu", '#include "raddle_kernel.h"\n#include "more.h"\n'
                         "RADDLE_KERNEL void f(raddle::Warp, int64_t k, int64_t& y) { y = k * factor; }\n")
    folder.write("more.h", "constexpr int64_t factor = 2;\n")
    folder.write("a.df", '@param int k = 1;\n@kernel="k.cu" (int y) f(int k);\n@memo (int y) g(int k) { y = f(k); }\n'
                         "@result int r = f(k);\n@result int s = g(k);\n")
    expect(folder.run("sweep -q -p k=1,2 -o -  a.df", env=folder.cache).stdout.splitlines()[1][:6], "1,2,2,")
    folder.write("more.h", "constexpr int64_t factor = 5;\n")
    expect(folder.run("sweep -q -p k=1,2 -o -  a.df", env=folder.cache).stdout.splitlines()[1][:6], "1,5,5,")


def kernels_that_do_not_fit(folder):
    folder.make_kernels()
    folder.write("a.df", '@kernel="all.cu" (float y[n]) scale(float x[n], float by, int z);\nfloat x[1] = [2.0];\n'
                         "trace(scale(x, 1.0, 2));\n")
    told = folder.run("run a.df", 1, "", "no matching function for call to 'scale'", env=folder.cache).stderr
    expect_in("scale(warp, x_, by_, z_, y_);", told)
    expect_in("all.cu:7:20: note:", told)
    folder.write("bad.cu", '#include "raddle_kernel.h"\nRADDLE_KERNEL void f(raddle::Warp, int64_t x, int64_t& y) {\n  y = z;\n}\n')
    folder.write("d.df", '@kernel="bad.cu" (int y) f(int x);\ntrace(f(1));\n')
    told = folder.run("run d.df", 1, "", "bad.cu:3:7: error: use of undeclared identifier 'z'", env=folder.cache).stderr
    if "/tmp" in told:
        raise Fault(f"names our own files: {told!r}")
    # the error comes first, whatever clang warns of, and also where it is in our own files
    folder.write("bad.cu", '#include "raddle_kernel.h"\ninline int g(int a) { if (a = 3) return 1; }\n'
                           "RADDLE_KERNEL double f(raddle::Warp, int64_t x, int64_t& y) { y = x; return g(3); }\n")
    folder.run("run d.df", 1, "", "can not call `f` of `bad.cu`: a kernel returns nothing, or an int that is 0 if all is well [run_time]", env=folder.cache)
    folder.write("bad.cu", '#include "raddle_kernel.h"\n__device__ inline int g(int a) { if (a = 3) return 1; }\n'
                           "RADDLE_KERNEL void f(raddle::Warp, int64_t x, int64_t& y) { raddle::Out<double, 2> a; a(1) = 2; }\n")
    told = folder.run("run d.df", 1, "", "can not compile `bad.cu`: [run_time]\nraddle_kernel.h:", env=folder.cache).stderr
    expect_in("an index for each dimension", told)
    expect_in("bad.cu:3:", told)
    told = folder.run("run --gpus simulated:whole --stats d.df", 1, env=folder.cache).stderr
    expect(told.count("an index for each dimension"), folder.run("run d.df", 1, env=folder.cache).stderr.count("an index for each dimension"))
    expect_in("not on devices, AppKernel at d.df:1:26: it can not be compiled\n", told)
    # an output by value, or const: what the kernel writes would be lost
    for output, told in (("double y", "conversion from 'const OutputByReference<double>' to 'double'"),
                         ("const double& y", "type 'const double &' with initializer of type 'const OutputByReference<double>'")):
        folder.write("lost.cu", '#include "raddle_kernel.h"\nRADDLE_KERNEL void f(raddle::Warp, double x, ' + output + ") {}\n")
        folder.write("e.df", '@kernel="lost.cu" (float y) f(float x);\ntrace(f(1.0));\n')
        folder.run("run e.df", 1, "", told, env=folder.cache)
    folder.write("lost.cu", '#include "raddle_kernel.h"\n__global__ void f(double x, double* y) { *y = x; }\n')
    folder.run("run e.df", 1, "", "lost.cu:2:1: error: an AppKernel is RADDLE_KERNEL void name(", env=folder.cache)


def the_library_s_kernels_need_no_compiler(folder):
    script = f"{ROOT}/tests/golden/language/warp_kernels.df"
    for gpus in ("none", "simulated:whole"):
        done = folder.run(f"run --no-jit-cache --stats --gpus {gpus} {script}", env={"PATH": "/nowhere", "XDG_CACHE_HOME": str(folder.path)})
        expect(sorted(done.stdout.splitlines()), sorted((ROOT / "tests/golden/language/warp_kernels.out").read_text().splitlines()))
        expect(("calls on device 0, simulated 28\n" in done.stderr, "AppKernel at" in done.stderr), (gpus != "none", False))
    # one that is declared otherwise is another one
    folder.write("a.df", '@kernel="<kernels.cu>:dot" (float product) other(float a[m], float b[m]);\nimport arrays;\ntrace(other(ones(2), ones(2)));\n')
    folder.run("run a.df", 1, "", "package clang-19", env={"PATH": "/nowhere", "XDG_CACHE_HOME": str(folder.path)})


def kernels_are_cuda_for_nvcc_too(folder):
    """Where it is: to its users' tools a file with kernels is one of theirs."""
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not nvcc:
        return "left out, as there is no nvcc"
    folder.make_kernels()
    for file in [ROOT / "gpu/kernels/kernels.cu", ROOT / "examples/md_lite.cu", folder.path / "all.cu"]:
        done = subprocess.run([nvcc, "-std=c++17", "-c", "-I", str(ROOT / "gpu/kernels"), str(file), "-o", str(folder.path / "all.o")],
                              capture_output=True, text=True, check=False)
        expect((done.returncode, done.stderr), (0, ""))
    return None


LANES = """#include "raddle_kernel.h"
using raddle::In, raddle::Out, raddle::Warp;
RADDLE_KERNEL void good(Warp warp, In<double, 1> x, Out<double, 1> y, double& norm, int64_t& count) {
  warp.for_each(x.size(), [&](int64_t i) { y[i] = 2 * x[i]; });
  norm = warp.sum(x.size(), [&](int64_t i) { return y[i] * x[i]; });
  warp.for_each(x.size(), [&](int64_t i) { if (x[i] > 2) raddle::add(count, 1); });
}
RADDLE_KERNEL void by_each(Warp warp, In<double, 1> x, Out<double, 1> y) {
  warp.for_each(x.size(), [&](int64_t i) { y[i] = x[i]; });
  y[0] += 1;
}
RADDLE_KERNEL void neighbour(Warp warp, In<double, 1> x, Out<double, 1> y) {
  warp.for_each(x.size(), [&](int64_t i) { y[i] = x[i] + (i == 0 ? 0 : y[i - 1]); });
}
RADDLE_KERNEL void added(Warp warp, In<double, 1> x, double& total) {
  double own = 0;
  warp.for_each(x.size(), [&](int64_t i) { own += x[i]; });
  total = own;
}
RADDLE_KERNEL void outside(Warp warp, In<double, 1> x, Out<double, 1> y) {
  warp.for_each(x.size(), [&](int64_t i) { y[i] = x[i + 1]; });
}
RADDLE_KERNEL void below(Warp warp, In<double, 2> x, Out<double, 1> y) {
  warp.for_each(y.size(), [&](int64_t i) { y[i] = x(i, -1); });
}
RADDLE_KERNEL void nested(Warp warp, In<double, 1> x, Out<double, 1> y) {
  warp.for_each(x.size(), [&](int64_t i) { y[i] = warp.sum(x.size(), [&](int64_t k) { return x[k]; }); });
}
RADDLE_KERNEL void uneven(Warp warp, In<double, 1> x, Out<double, 1> y) {
  int64_t first = x.size();
  warp.for_each(x.size(), [&](int64_t i) { first = i; });
  if (first < x.size()) warp.once([&] { y[0] = 1; });
}
RADDLE_KERNEL int returned(Warp warp, In<double, 1> x, Out<double, 1> y) {
  static int64_t calls = 0;
  warp.once([&] { y[0] = ++calls; });
  return 0;
}
RADDLE_KERNEL void flags(Warp warp, In<int64_t, 1> x, Out<bool, 1> odd, Out<float, 1> half) {
  warp.for_each(x.size(), [&](int64_t i) { odd[i] = x[i] % 2 != 0; half[i] = x[i] / 2.f; });
}
"""


GOOD_BY_LANES = """import arrays;
@kernel="lanes.cu:good" (float y[n], float norm, int count) good(float x[n]);
@kernel="lanes.cu:flags" (boolean odd[n], float32 half[n]) flags(int x[n]);
(y, norm, count) = good(linspace(1.0, 3.0, 50));
(odd, half) = flags(arange(70));
(none, _, _) = good(zeros(0));
trace(sum(y), norm, count, odd[69], half[69], size(none));
"""
LIBRARY_BY_LANES = """import arrays;
import kernels;
trace(warp_dot(ones(100), ones(100)), sum(warp_matmul(ones(7, 9), ones(9, 40))), warp_pi(1000, 1));
"""
BAD_BY_LANES = (
    ("by_each", "float y[n]", "x", "`y[0]` is 33, and 2 on workers"),
    ("neighbour", "float y[n]", "x", "`y[32]` is "),
    ("added", "float total", "x", "`total` is "),
    ("outside", "float y[n]", "x", "an index is 50 where there are 50"),
    ("nested", "float y[n]", "x", "a function of the warp is called within another one"),
    ("uneven", "float y[n]", "x[0:9]", "some lanes come to a function of the warp, and others do not"),
    ("returned", "float y[n]", "x", "the last one first, `y[0]` is 2, and 1 on workers"))


def kernels_are_checked_by_lanes(folder):
    """What one lane does otherwise than 32 is an error where the call stands; --check-kernels changes nothing else."""
    folder.write("lanes.cu", LANES)
    for script in (GOOD_BY_LANES, LIBRARY_BY_LANES):
        folder.write("good.df", script)
        plain = folder.run("run good.df", env=folder.cache).stdout
        folder.run("run --check-kernels good.df", out=plain, env=folder.cache)
    folder.run("run --check-kernels --gpus all good.df", 2, "", "--gpus excludes --check-kernels", env=folder.cache)
    for kernel, output, argument, why in BAD_BY_LANES:
        folder.write("bad.df", f'import arrays;\n@kernel="lanes.cu:{kernel}" ({output}) f(float x[n]);\nx = linspace(1.0, 3.0, 50);\n'
                               f'y = f({argument});\ntrace(repr(y));\n')
        folder.run("run bad.df", env=folder.cache)
        done = folder.run("run --check-kernels bad.df", 1, "", env=folder.cache)
        expect_in("error: `f` is no kernel for GPUs: where 32 lanes run it, ", done.stderr)
        expect_in("= called at bad.df:4:5", done.stderr)
        expect_in(why, done.stderr)
    folder.write("bad.df", 'import arrays;\n@kernel="lanes.cu:below" (float y[n]) f(float x[n, m]);\ny = f(ones(4, 3));\ntrace(sum(y));\n')
    expect_in("where 32 lanes run it, an index is -1 where there are 3 [run_time]", folder.run("run --check-kernels bad.df", 1, "", env=folder.cache).stderr)


def kernel_that_fails_or_crashes(folder):
    folder.make_kernels()
    folder.write("a.df", 'import arrays;\n@kernel="all.cu" (float total, float c[n, m], boolean large[n]) products(float a[n], int k[m]);\n'
                         "float t, c[:, :];\nboolean b[:];\n(t, c, b) = products(ones(6), dense([1]));\ntrace(t);\n")
    folder.run("run a.df", 1, "", "`products` returned 3", env=folder.cache)
    folder.write("b.df", '@kernel="all.cu" (float y[1]) fall();\ntrace(fall());\n')
    folder.run("run b.df", -11, "", "b.df:1:31: error: `fall` of `all.cu` has ended the run: Segmentation fault [run_time]", env=folder.cache)


ENDING_SCRIPT = """import io;
app (void v) hello() { "echo" "hello" }
@param int n = 0;
(int r) f(int n) { r = g(n); }
trace("before");
hello() => trace(f(n));
"""


def ending_script(declaration, function):
    return f"{declaration} (int r) {function}(int n);\n" + ENDING_SCRIPT.replace("g(n)", f"{function}(n)")


def calls_that_would_end_the_run(folder):
    folder.write("end.cpp", ENDINGS)
    subprocess.run(["c++", "-shared", "-fPIC", "-w", "-o", "end.so", "end.cpp"], cwd=folder.path, check=True)
    for function, told in (("leave", "`leave` has called `exit(0)`"), ("leave_at_once", "`leave_at_once` has called `_exit(0)`"),
                           ("leave_quickly", "`leave_quickly` has called `quick_exit(0)`"),
                           ("leave_thread", "`leave_thread` has called `pthread_exit`"),
                           ("throw_it", "`throw_it` threw an exception: too large")):
        folder.write("a.df", ending_script('@library="./end.so"', function))
        for mode in MODES:
            folder.run(f"run {mode}a.df", 1, "trace: before\nhello\n", f"a.df:1:29: error: {told}")
        folder.write("b.df", f'@library="./end.so" (int r) {function}(int n);\n@param int n = 0;\n@result int r;\n'
                             f"if (n == 2) {{ r = {function}(0); }} else {{ r = n; }}\n")
        rows = folder.run("sweep -q -p n=1,2,3 -o - b.df", 4).stdout.splitlines()
        expect([row.split(",")[:3] for row in rows[1:]], [["1", "1", "ok"], ["2", "", "failed"], ["3", "3", "ok"]])
    folder.write("a.df", ending_script('@library="./end.so"', "fork_and_leave"))
    folder.run("run a.df --n=7", 0, "trace: before\nhello\ntrace: 7\n")
    folder.write("a.df", ending_script('@isolate @library="./end.so"', "leave"))
    folder.run("run a.df", 1, "trace: before\nhello\n", "`leave` ended its process with exit code 0")


def calls_that_end_the_run(folder):
    """What was done is kept, and it is told whose code it was."""
    folder.write("end.cpp", ENDINGS)
    subprocess.run(["c++", "-shared", "-fPIC", "-w", "-o", "end.so", "end.cpp"], cwd=folder.path, check=True)
    it = "a.df:1:29: error: `{}` of `./end.so` has ended the run: "
    for function, code, told in (("fall", -6, "Aborted"), ("fault", -11, "Segmentation fault"), ("divide", -8, "Floating point exception"),
                                 ("descend", -11, "Segmentation fault: its stack is full"),
                                 ("throw_uncaught", 1, "an exception that it did not catch: too large"),
                                 ("leave_later", 1, "it has called `exit(0)`"), ("fault_later", -11, None)):
        folder.write("a.df", ending_script('@library="./end.so"', function))
        error = "has ended the run: Segmentation fault" if told is None else it.format(function) + told
        folder.run("run a.df", code, "trace: before\nhello\n", error)
        if function == "descend":  # a new worker's stack is another one than the first one's
            folder.run("run --workers=2 --scheduler-seed=5 a.df", code, None, error)
        expect_in("failed               1 ok", folder.run("runs list").stdout.splitlines()[-1])
    for function, told in (("leave_late", "it has called `exit(0)`"), ("throw_late", "an exception that it did not catch: too large")):
        folder.write("a.df", f'import stats;\n@library="./end.so" (int r) {function}(int n);\n'  # by machine code
                             f"int a[];\nforeach i in [0 : 999999] {{ a[i] = {function}(i); }}\ntrace(sum_integer(a));\n")
        folder.run("run --leaf-threshold=0 a.df", 1, "", f"a.df:2:29: error: `{function}` of `./end.so` has ended the run: {told}")
    folder.write("a.df", ending_script('@library="./end.so"', "fall"))
    expect_in('"output":"trace: before\\nhello\\n"', folder.run("run --json a.df", -6).stdout)
    folder.write("b.df", '@library="./end.so" (int r) fall(int n);\n@param int n = 0;\n@result int r;\n'
                         "if (n == 4) { r = fall(0); } else { r = n; }\n")
    folder.run("sweep -j 1 -p n=1,2,3,4,5 b.df", -6, err="b.df:1:29: error: `fall` of `./end.so` has ended the run: Aborted")
    folder.run("sweep -p n=1,2,3,5 b.df", err="3 from the record")
    session = subprocess.run([folder.raddle], cwd=folder.path, input='@library="./end.so" (int r) leave(int n);\nleave(0);\ntrace(3);\n',
                             text=True, capture_output=True, timeout=60, check=False)
    expect_in("`leave` has called `exit(0)`, which would end the run", session.stderr)
    expect_in("trace: 3", session.stdout)


def kernels_that_end_the_run(folder):
    folder.make_kernels()
    for function, code, told in (("leave", 1, "`leave` has called `exit(0)`, which would end the run"),
                                 ("leave_at_once", 1, "`leave_at_once` has called `_exit(0)`, which would end the run"),
                                 ("drop", -6, "`drop` of `all.cu` has ended the run: Aborted"),
                                 ("descend", -11, "`descend` of `all.cu` has ended the run: Segmentation fault: its stack is full")):
        folder.write("a.df", ending_script('@kernel="all.cu"', function))
        folder.run("run a.df", code, "trace: before\nhello\n", "a.df:1:26: error: " + told, env=folder.cache)
    folder.write("a.df", ending_script('@kernel="all.cu"', "refuse"))
    folder.run("run a.df --n=3", 1, "trace: before\nhello\n", "a.df:1:26: error: `refuse`: n is too large [run_time]", env=folder.cache)


def tcl_that_would_end_the_run(folder):
    head = '(int y) f(int n) "turbine" "0.1" [ "set <<y>> 1; %s" ];\n' + ENDING_SCRIPT.replace("(int r) f(int n) { r = g(n); }\n", "")
    for code, told in (("exit", "`f` has called `exit`, which would end the run"), ("exit 3", "`f` has called `exit 3`, which would end the run"),
                       ("catch {exit 0}", "`f` has called `exit 0`, which would end the run"),
                       ("interp create x; x eval exit", "`f` has ended the process of its rank: it ended with exit code 0"), ("error {}", "an error without a text")):
        folder.write("a.df", head % code)
        for mode in MODES:
            folder.run(f"run {mode}a.df", 1, "trace: before\nhello\n", "a.df:1:9: error: " + told)
    folder.write("lib/quits.tcl", "package provide quits 1.0\nexit 0\n")
    folder.write("lib/pkgIndex.tcl", 'package ifneeded quits 1.0 [list source [file join $dir quits.tcl]]\n')
    folder.write("a.df", '(int y) f(int n) "quits" "1.0" [ "set <<y>> 1" ];\ntrace(f(1));\n')
    folder.run("run -r lib a.df", 1, "", "a.df:1:9: error: `f` has called `exit 0`")


def tcl_packages_belong_to_ranks(folder):
    """A package in C keeps what it keeps for its rank; one that crashes fails its call, and the rank goes on anew."""
    folder.write("count.c", (DATA / "count.c").read_text(encoding="utf-8"))
    folder.write("lib/pkgIndex.tcl", "package ifneeded count 1.0 [list load [file join $dir libcount.so] Count]\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "lib/libcount.so", "count.c"], cwd=folder.path, check=True)
    folder.write("a.df", (DATA / "count.df").read_text(encoding="utf-8"))
    for mode in ("", "-O0 ", "--interpret "):
        folder.run(f"run -j 3 {mode}-r lib a.df", 0, "trace: 0,3\ntrace: 1,1\ntrace: crashed,-1\ntrace: 2,1\n", "Segmentation fault")


def r_in_a_resident_worker(folder):
    """Points come from a script that R runs inside of a package, on a thread of its own; and R on the rank's own stack."""
    library = Path("/usr/lib/R/lib/libR.so")
    if not library.exists():
        return f"not tried: no {library}"
    folder.write("resident.c", (DATA / "resident.c").read_text(encoding="utf-8"))
    folder.write("lib/pkgIndex.tcl", "package ifneeded resident 0.1 [list load [file join $dir libresident.so] Resident]\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "lib/libresident.so", "resident.c", str(library)], cwd=folder.path, check=True)
    folder.write("a.df", (DATA / "resident.df").read_text(encoding="utf-8"))
    env = {"R_HOME": str(library.parents[1]), "TURBINE_RESIDENT_WORK_WORKERS": "1"}
    for workers in (2, 3, 8):
        folder.run(f"run -j {workers} -r lib a.df", 0, "trace: a600\nbest 5.25 of 45 points\n", env=env)
    return None


def scalars_keep_their_types(folder):
    folder.make_kernels()
    for declared, called in (("(int y) wide(float k)", "wide(2.5)"), ("(float y) thrown(int x)", "thrown(1)"), ("(int y) wide(boolean k)", "wide(true)")):
        folder.write("a.df", f'@kernel="all.cu" {declared};\ntrace({called});\n')
        told = folder.run("run a.df", 1, "", "no matching function for call", env=folder.cache).stderr
        expect_in("no known conversion", told)


def status_and_exceptions(folder):
    folder.make_kernels()
    folder.write("a.df", '@kernel="all.cu" (int y) wide(int k);\ntrace(wide(4294967296));\n')
    folder.run("run a.df", 1, "", "`wide` returned 4294967296", env=folder.cache)
    folder.write("b.df", '@param float x = 1.0;\n@kernel="all.cu" (float y) thrown(float x);\n@result float y = thrown(x);\n')
    folder.run("run b.df --x=3", 1, "", "`thrown` threw an exception: too large", env=folder.cache)
    folder.run("run b.df --x=-1", 1, "", "of a type without a text", env=folder.cache)
    rows = folder.run("sweep -q -p x=1,3,2 -o - b.df", 4, env=folder.cache).stdout.splitlines()
    expect([row.split(",")[:3] for row in rows[1:]], [["1", "1.0", "ok"], ["3", "", "failed"], ["2", "2.0", "ok"]])


def points_call_their_own_kernels(folder):
    """Code that leaves something to be destructed can not be unloaded: none may be taken for another."""
    folder.make_kernels()
    folder.write("a.df", '@param int n = 1;\n@kernel="all.cu" (float y) ones(int n);\n@kernel="all.cu" (float y) hundreds(int n);\n'
                         "@result float y = ones(n);\n@result float z = hundreds(n);\n")
    rows = folder.run("sweep -q -j 4 -p n=1:200 -o - a.df", env=folder.cache).stdout.splitlines()[1:]
    expect([row.split(",")[:4] for row in rows], [[str(n), f"{n}.0", f"{100 * n}.0", "ok"] for n in range(1, 201)])


def kernels_that_are_not_there(folder):
    """Told before the run begins, whether or not it would call them; what only the compiler can know is left to it."""
    folder.make_kernels()
    os.mkfifo(folder.path / "pipe.cu")
    for name, told in (("none.cu", "can not read `none.cu`: no such file or directory"), ("pipe.cu", "can not read `pipe.cu`: it is no regular file"),
                       ("all.cu:scael", "`all.cu` has no function `scael`"), ("<kernels.cu>:warp_dot", "`<kernels.cu>` has no function `warp_dot`"),
                       ("<kernel.cu>:dot", "the library has no file `<kernel.cu>` of AppKernels")):
        folder.write("a.df", f'trace(1);\n@kernel="{name}" (int y) f(int x);\nif (false) {{ trace(f(1)); }}\n')
        for verb in ("run", "check", "sweep -q -p k=1"):
            folder.run(f"{verb} a.df", 3, "", f"a.df:2:9: error: an AppKernel can not be called: {told} [bad_kernel]\n")
    for name, told in (("all.cu:scael", "did you mean `scale`?"), ("<kernel.cu>:dot", "did you mean `<kernels.cu>`?"), ("<kernels.cu>:dott", "did you mean `dot`?"),
                       ("<kernels.cu>:warp_inverse", "it has `add`, `dot`, `summary`, ")):
        folder.write("a.df", f'@kernel="{name}" (int y) f(int x);\n')
        folder.run("check a.df", 3, "", "= help: " + told)
    folder.write("a.df", '@kernel="named.cu:f1" (int y) f(int x);\n')
    for text in ("// f1\n", "#define F(n) RADDLE_KERNEL void f##n(raddle::Warp, int64_t x, int64_t& y) { y = x; }\nF(1)\n", '#include "elsewhere.h"\n',
                 "#include <elsewhere.h>\n", "#define FILE <vector>\n#include FILE\n"):
        folder.write("named.cu", '#include <vector>\n#include <unistd.h>\n#include "raddle_kernel.h"\n' + text)
        folder.run("check a.df", 0, "", "")
    folder.write("named.cu", '#include <vector>\n#include "raddle_kernel.h"\n#include "parts.h"\n')
    folder.write("parts.h", "constexpr int64_t f12 = 2;\n")
    folder.run("check a.df", 3, "", "`named.cu` has no function `f1`")
    folder.write("parts.h", "RADDLE_KERNEL void f1(raddle::Warp, int64_t x, int64_t& y) { y = x; }\n")
    folder.run("check a.df", 0, "", "")


def session_calls_kernels(folder):
    folder.make_kernels()
    typed = 'import arrays;\n@kernel="all.cu" (float y[n]) scale(float x[n], float by);\ntrace(scale(ones(2), 3.0));\ntrace(scale(ones(2), 4.0));\n'
    done = subprocess.run([folder.raddle], cwd=folder.path, input=typed, env={**os.environ, **folder.cache}, text=True, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    expect_in("[3.0, 3.0]", done.stdout)
    expect_in("[4.0, 4.0]", done.stdout)


MPI = {"PATH": "/usr/bin:/bin", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def failures_in_processes_of_mpi(folder):
    there = "command -v mpiexec && python3 -c 'import mpi4py'"
    if subprocess.run(["sh", "-c", there], env=MPI, check=False, capture_output=True).returncode != 0:
        return "not tried: no mpiexec, or no mpi4py"
    code = "import turbine_helpers as t\\n\\nif t.get_task_comm().Get_rank() == 1: 1 // 0"
    folder.write("a.df", f'import python;\ntrace(@par=2 python_parallel_persist("{code}", "str(1)"));\n')
    folder.run("run a.df", 1, "", "ZeroDivisionError in process 1, line 3: ", env=MPI)
    folder.write("b.df", 'import python;\ntrace(@par=2 python_parallel_persist("", "1"));\n')
    folder.run("run b.df", 1, "", "expression did not return a string! It is of type int", env=MPI)
    folder.write("c.df", 'import python;\ntrace(python_parallel_persist("import os; os._exit(3)"));\n')
    folder.run("run c.df", 1, "", "python_parallel_persist: mpiexec ended with exit code 3", env=MPI)
    return None


def molecular_dynamics_keeps_energy(folder):
    """Of the kernel of examples/: what is lost in 2,000 steps is far below what goes to and fro."""
    folder.write("md_lite.cu", (ROOT / "examples/md_lite.cu").read_text(encoding="utf-8"))
    folder.write("a.df", """import arrays;
import math;
@kernel="md_lite.cu" (float moved[3, n, 3], float potential, float kinetic, float drift)
md_lite(float places[n, 3], float velocities[n, 3], float box, float step, int steps);
float x[27, 3], v[27, 3] = random_normal(27, 3);
foreach i in [0 : 26] { x[i, :] = dense([1.2 * (i %/ 9), 1.2 * (i %/ 3 %% 3), 1.2 * (i %% 3)]); }
float a[3, 27, 3], b[3, 27, 3], p, q, k, l, d, e;
(a, p, k, d) = md_lite(x, v, 3.6, 0.001, 200);
(b, q, l, e) = md_lite(a[0, :, :], a[1, :, :], 3.6, 0.001, 2000);
trace(abs_float((q + l) - (p + k)) < 5e-3, abs_float((q + l) - (p + k) - e) < 1e-10, abs_float(d) < 5e-3, abs_float(l - k) > 1.0, abs_float(sum(v[:, 0]) - sum(b[1, :, 0])) < 1e-10);
""")
    folder.run("run a.df", 0, "trace: 1,1,1,1,1\n", env=folder.cache)


TESTS = [
    library_fills_arrays,
    isolated_library_that_crashes_while_it_fills,
    extents_that_can_not_be,
    kernels_do_what_libraries_do,
    kernel_with_scalars_and_words,
    kernel_is_compiled_once,
    edited_kernel_runs_points_again,
    kernels_that_do_not_fit,
    the_library_s_kernels_need_no_compiler,
    kernels_are_cuda_for_nvcc_too,
    kernels_are_checked_by_lanes,
    kernel_that_fails_or_crashes,
    calls_that_would_end_the_run,
    calls_that_end_the_run,
    kernels_that_end_the_run,
    tcl_that_would_end_the_run,
    tcl_packages_belong_to_ranks,
    r_in_a_resident_worker,
    scalars_keep_their_types,
    status_and_exceptions,
    points_call_their_own_kernels,
    kernels_that_are_not_there,
    session_calls_kernels,
    failures_in_processes_of_mpi,
    molecular_dynamics_keeps_energy,
]


if __name__ == "__main__":
    main("foreign", "Tests code outside of the script that works on dense arrays.", TESTS, ForeignFolder)
