#!/usr/bin/env python3
"""The cost of a task: the same calls in Raddle and in libraries of tasks, side by side in one run.

    tasks.py [--repeats N] [--small] [CASE..]

Printed is the time of one call in ns: the medians of the wall time of whole processes at the case's size and at almost
nothing, their difference divided by the number of calls. So start and end of a program do not count, but everything that
a library does for a call does. The ratio is to the best of the peers with as many threads. `raddle` is what a user gets,
`interpreted` has no compiled leaf functions: they run in registers.
"""

import argparse
import csv
import statistics
from dataclasses import dataclass

from measure import BUILT, CORES, RADDLE, Variant, compile_program, run_in_turn


@dataclass(frozen=True)
class Case:
    name: str
    script: str
    size: int
    small: int
    calls: object            # number of calls for a size
    peers: tuple             # labels


def fib_calls(n):
    a, b = 1, 1
    for _ in range(n - 1):
        a, b = b, a + b + 1
    return b


CASES = [
    Case("fib", "tests/bench/fib.df", 30, 20, fib_calls, ("tbb", "libgomp", "libomp", "lua")),
    Case("split", "tests/bench/tasks/split.df", 1 << 20, 1 << 14, lambda n: 2 * n - 1, ("tbb", "libgomp", "libomp")),
    Case("flat", "tests/bench/tasks/flat.df", 1_000_000, 10_000, lambda n: n, ("tbb", "libgomp", "libomp", "starpu")),
    Case("chain", "tests/bench/tasks/chain.df", 1_000_000, 10_000, lambda n: n, ("tbb", "libgomp", "libomp", "starpu")),
    Case("stencil", "tests/bench/tasks/stencil.df", 20_000, 500, lambda n: 16 * n, ("libgomp", "libomp")),
]
NOTHING = 1


def program_of(label):
    """Path of a peer's program."""
    if label == "c++":
        return compile_program("tasks/sequential.cpp", "tasks_sequential")
    if label == "tbb":
        return compile_program("tasks/tbb.cpp", "tasks_tbb", ["-ltbb"])
    if label == "libgomp":
        return compile_program("tasks/openmp.cpp", "tasks_libgomp", ["-fopenmp"])
    if label == "libomp":
        return compile_program("tasks/openmp.cpp", "tasks_libomp", ["-fopenmp"], "clang++-19")
    return compile_program("tasks/starpu.cpp", "tasks_starpu", ["-I/usr/include/starpu/1.3", "-lstarpu-1.3"])


def variant(label, threads, case, size):
    if label in ("raddle", "interpreted"):
        options = ["--interpret"] if label == "interpreted" else []
        command = [*RADDLE, f"--workers={threads}", *options, case.script, f"--n={size}"]
        return Variant(label, threads, command)
    if label == "lua":
        return Variant(label, threads, ["lua5.4", f"tests/bench/tasks/{case.name}.lua", str(size)])
    environment = {"BENCH_THREADS": str(threads), "STARPU_NCPU": str(threads), "STARPU_SILENT": "1"}
    return Variant(label, threads, [program_of(label), case.name, str(size)], environment)


def measure(case, small, repeats):
    """[(variant, ns a call)]"""
    size = case.small if small else case.size
    kinds = [("c++", 1)]
    for threads in (1, CORES):
        kinds += [(label, threads) for label in (*case.peers, "interpreted", "raddle") if label != "lua" or threads == 1]
    full = [variant(label, threads, case, size) for label, threads in kinds]
    empty = [variant(label, threads, case, NOTHING) for label, threads in kinds]
    run_in_turn(case.name, full, repeats)
    run_in_turn(case.name, empty, repeats)
    calls = case.calls(size) - case.calls(NOTHING)
    return [(v, (statistics.median(v.seconds) - statistics.median(e.seconds)) / calls * 1e9) for v, e in zip(full, empty)]


def main():
    parser = argparse.ArgumentParser(description="The cost of a task.")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    options = parser.parse_args()
    unknown = set(options.cases) - {case.name for case in CASES}
    if unknown:
        parser.error(f"no case {', '.join(sorted(unknown))}: {', '.join(case.name for case in CASES)}")

    BUILT.mkdir(parents=True, exist_ok=True)
    with open(BUILT / "tasks.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["case", "variant", "threads", "ns_a_call", "peak_kib"])
        print(f"{'case':<8} {'variant':<12} {'threads':>7} {'ns a call':>10} {'peak MiB':>9} {'to best peer':>13}")
        for case in CASES:
            if options.cases and case.name not in options.cases:
                continue
            rows = measure(case, options.small, options.repeats)
            for v, cost in rows:
                peers = [c for w, c in rows if w.threads == v.threads and w.label in case.peers]
                print(f"{case.name:<8} {v.label:<12} {v.threads:>7} {cost:>10.1f} {v.peak_kib / 1024:>9.1f} "
                      f"{cost / min(peers):>13.2f}", flush=True)
                table.writerow([case.name, v.label, v.threads, f"{cost:.3f}", v.peak_kib])


if __name__ == "__main__":
    main()
