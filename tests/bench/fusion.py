#!/usr/bin/env python3
"""What fusion of loops over arrays gives, on the five programs of Sundram, Lee, Aiken, "Task Fusion in Distributed Runtimes".

    fusion.py [--repeats N] [--small] [NAME..]

One operation is a statement there (fusion/). `off` is without the pass fuse-loops. Printed are the launches of an
iteration, the share of those that are fused away, the processor time of an iteration, and the ratio of both times. An
iteration takes what a run with many takes longer than one with few, by iterations: medians of N pairs, both in turn, one
worker, machine code from its cache. Results have to be equal to the last digit. Beside them stands what the paper has for
fusion of tasks alone, on one GPU.
"""

import re
import resource
import statistics
import subprocess
import sys
from dataclasses import dataclass

from measure import CACHE, ROOT, RUN, Variant, read_options, run_once

MODES = {"off": ["--disable-pass=fuse-loops"], "fused": []}
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


def launches(script, mode):
    """How many loops of the script's own function are launches; of its statements, if it has none."""
    command = [*RUN, *MODES[mode], "--emit=opt", script]
    text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    functions = re.findall(r"^function @\S+ composite.*?^}", text, re.M | re.S)
    own = [one for one in functions if " !0:" in one.splitlines()[0]]
    step = next((one for one in own if not one.startswith("function @main ")), own[0])
    return len(re.findall(r"foreach_range .* launch \d+ ", step))


def measure_row(row, size, steps, repeats):
    script = f"tests/bench/fusion/{row.name}.df"
    times, outputs = {mode: [] for mode in MODES}, set()
    for number in range(repeats + 1):  # the first ones fill the cache
        for mode in MODES:
            seconds = []
            for count in (steps // 10, steps):
                command = [*RUN, "--workers=1", *MODES[mode], script, f"--n={size}", f"--steps={count}"]
                variant = Variant(mode, 1, command, dict(CACHE))
                seconds.append(run_once(variant)[1])
            outputs.add(variant.output)
            if number > 0:
                times[mode].append((seconds[1] - seconds[0]) / (steps - steps // 10) * 1e6)
    if len(outputs) != 1:
        sys.exit(f"bench: {script}: other results with fusion: {outputs}")
    return {mode: statistics.median(times[mode]) for mode in MODES}


def main():
    options = read_options("What fusion of loops gives.", [row.name for row in ROWS])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print(f"{'':20}{'n':>9}{'launches':>12}{'fused, %':>10}{'us an iteration':>24}{'ratio':>8}"
          f"{'the paper: %, ratio':>22}")
    for row in ROWS:
        if options.rows and row.name not in options.rows:
            continue
        script = f"tests/bench/fusion/{row.name}.df"
        counts = {mode: launches(script, mode) for mode in MODES}
        fused = 100 * (1 - counts["fused"] / counts["off"])
        for size in row.sizes[:1] if options.small else row.sizes:
            steps = 20 if options.small else max(20, row.steps * row.sizes[0] // size)
            times = measure_row(row, size, steps, 1 if options.small else options.repeats)
            print(f"{row.name:20}{size:>9}{' / '.join(str(counts[mode]) for mode in MODES):>12}{fused:>10.0f}"
                  f"{' / '.join(f'{times[mode]:.1f}' for mode in MODES):>24}{times['off'] / times['fused']:>8.2f}"
                  f"{PAPER[row.name][0]:>14}{PAPER[row.name][1]:>8.2f}", flush=True)


if __name__ == "__main__":
    main()
