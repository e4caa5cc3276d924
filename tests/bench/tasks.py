#!/usr/bin/env python3
"""The cost of a task: the same calls in Raddle and in libraries of tasks, side by side in one run.

    tasks.py [--repeats N] [--small] [CASE..]

Printed is the time of one call in ns: the medians of the wall time of whole processes at the case's size and at almost
nothing, their difference divided by the number of calls. So start and end of a program do not count, nor does
compiling it, but everything that a library does for a call does. The ratio is to the best of the peers with as many threads. `raddle` is what a user gets,
`interpreted` has no compiled leaf functions: they run in registers. In `forced` every call that need not be the next one
is a task; in `expanded` no call runs in registers either: each is a task with a frame.
`patterns.py` and `cholesky.py` have the cases with tasks of some length.
"""

import csv
import statistics
from dataclasses import dataclass

from cholesky import measure_cholesky
from measure import BUILT, CORES, Variant, read_options, run_in_turn
from patterns import PATTERNS, measure_leaves, measure_patterns
from peers import MODES, peer, raddle


@dataclass(frozen=True)
class Case:
    name: str
    script: str
    size: int
    small: int
    calls: object            # number of calls for a size
    peers: tuple             # labels
    of_peers: str = ""       # their case, if it is called otherwise


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
    Case("links", "tests/bench/tasks/links.df", 1_000_000, 10_000, lambda n: n, ("tbb", "libgomp", "libomp", "starpu"),
         "chain"),
    Case("stencil", "tests/bench/tasks/stencil.df", 20_000, 500, lambda n: 16 * n, ("libgomp", "libomp")),
]
NOTHING = 1


def variant(label, threads, case, size):
    if label == "lua":
        return Variant(label, threads, ["lua5.4", f"tests/bench/tasks/{case.name}.lua", str(size)])
    if label in MODES:
        return raddle(label, threads, case.script, [f"--n={size}"])
    return peer("tasks", label, threads, [case.of_peers or case.name, str(size)])


def measure_case(case, small, repeats):
    """[(variant, ns a call)]"""
    size = case.small if small else case.size
    kinds = [("c++", 1)]
    for threads in (1, CORES):
        kinds += [(label, threads) for label in (*case.peers, *MODES) if label != "lua" or threads == 1]
    full = [variant(label, threads, case, size) for label, threads in kinds]
    empty = [variant(label, threads, case, NOTHING) for label, threads in kinds]
    run_in_turn(case.name, full, repeats)
    run_in_turn(case.name, empty, repeats)
    calls = case.calls(size) - case.calls(NOTHING)
    return [(v, (statistics.median(v.seconds) - statistics.median(e.seconds)) / calls * 1e9) for v, e in zip(full, empty)]


def measure_calls(cases, small, repeats):
    with open(BUILT / "tasks.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["case", "variant", "threads", "ns_a_call", "peak_kib"])
        print(f"{'case':<8} {'variant':<12} {'threads':>7} {'ns a call':>10} {'peak MiB':>9} {'to best peer':>13}")
        for case in cases:
            rows = measure_case(case, small, repeats)
            for v, cost in rows:
                peers = [c for w, c in rows if w.threads == v.threads and w.label in case.peers]
                print(f"{case.name:<8} {v.label:<12} {v.threads:>7} {cost:>10.1f} {v.peak_kib / 1024:>9.1f} "
                      f"{cost / min(peers):>13.2f}", flush=True)
                table.writerow([case.name, v.label, v.threads, f"{cost:.3f}", v.peak_kib])


def main():
    known = [*(case.name for case in CASES), *PATTERNS, "leaves", "cholesky"]
    options = read_options("The cost of a task.", known)
    chosen = options.rows or known

    BUILT.mkdir(parents=True, exist_ok=True)
    cases = [case for case in CASES if case.name in chosen]
    if cases:
        measure_calls(cases, options.small, options.repeats)
    patterns = [pattern for pattern in PATTERNS if pattern in chosen]
    if patterns:
        measure_patterns(patterns, options.small, options.repeats)
    if "leaves" in chosen:
        measure_leaves(options.small, options.repeats)
    if "cholesky" in chosen:
        measure_cholesky(options.small, options.repeats)


if __name__ == "__main__":
    main()
