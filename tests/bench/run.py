#!/usr/bin/env python3
"""Benchmarks: the same program in C++, with OpenMP and in Raddle, side by side in one run.

    run.py [--repeats N] [--small] [NAME..]

Each variant is run once to warm up, then N times, the variants in turn, so that a noisy minute hits them all. Printed
are medians of the wall time of the whole process, the peak memory, and the ratio to the row's C++ program, or that with
OpenMP, with as many threads; build/bench/results.csv holds every single run. Outputs must agree. `first run` compiles,
`cached` takes what the warm-up has compiled.
"""

import csv
import resource
import statistics
from dataclasses import dataclass

from measure import BUILT, CACHE, CORES, RADDLE, RUN, Variant, compile_program, read_options, run_in_turn, run_once
from report import Line, Report


@dataclass(frozen=True)
class Row:
    name: str
    size: list            # words after the C++ program's name
    small: list           # the same for --small
    script: str
    option: str           # the script's parameter that takes the last word of `size`
    threads: tuple = (1, CORES)


ROWS = [
    Row("lynx_hare", ["examples/lynx_hare.csv", "1000000"], ["examples/lynx_hare.csv", "50000"],
        "examples/lynx_hare.df", "--points"),
    Row("fib", ["38"], ["30"], "tests/bench/fib.df", "--n"),
    Row("fill_and_sum", ["1000000"], ["100000"], "tests/bench/fill_and_sum.df", "--n"),
    Row("count", ["1000000000"], ["10000000"], "tests/bench/count.df", "--n"),
    Row("hello", [], [], "tests/bench/hello.df", "", (1,)),
    Row("hello_leaf", [], [], "tests/bench/hello_leaf.df", "", (1,)),
]


def script_variant(row, label, threads, size):
    command, environment = {"first run": (RADDLE, {}), "cached": (RUN, CACHE)}[label]
    arguments = [f"{row.option}={size[-1]}"] if size else []
    return Variant(label, threads, [*command, f"--workers={threads}", row.script, *arguments], environment)


def variants_of(row, size):
    result = [Variant("c++", 1, [compile_program(f"{row.name}.cpp", row.name), *size])]
    for threads in row.threads:
        if threads > 1:
            program = compile_program(f"{row.name}.cpp", f"{row.name}_openmp", ["-fopenmp"])
            result.append(Variant("openmp", threads, [program, *size]))
        result += [script_variant(row, label, threads, size) for label in ("first run", "cached")]
    return result


def rival_of(variant, variants):
    return next(v for v in variants if v.threads == variant.threads)


def peak_lines(row, variants, size):
    for v in variants:
        if v.label in ("first run", "cached"):
            yield Line(row.name, v.label, v.threads, v.peak_kib * 1024 / 1e6, "MB peak")


def rate_lines(row, variants, size):
    """Points a second and core, and the peak memory beside that of a hundredth of the points."""
    for v in variants:
        if v.label == "cached":
            points = int(size[-1])
            yield Line(row.name, v.label, v.threads, points / statistics.median(v.seconds) / v.threads / 1e9, "G/s a core")
            fewer = script_variant(row, v.label, v.threads, [str(points // 100)])
            run_once(fewer)
            yield Line(row.name, v.label, v.threads, v.peak_kib / fewer.peak_kib, "of 10^7's peak")


MORE_LINES = {"fill_and_sum": peak_lines, "count": rate_lines}


def measure_whole(names, small, repeats):
    with open(BUILT / "results.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["row", "variant", "threads", "repeat", "seconds", "peak_kib"])
        for row in ROWS:
            if row.name not in names:
                continue
            size = row.small if small else row.size
            variants = variants_of(row, size)
            run_in_turn(row.name, variants, repeats)
            for v in variants:
                median = statistics.median(v.seconds)
                ratio = median / statistics.median(rival_of(v, variants).seconds)
                yield Line(row.name, v.label, v.threads, median * 1e3, "ms", v.peak_kib, ratio)
                table.writerows([row.name, v.label, v.threads, i, f"{s:.6f}", v.peak_kib]
                                for i, s in enumerate(v.seconds))
            if row.name in MORE_LINES:
                yield from MORE_LINES[row.name](row, variants, size)


def main():
    known = [row.name for row in ROWS]
    options = read_options("Raddle beside C++ and OpenMP.", known)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    report = Report()
    for line in measure_whole(options.rows or known, options.small, options.repeats):
        report.add(line)


if __name__ == "__main__":
    main()
