#!/usr/bin/env python3
"""Loops over numbers: the same in Raddle, in C++ and with NumPy, side by side in one run.

    loops.py [--repeats N] [--small] [NAME..]

Each variant is run once to warm up, then N times, the variants in turn. Printed are medians of the wall time and of the
processor time of the whole process, the peak memory, and ratios to the C++ program with as many threads.
`c++` is -O3 -march=native, `c++ fast` with -ffast-math as well: so GCC takes the vector functions of its mathematics,
which are not exact to the last digits. NumPy takes part where some python3 has it. Results must agree to six digits, as
sums are added up in different orders.
"""

import functools
import math
import resource
import statistics
import subprocess
import sys
from dataclasses import dataclass

from measure import CACHE, CORES, RUN, Variant, compile_program, read_options, run_in_turn
from report import Line, Report

SOURCE = "loops/loops.cpp"
AGREEMENT = 1e-6


@dataclass(frozen=True)
class Row:
    name: str
    size: tuple    # n, or n and steps
    small: tuple
    is_shared: bool = True  # by OpenMP: loops of a microsecond are better left to one thread


ROWS = [
    Row("bs", (3_200_000,), (10_000,)),
    Row("mandel", (1_000,), (64,)),
    Row("chain3", (1_000, 10_000), (100, 20), is_shared=False),
    Row("chain2", (1_000, 10_000), (100, 20), is_shared=False),
    Row("mem", (10_000_000,), (10_000,)),
    Row("nest", (1_000, 20), (40, 4)),
    Row("jac", (1_000,), (50,)),
]


@functools.cache
def python_with_numpy():
    """Debian's package is for the system's Python."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import numpy"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return python
    print("bench: no NumPy: install python3-numpy", file=sys.stderr)
    return None


def agree(expected, found):
    return math.isclose(float(expected.split()[-1]), float(found.split()[-1]), rel_tol=AGREEMENT)


def variants_of(row, size):
    words = [row.name, *map(str, size)]
    result = [Variant("c++", 1, [compile_program(SOURCE, "loops", ["-Wno-unknown-pragmas"]), *words]),
              Variant("c++ fast", 1, [compile_program(SOURCE, "loops_fast", ["-ffast-math", "-Wno-unknown-pragmas"]), *words])]
    if python_with_numpy():
        result.append(Variant("numpy", 1, [python_with_numpy(), "tests/bench/loops/numpy_loops.py", *words],
                              {"OPENBLAS_NUM_THREADS": "1"}))
    options = [f"--{option}={value}" for option, value in zip(("n", "steps"), size)]
    for threads in sorted({1, CORES}):
        if threads > 1 and row.is_shared:
            result.append(Variant("openmp", threads, [compile_program(SOURCE, "loops_openmp", ["-fopenmp"]), *words]))
        command = [*RUN, f"--workers={threads}", f"tests/bench/loops/{row.name}.df", *options]
        result.append(Variant("raddle", threads, command, dict(CACHE)))
    return result


def measure_loops(names, small, repeats):
    for row in ROWS:
        if row.name not in names:
            continue
        variants = variants_of(row, row.small if small else row.size)
        run_in_turn(row.name, variants, repeats, agree)
        for v in variants:
            rival = next((r for r in variants if r.label == "openmp" and r.threads == v.threads), variants[0])
            wall, processor = statistics.median(v.seconds), statistics.median(v.processor_seconds)
            yield Line(row.name, v.label, v.threads, wall * 1e3, "ms", v.peak_kib, wall / statistics.median(rival.seconds))
            yield Line(row.name, v.label, v.threads, processor * 1e3, "ms of processor",
                       to_best=processor / statistics.median(rival.processor_seconds))


def main():
    known = [row.name for row in ROWS]
    options = read_options("Loops over numbers beside C++ and NumPy.", known)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    report = Report()
    for line in measure_loops(options.rows or known, options.small, options.repeats):
        report.add(line)


if __name__ == "__main__":
    main()
