#!/usr/bin/env python3
"""What tasks, calls, loops and programs cost, beside libraries of tasks and C++, and whether that is what it should be.

    tasks.py [--repeats N] [--small] [CASE..]

A line for each figure: a median, its ratio to the best of the peers with as many threads, its target and whether it is
met. At the end a line for each target, with the worst of its cases. How each case is measured is written above
`calls.py`, `patterns.py`, `cholesky.py`, `run.py`, `sweeps.py` and `scheduler.py`; the targets are those of `targets.py`.
All figures are in build/bench/figures.csv.
"""

from dataclasses import dataclass

from calls import CASES, STRINGS, measure_calls, measure_grain, measure_strings
from cholesky import measure_cholesky
from measure import read_options
from patterns import measure_leaves, measure_patterns
from report import Report
from run import measure_whole
from scheduler import measure_simulated
from sweeps import measure_programs
from targets import PATTERNS


@dataclass(frozen=True)
class Group:
    cases: tuple
    measure: object      # generator of lines for names of cases, whether small, repeats
    repeats: int         # unless the command line says another number


GROUPS = [
    Group(tuple(case.name for case in CASES), measure_calls, 5),
    Group(tuple(case.name for case in STRINGS), measure_strings, 5),
    Group(("grain",), measure_grain, 5),
    Group(PATTERNS, measure_patterns, 3),
    Group(("leaves",), measure_leaves, 3),
    Group(("cholesky",), measure_cholesky, 3),
    Group(("fill_and_sum", "count", "hello", "hello_leaf"), measure_whole, 5),
    Group(("programs",), measure_programs, 3),
    Group(("simulated",), measure_simulated, 1),
]
INTRODUCTION = """\
ns a call: the time for all calls, divided by their number. ns a task: by the number of those that are tasks. The libraries
make each call a task, and so does `expanded`; in `forced` tasks are the points of loops, and of two calls that a function
waits for one: half of the calls of fib and split. us METG: the shortest task of which 75 % is computation.
Times are of whole processes; for calls, METG, leaves and cholesky less start and end. A number behind a case: elements of
a row, tiles a side, or NUMA domains. Peaks below that of this program itself read as its own.
"""


def main():
    options = read_options("What tasks cost, and what they should.", [c for g in GROUPS for c in g.cases], repeats=None)
    print(INTRODUCTION)
    report = Report()
    for group in GROUPS:
        chosen = [case for case in group.cases if not options.rows or case in options.rows]
        if chosen:
            for line in group.measure(chosen, options.small, options.repeats or group.repeats):
                report.add(line)
    report.print_summary()
    if options.small:
        print("These are figures of small sizes: they say nothing about the targets.")


if __name__ == "__main__":
    main()
