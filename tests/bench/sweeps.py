#!/usr/bin/env python3
"""Sweeps, recorded, beside what starts programs and does nothing else, and beside the loop that computes the same.

    sweeps.py [--repeats N] [--small] [ROW..]

`programs`: runs of /bin/true by xargs, GNU parallel, a loop of posix_spawn on as many threads, a sweep, and a script; the
ratio is of rates, to that of xargs. `leaf`: one `foreach` over points of a leaf function, and sweeps over the same points,
each with a table; the ratio is of processor time: what part of a sweep is spent in the leaf. `models`: a model that fills
arrays, beside C++ and NumPy on one thread, also with tables; the ratio is of processor time. `noise`: likewise one that
draws 400 normal numbers at each point. The variants run in turn, each
in a folder of its own that has no record yet; printed are medians.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

from measure import BUILT, CORES, HERE, ROOT, compile_program, read_options
from report import Line

RADDLE = str(ROOT / "build" / "raddle")
SWEEP = [RADDLE, "sweep", f"-j{CORES}", "--progress=none"]


@dataclass
class Rival:
    label: str
    points: int
    command: list
    reads_points: bool = False  # one on each line of its standard input
    seconds: list = field(default_factory=list)
    cpu_seconds: list = field(default_factory=list)
    peak_kib: int = 0


def programs(count):
    true = "/bin/true"
    some = count // 10  # it is slow
    return [Rival("xargs", count, ["xargs", f"-P{CORES}", "-n1", true], reads_points=True),
            Rival("parallel", some, ["parallel", "--will-cite", f"-j{CORES}", true], reads_points=True),
            Rival("spawn", count, [compile_program("sweeps/spawn.cpp", "spawn"), str(count), true]),
            Rival("raddle", count, [*SWEEP, "-p", f"i=1:{count}", "-o", "table.csv", "--", true]),
            Rival("script", count, [RADDLE, "run", f"--workers={CORES}", str(HERE / "sweeps/programs.df"), f"--n={count}"])]


def leaf(count):
    sweep = [*SWEEP, str(HERE / "sweeps/growth_point.df"), "-p", f"rate=lin(1,2,{count})", "-o"]
    loop = [RADDLE, "run", "--no-jit-cache", f"--workers={CORES}", str(HERE / "sweeps/growth_loop.df"), f"--n={count}"]
    return [Rival("foreach", count, loop), Rival("csv", count, [*sweep, "table.csv"]),
            Rival("parquet", count, [*sweep, "table.parquet"])]


def models(count):
    sweep = [*SWEEP, str(HERE / "sweeps/epidemic.df"), "-p", f"contact=lin(0.2,0.8,{count})", "-o", "table.csv"]
    return [Rival("C++", count, [compile_program("sweeps/epidemic.cpp", "epidemic"), str(count)]),
            Rival("NumPy", count, [sys.executable, str(HERE / "sweeps/epidemic.py"), str(count)]),
            Rival("raddle", count, sweep)]


def noise(count):
    sweep = [*SWEEP, str(HERE / "sweeps/noise.df"), "-p", f"contact=lin(0.2,0.8,{count})", "-o", "table.csv"]
    return [Rival("C++", count, [compile_program("sweeps/noise.cpp", "noise"), str(count)]),
            Rival("NumPy", count, [sys.executable, str(HERE / "sweeps/noise.py"), str(count)]),
            Rival("raddle", count, sweep)]


# name: (rivals, what the ratio is of, points, points of --small)
ROWS = {"programs": (programs, lambda rival: statistics.median(rival.seconds) / rival.points, 100_000, 500),
        "leaf": (leaf, lambda rival: statistics.median(rival.cpu_seconds) / rival.points, 10_000_000, 100_000),
        "models": (models, lambda rival: statistics.median(rival.cpu_seconds) / rival.points, 1_000_000, 2_000),
        "noise": (noise, lambda rival: statistics.median(rival.cpu_seconds) / rival.points, 200_000, 2_000)}


def run_once(rival):
    lines = "".join(f"{i}\n" for i in range(1, rival.points + 1)) if rival.reads_points else ""
    with tempfile.TemporaryDirectory(prefix="raddle-bench-") as folder, tempfile.TemporaryFile("w+") as numbers:
        numbers.write(lines)
        numbers.seek(0)
        before = os.times()
        start = time.perf_counter()
        process = subprocess.Popen(rival.command, cwd=folder, stdin=numbers, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env={**os.environ, "BENCH_THREADS": str(CORES)})
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        after = os.times()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench: {' '.join(rival.command)}: exit code {process.returncode}")
    rival.seconds.append(seconds)
    rival.cpu_seconds.append(after.children_user + after.children_system - before.children_user - before.children_system)
    rival.peak_kib = max(rival.peak_kib, usage.ru_maxrss)


def measure_programs(_, small, repeats):
    """A script beside the loop of posix_spawn, in turn: us a program."""
    make, cost, whole, few = ROWS["programs"]
    spawn, script = (rival for rival in make(few if small else whole) if rival.label in ("spawn", "script"))
    for _ in range(repeats):
        run_once(spawn)
        run_once(script)
    ratio = cost(script) / cost(spawn)
    yield Line("programs", "spawn", CORES, cost(spawn) * 1e6, "us a program", spawn.peak_kib, 1.0)
    yield Line("programs", "script", CORES, cost(script) * 1e6, "us a program", script.peak_kib, ratio)
    yield Line("programs", "script", CORES, ratio, "of spawn's")


def main():
    options = read_options("Sweeps beside their peers.", ROWS, repeats=3)
    BUILT.mkdir(parents=True, exist_ok=True)
    print(f"{'row':<9} {'variant':<9} {'points':>10} {'seconds':>8} {'points/s':>10} {'us of cpu':>10} {'peak MiB':>9} {'ratio':>6}")
    for name in options.rows or ROWS:
        make, cost, whole, small = ROWS[name]
        count = small if options.small else whole
        rivals = make(count)
        for _ in range(options.repeats):
            for rival in rivals:
                run_once(rival)
        for rival in rivals:
            seconds, cpu = statistics.median(rival.seconds), statistics.median(rival.cpu_seconds)
            print(f"{name:<9} {rival.label:<9} {rival.points:>10,} {seconds:>8.2f} {rival.points / seconds:>10,.0f} {cpu / rival.points * 1e6:>10.2f} "
                  f"{rival.peak_kib / 1024:>9.1f} {cost(rivals[0]) / cost(rival):>6.2f}", flush=True)


if __name__ == "__main__":
    main()
