"""What GeMTC's paper draws (Krieder et al., HPDC'14), in our form, as far as it goes without a GPU: tables for gpu.py.

Which of the paper's figures 13 to 16 and 18 to 23 a table stands for is not known here, nor are their curves: only what stands in PAPER.
Each table says whether it was measured or is of a model.
"""

import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from measure import ROOT

RADDLE = ROOT / "build/raddle"

PAPER = {
    "one by one": "6,000 tasks/s", "bundles of 100": "22,000 to 23,000 tasks/s",
    "efficiency alone": "90 % from 5 ms on (168 warps of a K20X)", "efficiency under Swift": "needs more than some 150 ms on one node",
    "many workers": "70 % of ideal at 10,000 workers; it ran on 86,000 warps", "MDLite": "not known here",
}
# by warps, then by us: an H200's queues, whose host is fed by one thread (gpu/README.md, What a GPU has shown)
MEASURED_ON_H200 = {1055: {4000: "99.8", 400: "98.7", 100: "44 to 48", 10: "4 to 7"},
                    4223: {4000: "99.6", 400: "52 to 80", 100: "13 to 19", 10: "1 to 2"}}

SLEEP_KERNEL = """#include "raddle_kernel.h"
#ifndef __NVPTX__
#include <time.h>
#endif
RADDLE_KERNEL void wait_for(raddle::Warp, int64_t k, int64_t us, int64_t& y) {
#ifndef __NVPTX__
  timespec time{us / 1000000, us % 1000000 * 1000};
  nanosleep(&time, nullptr);
#endif
  y = k;
}
"""
SLEEPS = """import stats;
@param int n = 100;
@param int us = 1000;
@gpu @kernel="sleeps.cu" (int y) wait_for(int k, int us);
int a[];
foreach k in [0:n-1] { a[k] = wait_for(k, us); }
trace(sum_integer(a));
"""
MD_LITE = """import arrays;
@param int tasks = 64;
@param int edge = 3;
@param int steps = 20;
@kernel="MD" (float moved[3, n, 3], float potential, float kinetic, float drift)
    md_lite(float places[n, 3], float velocities[n, 3], float box, float step, int steps);
int n = edge * edge * edge;
float start[n, 3], energy[tasks];
foreach i in [0 : n - 1] { start[i, :] = dense([1.15 * (i %/ (edge * edge)), 1.15 * (i %/ edge %% edge), 1.15 * (i %% edge)]); }
foreach k in [0 : tasks - 1] {
  float moved[3, n, 3];
  float p, e, d;
  (moved, p, e, d) = md_lite(start, (0.5 + itof(k) / tasks) * random_normal(n, 3), edge * 1.15, 0.004, steps);
  energy[k] = p + e;
}
trace(sum(energy));
""".replace("MD\"", str(ROOT / "examples" / "md_lite.cu") + "\"")
WARPS_OF_SIMULATED = 4


def title(text, how, paper):
    print(f"\n**{text}** ({how}). The paper: {paper}.\n")


