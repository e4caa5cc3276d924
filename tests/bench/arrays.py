#!/usr/bin/env python3
"""Array programs: those of examples/arrays and the same with NumPy, side by side in one run.

    arrays.py [--repeats N] [--small] [NAME..]

Each variant is run once to warm up, then N times, the variants in turn. Printed are medians of the wall time and of the
processor time of the whole process, random numbers included, the peak memory, and ratios to NumPy. `fuse off` is without
the pass fuse-loops.
"""

import resource
import statistics
from dataclasses import dataclass

from loops import agree, python_with_numpy
from measure import CACHE, RUN, THREADS, Variant, read_options, run_in_turn
from report import Line, Report


@dataclass(frozen=True)
class Row:
    name: str
    size: tuple  # n, or n and steps
    small: tuple
    is_random: bool = True  # then NumPy's numbers are others


ROWS = [
    Row("black_scholes", (3_200_000,), (10_000,)),
    Row("heat", (500, 100), (30, 5), is_random=False),
    Row("jacobi", (2_000, 200), (50, 5)),
    Row("life", (500, 100), (40, 5)),
    Row("nbody", (1_000, 100), (30, 3)),
    Row("stencil27", (192, 20), (12, 3)),
]


def prints(_, found):
    return bool(found.strip())


def variants_of(row, size):
    result = []
    if python_with_numpy():
        command = [python_with_numpy(), "tests/bench/arrays/numpy_arrays.py", row.name, *map(str, size)]
        result.append(Variant("numpy", 1, command, {"OPENBLAS_NUM_THREADS": "1"}))
    options = [f"--{option}={value}" for option, value in zip(("n", "steps"), size)]
    script = f"examples/arrays/{row.name}.df"
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
        for v in variants:
            wall, processor = statistics.median(v.seconds), statistics.median(v.processor_seconds)
            yield Line(row.name, v.label, v.threads, wall * 1e3, "ms", v.peak_kib,
                       wall / statistics.median(variants[0].seconds))
            yield Line(row.name, v.label, v.threads, processor * 1e3, "ms of processor",
                       to_best=processor / statistics.median(variants[0].processor_seconds))


def main():
    known = [row.name for row in ROWS]
    options = read_options("Array programs beside NumPy.", known)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    report = Report()
    for line in measure_arrays(options.rows or known, options.small, options.repeats):
        report.add(line)


if __name__ == "__main__":
    main()
