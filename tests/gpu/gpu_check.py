#!/usr/bin/env python3
"""What to run on a machine with a GPU: `./dev gpu-check`.

    gpu_check.py [--raddle PATH] [--jobs N] [FILTER..]

Runs all golden scripts and examples with `--gpus all:whole`, so that each loop that a GPU can run goes there, and compares
what they print with what they print with `--gpus none`; then the longer scripts below, with `none`, `all` and `all:whole`,
and tells their times. Prints a table, and ends with 1 if anything differs. Without a driver it says so and ends with 0.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import golden  # pylint: disable=wrong-import-position

LONG = sorted(HERE.glob("*.df"))
WAYS = ("none", "all", "all:whole")


def points_on_devices(stderr):
    return sum(int(n) for n in re.findall(r"^points on device \d+, .* (\d+) in \d+ batches$", stderr, re.MULTILINE))


def without_counters(stderr):
    """What a run with --stats has on stderr, without the counters."""
    first = stderr.find("tasks ")
    return stderr[:first] if first >= 0 else stderr


def golden_difference(raddle, case):
    """(points on GPUs, None or what differs)."""
    options = [*case.options, "-O2", "--workers=2"] if case.exit_code != 3 else case.options
    alone = golden.run_once(raddle, case, [*options, "--gpus=none"])
    beside = golden.run_once(raddle, case, [*options, "--stats", "--gpus=all:whole"])
    points = points_on_devices(beside[2])
    for what, a, b in (("exit code", alone[0], beside[0]), ("stdout", golden.in_order(case, alone[1]), golden.in_order(case, beside[1]))):
        if a != b:
            return points, f"{what}: {a!r} without a GPU, {b!r} with one\n{beside[2]}"
    return points, None


def timed(raddle, script, way):
    begin = time.monotonic()
    done = subprocess.run([raddle, "run", "--stats", f"--gpus={way}", str(script)], capture_output=True, text=True, check=False, timeout=300)
    return time.monotonic() - begin, done


def main():
    parser = argparse.ArgumentParser(description="Compares runs with GPUs and without.")
    parser.add_argument("--raddle", default=golden.BUILT, metavar="PATH")
    parser.add_argument("--jobs", type=int, default=4, metavar="N", help="scripts at once")
    parser.add_argument("filters", nargs="*", metavar="FILTER", help="part of a script's path")
    options = parser.parse_args()
    raddle = str(pathlib.Path(options.raddle).resolve())
    found = subprocess.run([raddle, "run", "--gpus=1", "-e", "trace(1);"], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        print("gpu-check: " + found.stderr.strip().removeprefix("raddle: --gpus 1: "))
        return 0
    print(subprocess.run([raddle, "doctor"], capture_output=True, text=True, check=False).stdout)

    cases = [case for case in golden.find_cases(options.filters) if not case.emit and case.exit_code != 3]
    bad = went = 0
    with tempfile.TemporaryDirectory(prefix="raddle-gpu-cache-") as cache, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        os.environ["XDG_CACHE_HOME"] = cache
        for case, (points, difference) in zip(cases, pool.map(lambda case: golden_difference(raddle, case), cases)):
            went += points > 0
            if difference:
                bad += 1
                print(f"DIFFERS {case.name}: {difference}")
    print(f"{len(cases)} scripts, of {went} something went to a GPU; {bad} differ\n")

    print(f"| script | {' | '.join(f'{way}, s' for way in WAYS)} | points on GPUs of all, of all:whole | the same output |")
    print("|---|" + "---|" * (len(WAYS) + 2))
    for script in LONG:
        if options.filters and not any(part in str(script.relative_to(ROOT)) for part in options.filters):
            continue
        timed(raddle, script, "all:whole")  # fills the caches of code
        runs = [timed(raddle, script, way) for way in WAYS]
        same = all(done.stdout == runs[0][1].stdout and done.returncode == 0 for _, done in runs)
        bad += not same
        points = ", ".join(f"{points_on_devices(done.stderr):,}" for _, done in runs[1:])
        print(f"| {script.stem} | {' | '.join(f'{seconds:.2f}' for seconds, _ in runs)} | {points} | {'yes' if same else 'NO'} |", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
