#!/usr/bin/env python3
"""Tables I to III of Sundram, Lee, Aiken, "Task Fusion in Distributed Runtimes", of its five programs.

    fusion.py [--repeats N] [--small] [NAME..]

One operation is a statement there (fusion/). `off`, `tasks` and `kernels` are values of --fuse: each operation is a launch;
launches over the same points are one, and all arrays are made; arrays that only these read are not made. Printed are

  I    the processor time of an iteration, and what of `off` the others take: medians of N runs, the modes in turn, one
       worker, machine code from its cache. An iteration takes what a run with many takes longer than one with few;
  II   launches of an iteration, the share of its operations that are fused, and how many of them the shortest fused launch
       has, the mean one and the longest one;
  III  behind what the launches of an iteration stand that nothing was fused with.

Counts are those of --stats. Results have to be equal to the last digit. Beside them stands what the paper has for fusion of
tasks alone, on one GPU.
"""

import re
import resource
import statistics
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass

from measure import CACHE, ROOT, RUN, Variant, read_options, run_once

MODES = ("off", "tasks", "kernels")
BARRIERS = {"communication": "communication", "space": "another space", "points": "other points", "order": "an order",
            "limit": "a limit"}
PAPER = {"stencil27": (98, 1.43), "black_scholes": (98, 1.55), "mandelbrot": (100, 1.17), "logistic_regression": (75, 1.18),
         "jacobi": (63, 1.04)}  # percent fused, gain by tasks; on one GPU


@dataclass(frozen=True)
class Row:
    name: str
    sizes: tuple  # of --n
    steps: int


ROWS = [Row("stencil27", (12, 66), 1000), Row("black_scholes", (1_000, 100_000), 1000),
        Row("mandelbrot", (1_000, 100_000), 4000), Row("logistic_regression", (1_000, 100_000), 1000),
        Row("jacobi", (32, 500), 4000)]


@dataclass(frozen=True)
class Counts:
    """Of an iteration."""
    launches: float
    share: float     # of operations that are fused, in percent
    lengths: tuple   # of fused launches: least, mean, greatest
    barriers: tuple  # launches, by BARRIERS


def command(row, mode, *options):
    return [*RUN, "--workers=1", f"--fuse={mode}", *options, f"tests/bench/fusion/{row.name}.df"]


def counters(row, mode, steps):
    done = subprocess.run([*command(row, mode, "--stats"), f"--n={row.sizes[0]}", f"--steps={steps}"], cwd=ROOT,
                          capture_output=True, text=True, check=True)
    return Counter({name: int(value) for name, _, value in (line.rpartition(" ") for line in done.stderr.splitlines())
                    if name.startswith("launches")})


def counts(row, mode):
    few, many = counters(row, mode, 10), counters(row, mode, 20)

    def of(name):
        return (many[name] - few[name]) / 10

    # the counters of lengths have what is done once, too
    text = subprocess.run(command(row, mode, "--emit=opt"), cwd=ROOT, capture_output=True, text=True, check=True).stdout
    step = next(one for one in re.findall(r"^function @\S+ composite.*?^}", text, re.M | re.S)
                if re.match(r"function @(step|prices) ", one))
    lengths = [int(swallowed) + 1 for swallowed in re.findall(r" swallowed (\d+)", step)]
    mean = of("launches, loops in fused ones") / of("launches, fused") if of("launches, fused") else 0
    return Counts(of("launches"), 100 * of("launches, loops in fused ones") / of("launches, loops in them"),
                  (min(lengths, default=0), mean, max(lengths, default=0)),
                  tuple(of(f"launches, behind {name}") for name in BARRIERS.values()))


def measure_row(row, size, steps, repeats):
    """Processor time of an iteration in us, by mode."""
    times, outputs = {mode: [] for mode in MODES}, set()
    for number in range(repeats + 1):  # the first ones fill the cache
        for mode in MODES:
            seconds = []
            for count in (steps // 10, steps):
                variant = Variant(mode, 1, [*command(row, mode), f"--n={size}", f"--steps={count}"], dict(CACHE))
                seconds.append(run_once(variant)[1])
            outputs.add(variant.output)
            if number > 0:
                times[mode].append((seconds[1] - seconds[0]) / (steps - steps // 10) * 1e6)
    if len(outputs) != 1:
        sys.exit(f"bench: {row.name}: other results with fusion: {outputs}")
    return {mode: statistics.median(times[mode]) for mode in MODES}


def print_times(rows, is_small, repeats):
    print(f"I{'':19}{'n':>9}{'us an iteration: off, tasks, kernels':>40}{'tasks':>8}{'kernels':>9}{'the paper, tasks':>18}")
    for row in rows:
        for size in row.sizes[:1] if is_small else row.sizes:
            steps = 20 if is_small else max(20, row.steps * row.sizes[0] // size)
            times = measure_row(row, size, steps, repeats)
            print(f"{row.name:20}{size:>9}{' / '.join(f'{times[mode]:.1f}' for mode in MODES):>40}"
                  f"{times['off'] / times['tasks']:>8.2f}{times['off'] / times['kernels']:>9.2f}"
                  f"{PAPER[row.name][1]:>18.2f}", flush=True)


def print_counts(rows):
    found = {(row, mode): counts(row, mode) for row in rows for mode in MODES}
    print(f"\nII{'':18}{'mode':>9}{'launches':>10}{'fused, %':>10}{'least, mean, greatest':>24}{'the paper, %':>14}")
    for (row, mode), each in found.items():
        least, mean, greatest = each.lengths
        paper = f"{PAPER[row.name][0]:>14}" if mode == "tasks" else ""
        print(f"{row.name:20}{mode:>9}{each.launches:>10g}{each.share:>10.0f}{f'{least} / {mean:.1f} / {greatest}':>24}{paper}")
    print(f"\nIII{'':17}{'mode':>9}" + "".join(f"{name:>15}" for name in BARRIERS))
    for (row, mode), each in found.items():
        if mode != "off":
            print(f"{row.name:20}{mode:>9}" + "".join(f"{count:>15g}" for count in each.barriers))


def main():
    options = read_options("What fusion of loops gives.", [row.name for row in ROWS])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    rows = [row for row in ROWS if not options.rows or row.name in options.rows]
    print_times(rows, options.small, 1 if options.small else options.repeats)
    print_counts(rows)


if __name__ == "__main__":
    main()
