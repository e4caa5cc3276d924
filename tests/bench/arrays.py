#!/usr/bin/env python3
"""Array programs: those of examples/arrays, the same with NumPy and by hand in C++, side by side in one run.

    arrays.py [--repeats N] [--small] [NAME..]

Each variant is run once to warm up, then N times, the variants in turn. Printed are medians of the wall time and of the
processor time of the whole process, random numbers included, the peak memory, and ratios to C++ with as many threads.
`c++` is the loops of arrays/arrays.cpp, fused, with -O3 -march=native; `c++ fast` has -ffast-math besides: only so GCC
takes vector functions, and adds the terms of a sum in another order. `fuse off` is without the pass fuse-loops.
"""

import resource
import statistics
from dataclasses import dataclass

from loops import agree, python_with_numpy
from measure import CACHE, HERE, RUN, THREADS, Variant, compile_program, read_options, run_in_turn
from report import Line, Report


@dataclass(frozen=True)
class Row:
    name: str
    size: tuple  # n, or n and steps
    small: tuple
    is_random: bool = True  # then the numbers of others are others
    script: str = ""        # if it is none of the examples


ROWS = [
    Row("black_scholes", (3_200_000,), (10_000,)),
    Row("black_scholes_float32", (3_200_000,), (10_000,), script="tests/bench/arrays/black_scholes_float32.df"),
    Row("mandelbrot", (1_000,), (50,), is_random=False, script="tests/bench/arrays/mandelbrot.df"),
    Row("logistic_regression", (200_000, 50), (200, 3), script="tests/bench/arrays/logistic_regression.df"),
    Row("jacobi", (2_000, 200), (50, 5)),
    Row("stencil27", (192, 20), (12, 3)),
    Row("heat", (500, 100), (30, 5), is_random=False),
    Row("life", (500, 100), (40, 5)),
    Row("nbody", (1_000, 100), (30, 3)),
    Row("runge_kutta", (200_000,), (100,), is_random=False, script="tests/bench/arrays/runge_kutta.df"),
    Row("monte_carlo", (1_000_000,), (1_000,), script="tests/bench/arrays/monte_carlo.df"),
    Row("tridiagonal", (2_000_000,), (100,), is_random=False, script="tests/bench/arrays/tridiagonal.df"),
]
PROGRAMS = {  # label: flags
    "c++": [],
    "c++ fast": ["-ffast-math"],
}


def prints(_, found):
    return bool(found.strip())


def variants_of(row, size):
    result = []
    words = [row.name, *map(str, size)]
    for threads in THREADS:
        parallel = ["-fopenmp"] if threads > 1 else []
        for label, flags in PROGRAMS.items():
            name = "_".join(["arrays", *label.split()[1:], *(["openmp"] if parallel else [])])
            program = compile_program("arrays/arrays.cpp", name, [*flags, *parallel])
            result.append(Variant(label, threads, [program, *words]))
    if python_with_numpy():
        command = [python_with_numpy(), str(HERE / "arrays" / "numpy_arrays.py"), *words]
        result.append(Variant("numpy", 1, command, {"OPENBLAS_NUM_THREADS": "1"}))
    options = [f"--{option}={value}" for option, value in zip(("n", "steps"), size)]
    script = row.script or f"examples/arrays/{row.name}.df"
    for threads in THREADS:
        result.append(Variant("raddle", threads, [*RUN, f"--workers={threads}", script, *options], dict(CACHE)))
    command = [*RUN, "--workers=1", "--disable-pass=fuse-loops", script, *options]
    result.append(Variant("fuse off", 1, command, dict(CACHE)))
    return result


def measure_arrays(names, small, repeats):
    for row in ROWS:
        if row.name not in names:
            continue
        variants = variants_of(row, row.small if small else row.size)
        run_in_turn(row.name, variants, repeats, prints if row.is_random else agree)
        base = {v.threads: v for v in variants if v.label == "c++"}
        for v in variants:
            first = base[v.threads]
            wall, processor = statistics.median(v.seconds), statistics.median(v.processor_seconds)
            yield Line(row.name, v.label, v.threads, wall * 1e3, "ms", v.peak_kib,
                       wall / statistics.median(first.seconds))
            yield Line(row.name, v.label, v.threads, processor * 1e3, "ms of processor",
                       to_best=processor / statistics.median(first.processor_seconds))


def main():
    known = [row.name for row in ROWS]
    options = read_options("Array programs beside NumPy and C++.", known)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    report = Report()
    for line in measure_arrays(options.rows or known, options.small, options.repeats):
        report.add(line)


if __name__ == "__main__":
    main()
