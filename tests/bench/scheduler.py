#!/usr/bin/env python3
"""The schedulers side by side: tasks of a script on this machine, tasks of 10 us on simulated ones.

    scheduler.py [--repeats N] [--small] [--real | --simulated]

On this machine every call of the scripts of `calls.py` is a task (--interpret --inlining=never): ns a call, as there.
The simulated machines have 1 to 1,024 workers in 1 or 8 NUMA domains: printed is the part of all workers' time that is
spent in tasks. One creator makes all tasks, and can feed some hundred workers; recursive creators halve a range. A curve
ends below 20 percent.
All figures are in build/bench/scheduler.csv and build/bench/simulated.csv.
"""

import argparse
import csv
import statistics
import subprocess
import sys

from calls import CASES, NOTHING
from measure import BUILT, RADDLE, ROOT, THREADS, Variant, run_in_turn
from report import Line

SCHEDULERS = ("stealing", "tree", "tree-fifo")
SIMULATOR = str(ROOT / "build" / "tests" / "raddle_bench_scheduler")


def variant(scheduler, threads, case, size):
    options = [f"--workers={threads}", f"--scheduler={scheduler}", "--interpret", "--inlining=never"]
    return Variant(scheduler, threads, [*RADDLE, *options, case.script, f"--n={size}"])


def measure_here(small, repeats):
    with open(BUILT / "scheduler.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["case", "scheduler", "threads", "ns_a_call"])
        print(f"{'case':<8} {'workers':>7} " + " ".join(f"{s:>10}" for s in SCHEDULERS) + "   ns a call")
        for case in CASES:
            size = case.small if small else case.shorter
            calls = case.calls(size) - case.calls(NOTHING)
            for threads in THREADS:
                full = [variant(s, threads, case, size) for s in SCHEDULERS]
                empty = [variant(s, threads, case, NOTHING) for s in SCHEDULERS]
                run_in_turn(case.name, full, repeats)
                run_in_turn(case.name, empty, repeats)
                costs = [(statistics.median(f.seconds) - statistics.median(e.seconds)) / calls * 1e9
                         for f, e in zip(full, empty)]
                print(f"{case.name:<8} {threads:>7} " + " ".join(f"{cost:>10.1f}" for cost in costs), flush=True)
                table.writerows([case.name, s, threads, f"{c:.1f}"] for s, c in zip(SCHEDULERS, costs))


def simulate(small):
    """{(load, domains, scheduler): {workers: efficiency}}, all as the simulator writes them"""
    command = [SIMULATOR, *(["64"] if small else [])]
    rows = {}
    with open(BUILT / "simulated.csv", "w", encoding="utf-8") as file:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for line in process.stdout:
            file.write(line)
            load, scheduler, domains, workers, efficiency = line.strip().split(",")
            if load != "load":
                rows.setdefault((load, domains, scheduler), {})[workers] = efficiency
    if process.wait() != 0:
        sys.exit(f"bench: {' '.join(command)}: exit code {process.returncode}")
    return rows


def print_curves(small):
    rows = simulate(small)
    print("\nsimulated: efficiency in percent, tasks of 10 us")
    counts = [str(1 << i) for i in range(7 if small else 11)]
    print(f"{'load':<12} {'domains':>7} {'scheduler':<10} " + " ".join(f"{c:>5}" for c in counts) + "   workers")
    for (load, domains, scheduler), known in rows.items():
        cells = [f"{float(known[c]) * 100:>5.1f}" if c in known else f"{'':>5}" for c in counts]
        print(f"{load:<12} {domains:>7} {scheduler:<10} " + " ".join(cells))


def measure_simulated(_, small, repeats):
    """What the default scheduler reaches with the workers of the targets; a run is the same each time."""
    for (load, domains, scheduler), known in simulate(small).items():
        workers = "64" if small or load == "one creator" else "1024"
        if scheduler == SCHEDULERS[0]:
            reached = float(known.get(workers, 0))  # the curve ends where the scheduler breaks down
            yield Line(f"{load.replace(' ', '_')} {domains}", scheduler, int(workers), reached * 100, "% in tasks")


def main():
    parser = argparse.ArgumentParser(description="The schedulers side by side.")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("--real", action="store_true", help="only on this machine")
    parser.add_argument("--simulated", action="store_true", help="only on simulated machines")
    options = parser.parse_args()
    BUILT.mkdir(parents=True, exist_ok=True)
    if not options.simulated:
        measure_here(options.small, options.repeats)
    if not options.real:
        print_curves(options.small)


if __name__ == "__main__":
    main()
