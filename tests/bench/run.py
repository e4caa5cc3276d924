#!/usr/bin/env python3
"""Benchmarks: the same program in C++, with OpenMP and in Raddle, side by side in one run.

    run.py [--repeats N] [--small] [NAME..]

Each variant is run once to warm up, then N times, the variants in turn, so that a noisy minute hits them all. Printed
are medians of the wall time of the whole process, the peak memory, and the ratio to the row's first variant with as
many threads; build/bench/results.csv holds every single run. Outputs must agree.
"""

import csv
import resource
import statistics
from dataclasses import dataclass

from measure import BUILT, CORES, RADDLE, Variant, compile_program, read_options, run_in_turn

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
    Row("hello", [], [], "tests/bench/hello.df", "", (1,)),
]


def variants_of(row, small):
    size = row.small if small else row.size
    arguments = [f"{row.option}={size[-1]}"] if size else []
    result = [Variant("c++", 1, [compile_program(f"{row.name}.cpp", row.name), *size])]
    for threads in row.threads:
        if threads > 1:
            program = compile_program(f"{row.name}.cpp", f"{row.name}_openmp", ["-fopenmp"])
            result.append(Variant("openmp", threads, [program, *size]))
        result.append(Variant("raddle", threads, [*RADDLE, f"--workers={threads}", row.script, *arguments]))
    return result


def rival_of(variant, variants):
    return next(v for v in variants if v.threads == variant.threads)


def main():
    options = read_options("Raddle beside C++ and OpenMP.", [row.name for row in ROWS])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    BUILT.mkdir(parents=True, exist_ok=True)
    with open(BUILT / "results.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["row", "variant", "threads", "repeat", "seconds", "peak_kib"])
        print(f"{'row':<14} {'variant':<8} {'threads':>7} {'median ms':>10} {'min ms':>9} {'peak MiB':>9} {'ratio':>7}")
        for row in ROWS:
            if options.rows and row.name not in options.rows:
                continue
            variants = variants_of(row, options.small)
            run_in_turn(row.name, variants, options.repeats)
            for v in variants:
                median = statistics.median(v.seconds)
                ratio = median / statistics.median(rival_of(v, variants).seconds)
                print(f"{row.name:<14} {v.label:<8} {v.threads:>7} {median * 1e3:>10.1f} {min(v.seconds) * 1e3:>9.1f} "
                      f"{v.peak_kib / 1024:>9.1f} {ratio:>7.2f}", flush=True)
                table.writerows([row.name, v.label, v.threads, i, f"{s:.6f}", v.peak_kib]
                                for i, s in enumerate(v.seconds))


if __name__ == "__main__":
    main()
