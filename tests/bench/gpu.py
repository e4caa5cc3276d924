#!/usr/bin/env python3
"""What our own code adds to a device, without one.

    gpu.py [--small] [--repeats N]

Figures of build/tests/raddle_gpu_bench (gpu/), medians of N runs: of the host's side of the queues and of our memory of a card, which no
card changes; and of a simulated device and of the driver without a GPU that tests have, whose part in it is the host's, too. So none of
them is that of a GPU: `./dev gpu-check` has these. Beside them what others have published of theirs. Then what GeMTC's paper draws, in our
form (gpu_figures.py).
"""

import argparse
import json
import statistics
import subprocess
import sys

from gpu_figures import print_figures
from measure import ROOT

BENCH = ROOT / "build/tests/raddle_gpu_bench"
DRIVER = ROOT / "build/tests/fake_cuda/libcuda.so.1"

GEMTC = "GeMTC: {} (K20X; Krieder et al., HPDC'14)"
MEMORY = GEMTC.format("cudaMalloc 100 us, gemtcMalloc 10 us") + "; cudaMallocAsync 1.68 us, cudaFreeAsync 1.19 us (JuliaGPU/CUDA.jl issue 746)"
LAUNCH = "a launch and its wait 6.3 to 7.5 us (RTX 5070 Ti laptop; ahrefs/ocannl issue 488)"
# by the names of rows
PUBLISHED = {
    **dict.fromkeys(("arena_10", "arena_1000", "arena_10000"), MEMORY),
    "host_of_task": GEMTC.format("22,000 tasks/s in bundles of 100, 45 us a task"),
    "threads_null_tasks": GEMTC.format("0.022 M/s, with its GPU"),
    "simulated_batch_p50": LAUNCH, "driver_batch_p50": LAUNCH, "server_batch_p50": LAUNCH,
    **dict.fromkeys(("simulated_call_p50", "driver_call_p50", "server_call_p50"), GEMTC.format("6,000 tasks/s one by one, 167 us a task")),
    **dict.fromkeys(("simulated_calls", "driver_calls", "server_calls"), GEMTC.format("22,000 tasks/s in bundles of 100, 45 us a task")),
}
GOALS = {"arena_10": 0.3, "arena_1000": 0.3, "arena_10000": 0.3}  # us


def rows_of(words):
    done = subprocess.run([BENCH, *words], stdout=subprocess.PIPE, check=False, text=True, timeout=300)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    failed = [row["what"] for row in rows if row.get("failed")]
    if failed or done.returncode != 0:
        sys.exit(f"gpu: {'; '.join(failed) or done.returncode}")
    return rows


def run_once(small):
    host = rows_of([*small, "host"])
    ends = sum(row["value"] for row in host if row["row"] in ("submit", "take"))
    both = {"row": "host_of_task", "what": "a task on the host's side, both", "value": ends, "unit": "ns"}
    return [*host, both, *rows_of([*small, "simulated", str(DRIVER)])]


def shown(runs, key):
    return f"{statistics.median(row[key] for row in runs):,.3g}"


def print_row(runs):
    """`runs`: the same row of all of them."""
    first = runs[0]
    text = f"{shown(runs, 'value')} {first['unit']}"
    for key, unit in (("processor_us", "us"), ("processor_ns", "ns")):
        text += f", of the processor {shown(runs, key)} {unit}" if key in first else ""
    text += f", {shown(runs, 'calls_of_bundle')} calls a bundle" if "calls_of_bundle" in first else ""
    goal = f"at most {GOALS[first['row']]} {first['unit']}" if first["row"] in GOALS else ""
    print(f"| {first['what']} | {text} | {goal} | {PUBLISHED.get(first['row'], '')} |")


def main():
    parser = argparse.ArgumentParser(description="What our own code adds to a device, without one.")
    parser.add_argument("--small", action="store_true", help="does everything still run? The figures mean nothing then")
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="runs (default: %(default)s)")
    options = parser.parse_args()
    small = ["--small"] if options.small else []
    runs = [run_once(small) for _ in range(options.repeats)]
    print("Of the host, of a simulated device and of a driver without a GPU; none of it is of a GPU.\n")
    print("| what | median | goal | published by others, with a GPU |\n|---|---|---|---|")
    for rows in zip(*runs):
        print_row(rows)
    rate = statistics.median(row["value"] for rows in runs for row in rows if row["row"] == "threads_null_tasks")
    print_figures(BENCH, DRIVER, rate, small)


if __name__ == "__main__":
    main()