def table(heads, rows):
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def rows_of(bench, words):
    done = subprocess.run([bench, *words], stdout=subprocess.PIPE, check=False, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"gpu: {' '.join(map(str, words))}: {done.stdout}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def raddle(folder, *words):
    """@return standard error, with what --stats says, and the seconds of the run"""
    done = subprocess.run([RADDLE, "run", "--json", "--stats", *words], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"gpu: {' '.join(words)}: {done.stderr}")
    return done.stderr, json.loads(done.stdout)["seconds"]


class Predicted:
    """What the model says of a run, in seconds: all of it; copies and kernels of the busiest card, which are one after the other for loops; from
    what the cards begin first to their last end. And launches."""

    def __init__(self, folder, cards, words):
        stderr, _ = raddle(folder, "--gpus", f"simulated:h200x{cards}", "--trace=trace.json", *words)
        self.run_s = float(re.search(r"^predicted by a model, the run: ([\d.]+) s,", stderr, re.MULTILINE)[1])
        of_cards = re.findall(r"^predicted by a model, device \d+: copies there ([\d.]+) s, (\d+) launches ([\d.]+) s, copies back ([\d.]+) s$", stderr, re.MULTILINE)
        self.launches = sum(int(launches) for _, launches, _, _ in of_cards)
        self.busiest_s = max(float(up) + float(kernels) + float(down) for up, _, kernels, down in of_cards)
        slices = [event for event in json.loads((folder / "trace.json").read_text(encoding="utf-8"))["traceEvents"] if event.get("cat") == "device"]
        self.cards_s = (max(one["ts"] + one["dur"] for one in slices) - min(one["ts"] for one in slices)) * 1e-6


def calls_a_second(bench, driver, small):
    rows = rows_of(bench, [*small, "calls", str(driver)])
    title("Tasks in a second, by how many are under way", "measured: calls of an AppKernel that does nothing; all but the card", f"{PAPER['one by one']} one by one, {PAPER['bundles of 100']} "
          "in bundles of 100")
    by_name = {name: {row["under_way"]: row for row in rows if row["row"] == f"{name}_calls_a_second"} for name in ("simulated", "server")}

    def shown(row):
        return f"{row['value']:,.0f} ({row['calls_of_bundle']:,.0f} in a bundle)"
    table(["under way", "simulated device", "driver without a GPU, in its own process"],
          [(f"{under_way:,}", shown(row), shown(by_name["server"][under_way])) for under_way, row in by_name["simulated"].items()])


def efficiency_of_queues(bench, small):
    rows = rows_of(bench, [*small, "lengths"])
    title("Efficiency, by the length of tasks and the number of workers", "measured: our queues, one card's; warps are threads that sleep, so much of what is lost are wake-ups of this machine's cores",
          PAPER["efficiency alone"])
    workers = sorted({row["workers"] for row in rows})
    lengths = sorted({row["task_us"] for row in rows})
    found = {(row["workers"], row["task_us"]): row["value"] for row in rows}
    table(["task, ms", *(f"{count} workers, %" for count in workers)],
          [(f"{us / 1000:g}", *(f"{found[count, us]:.1f}" for count in workers)) for us in lengths])


def efficiency_of_a_card(rate):
    """@param rate  of one host thread, tasks in a us"""
    title("The same of a card", f"model: one host thread gives it {rate:.1f} million tasks in a second, as measured above, and each warp takes one; nothing else takes time", PAPER["efficiency alone"])
    rows = []
    for us in (10, 100, 400, 4000):
        cells = [f"{us / 1000:g}"]
        for warps, measured in MEASURED_ON_H200.items():
            cells += [f"{min(100.0, 100 * rate * us / warps):.0f}", measured[us]]
        rows.append(cells)
    table(["task, ms", *(head for warps in MEASURED_ON_H200 for head in (f"{warps:,} warps, %", "measured on an H200, %"))], rows)


def efficiency_of_scripts(folder, small):
    title("Efficiency of a script's single calls, by their length", f"measured: the whole run, on a simulated device of {WARPS_OF_SIMULATED} warps, whose calls sleep; without its start",
          PAPER["efficiency under Swift"])
    rows = []

    def seconds(n, us):
        return statistics.median(raddle(folder, "--gpus", "simulated:whole", "sleeps.df", f"--n={n}", f"--us={us}")[1] for _ in range(1 if small else 3))
    start_s = seconds(1, 1)
    for us in (100, 1000, 5000, 20_000, 150_000):
        n = WARPS_OF_SIMULATED * max(2, (5000 if small else 500_000) // us)
        rows.append((f"{us / 1000:g}", f"{n:,}", f"{100 * n * us * 1e-6 / WARPS_OF_SIMULATED / (seconds(n, us) - start_s):.1f}"))
    table(["call, ms", "calls", "efficiency, %"], rows)


def several_cards(folder, small):
    title("Several cards", "model of the H200, `--gpus simulated:h200xN`: of the loop copies and kernels of the busiest card, of calls from the first one's begin to the last one's end, with the "
          "host's part of it; the run has the cards' start, 0.3 s, and the compiler, too", PAPER["many workers"])
    rows = []
    points, calls = ("20000", "200") if small else ("8000000", "100000")
    for what, seconds, words in (("a loop of 8 million points (`collatz`)", "busiest_s", [str(ROOT / "tests/gpu/collatz.df"), f"--n={points}"]),
                                 ("100,000 calls of MDLite, 8 atoms, 5 steps", "cards_s", ["md.df", f"--tasks={calls}", "--edge=2", "--steps=5"])):
        alone_s = None
        for cards in (1, 2, 4, 8):
            predicted = Predicted(folder, cards, words)
            cards_s = getattr(predicted, seconds)
            alone_s = alone_s or cards_s
            rows.append((what if cards == 1 else "", cards, f"{cards_s * 1e3:.2f}", f"{100 * alone_s / cards / cards_s:.0f}", f"{predicted.run_s:.3f}"))
    table(["what", "cards", "cards, ms", "efficiency, %", "the run, s"], rows)


def md_lite(folder, small):
    title("MDLite, by atoms and tasks", "model of one H200, tasks in a second from the first one's begin to the last one's end; beside it two workers of this machine, measured, the whole run", PAPER["MDLite"])
    rows = []
    for edge in (2, 3, 4):
        for tasks in (16, 128) if small else (64, 512, 4096):
            words = ["md.df", f"--tasks={tasks}", f"--edge={edge}", "--steps=20"]
            predicted = Predicted(folder, 1, words)
            workers_s = raddle(folder, "--gpus", "none", "--workers=2", *words)[1]
            rows.append((edge**3, f"{tasks:,}", f"{tasks / predicted.cards_s:,.0f}", f"{predicted.launches:,}", f"{tasks / workers_s:,.0f}"))
    table(["atoms", "tasks", "model: tasks/s", "model: launches", "two workers, measured: tasks/s"], rows)


def print_figures(bench, driver, rate, small):
    """@param rate  null tasks that one host thread puts through the queues, in a us  @param small  words for the bench"""
    print("\nAs GeMTC's paper (Krieder et al., HPDC'14) draws, in our form; none of it is of a GPU but where that is said.")
    calls_a_second(bench, driver, small)
    efficiency_of_queues(bench, small)
    efficiency_of_a_card(rate)
    if not shutil.which("clang++-19"):
        print("\nScripts are left out: there is no clang++-19 for their AppKernels.")
        return
    with tempfile.TemporaryDirectory(prefix="raddle-gpu-figures-") as name:
        folder = pathlib.Path(name)
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        for file, text in (("sleeps.cu", SLEEP_KERNEL), ("sleeps.df", SLEEPS), ("md.df", MD_LITE)):
            (folder / file).write_text(text, encoding="utf-8")
        for script in (["sleeps.df", "--n=1"], ["md.df", "--tasks=1"]):  # makes the code
            raddle(folder, "--gpus", "simulated:whole", *script)
        efficiency_of_scripts(folder, small)
        several_cards(folder, small)
        md_lite(folder, small)
