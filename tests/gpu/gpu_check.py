#!/usr/bin/env python3
"""What to run on a machine with a GPU: `./dev gpu-check`.

    gpu_check.py [--raddle PATH] [--jobs N] [--simulated | --faults | --queues | --resident] [FILTER..]

Runs all golden scripts and examples with `--gpus all:whole`, so that each loop that a GPU can run goes there, and compares
what they print with what they print with `--gpus none`; then the longer scripts beside this file, with `none`, `all` and
`all:whole`, compares what they print and write, and tells their times; then some of these again while the process that has
the driver is killed (--faults: that only); then, where raddle_gpu_queues is beside raddle, what the queues of the super
kernel cost (--queues: that only). Prints tables, and ends with 1 if anything differs or fails. Without a driver it says so and ends with 0.

--resident: with `all:resident` and `all:whole:resident` in place of `all` and `all:whole`.
--simulated: the longer scripts only, of few points, on a simulated device: for machines without a GPU.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
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
RESIDENT_WAYS = ("none", "all:resident", "all:whole:resident")
KILLED = ("gravity", "pi", "predator_prey")
SIMULATED_WAYS = ("none", "simulated", "simulated:whole")


def on_devices(stderr):
    """Points of loops and calls of AppKernels."""
    return sum(int(n) for n in re.findall(r"^(?:points|calls) on device \d+, .*? (\d+)(?: in \d+ batches)?$", stderr, re.MULTILINE))


def without_counters(stderr):
    """What a run with --stats has on stderr, without the counters."""
    first = stderr.find("tasks ")
    return stderr[:first] if first >= 0 else stderr


def golden_difference(raddle, case, way):
    """(points on GPUs, None or what differs)."""
    options = [*case.options, "-O2", f"--workers={case.workers[0] if case.fixed_workers else 2}"]
    alone = golden.run_once(raddle, case, [*options, "--gpus=none"])
    beside = golden.run_once(raddle, case, [*options, "--stats", f"--gpus={way}"])
    points = on_devices(beside[2])
    if alone[0] != case.exit_code:  # both may fail for the same reason, and are alike
        return points, f"exit code: {alone[0]} without a GPU, {case.exit_code} is expected\n{alone[2]}"
    for what, a, b in (("exit code", alone[0], beside[0]), ("stdout", golden.in_order(case, alone[1]), golden.in_order(case, beside[1]))):
        if a != b:
            return points, f"{what}: {a!r} without a GPU, {b!r} with one\n{beside[2]}"
    return points, None


def timed(raddle, options, script, arguments, folder):
    """(seconds, the process, {name: bytes} of the files it has written)."""
    begin = time.monotonic()
    done = subprocess.run([raddle, "run", "--stats", *options, str(script), *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    seconds = time.monotonic() - begin
    written = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}
    return seconds, done, written


def golden_differences(raddle, jobs, filters, way):
    """Prints them. @return how many"""
    cases = [case for case in golden.find_cases(filters) if not case.emit and case.exit_code != 3]
    bad = went = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for case, (points, difference) in zip(cases, pool.map(lambda case: golden_difference(raddle, case, way), cases)):
            went += points > 0
            if difference:
                bad += 1
                print(f"DIFFERS {case.name}: {difference}")
    print(f"{len(cases)} scripts, of {went} something went to a GPU; {bad} differ\n")
    return bad


def long_differences(raddle, ways, options, arguments, filters):
    """Prints a table of the longer scripts. @return of how many something differs"""
    bad = 0
    print(f"| script | {' | '.join(f'{way}, s' for way in ways)} | points and calls on GPUs of {', of '.join(ways[1:])} | the same output |")
    print("|---|" + "---|" * (len(ways) + 2))
    for script in LONG:
        if filters and not any(part in str(script.relative_to(ROOT)) for part in filters):
            continue
        if "@kernel" in script.read_text(encoding="utf-8") and not shutil.which("clang++-19"):
            print(f"| {script.stem} | not run: there is no clang++-19 |", flush=True)
            continue
        runs = []
        for way in (ways[-1], *ways):  # the first one fills the caches of code
            with tempfile.TemporaryDirectory(prefix="raddle-gpu-") as folder:
                runs.append(timed(raddle, [f"--gpus={way}", *options], script, arguments, folder))
        first, *others = runs[1:]
        faults = [f"{way}: {done.stderr}" for way, (_, done, _) in zip(ways, runs[1:]) if done.returncode != 0]
        same = not faults and all((done.stdout, written) == (first[1].stdout, first[2]) for _, done, written in others)
        bad += not same
        points = ", ".join(f"{on_devices(done.stderr):,}" for _, done, _ in others)
        seconds = " | ".join(f"{seconds:.2f}" for seconds, _, _ in runs[1:])
        print(f"| {script.stem} | {seconds} | {points} | {'yes' if same else 'NO'} |", *faults, flush=True)
    return bad


def kill_servers(process):
    """Those processes with its drivers that are there. @return how many"""
    killed = 0
    for children in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
        try:
            for child in children.read_text(encoding="ascii").split():
                if "-gpu-server" in pathlib.Path(f"/proc/{child}/cmdline").read_text(encoding="utf-8"):
                    os.kill(int(child), signal.SIGKILL)
                    killed += 1
        except OSError:  # it has just ended
            continue
    return killed


def killed_differences(raddle, way, arguments):
    """Prints a table of runs whose drivers are killed: at first when they begin, then every half second, twice.
    @return of how many something differs"""
    bad = 0
    print("\n| script | alone, s | its driver killed, s | kills | points on GPUs | the same output |\n|---|---|---|---|---|---|")
    for name in KILLED:
        script = HERE / f"{name}.df"
        with tempfile.TemporaryDirectory(prefix="raddle-gpu-") as folder:
            expected = timed(raddle, ["--gpus=none"], script, arguments, folder)[1].stdout
            alone = timed(raddle, [f"--gpus={way}"], script, arguments, folder)[0]
            begin, kills = time.monotonic(), 0
            with subprocess.Popen([raddle, "run", "--stats", f"--gpus={way}", str(script), *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
                for pause in (0.3, 0.5, 0.5):
                    time.sleep(pause)
                    kills += kill_servers(run.pid)
                stdout, stderr = run.communicate(timeout=300)
            seconds = time.monotonic() - begin
        same = run.returncode == 0 and stdout == expected
        bad += not same
        print(f"| {name} | {alone:.2f} | {seconds:.2f} | {kills} | {on_devices(stderr):,} | {'yes' if same else 'NO'} |", *([] if same else [stderr]), flush=True)
    return bad


def measure_queues(raddle):
    """@return whether something went wrong"""
    folder = pathlib.Path(raddle).parent
    programs = [path for path in (folder / "raddle_gpu_queues", folder / "tests" / "raddle_gpu_queues") if path.exists()]
    if not programs:
        return False
    print("\n", end="", flush=True)
    try:
        return subprocess.run([programs[0]], check=False, timeout=120).returncode != 0
    except subprocess.TimeoutExpired:
        print("the queues: it does not end")
        return True


def main():
    parser = argparse.ArgumentParser(description="Compares runs with GPUs and without.")
    parser.add_argument("--raddle", default=golden.BUILT, metavar="PATH")
    parser.add_argument("--jobs", type=int, default=4, metavar="N", help="scripts at once")
    parser.add_argument("--simulated", action="store_true", help="the longer scripts, shortened, on a simulated device")
    parser.add_argument("--faults", action="store_true", help="runs whose drivers are killed, and nothing else")
    parser.add_argument("--queues", action="store_true", help="what the queues of the super kernel cost, and nothing else")
    parser.add_argument("--resident", action="store_true", help="with a kernel that stays on each GPU")
    parser.add_argument("filters", nargs="*", metavar="FILTER", help="part of a script's path; with --faults options of scripts")
    options = parser.parse_args()
    raddle = str(pathlib.Path(options.raddle).resolve())
    if options.simulated:
        return 1 if long_differences(raddle, SIMULATED_WAYS, ["--workers=2"], ["--n=3000"], options.filters) else 0
    found = subprocess.run([raddle, "run", "--gpus=1", "-e", "trace(1);"], capture_output=True, text=True, check=False)
    if found.stderr:
        print("gpu-check: " + found.stderr.strip().removeprefix("raddle: warning: --gpus 1: ").removesuffix("; workers compute everything"))
        return 0
    print(subprocess.run([raddle, "doctor"], capture_output=True, text=True, check=False).stdout)
    if options.queues:
        return 1 if measure_queues(raddle) else 0
    ways = RESIDENT_WAYS if options.resident else WAYS
    if options.faults:
        return 1 if killed_differences(raddle, ways[-1], options.filters) else 0
    with tempfile.TemporaryDirectory(prefix="raddle-gpu-cache-") as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        bad = golden_differences(raddle, options.jobs, options.filters, ways[-1])
        bad += long_differences(raddle, ways, [], [], options.filters)
        bad += killed_differences(raddle, ways[-1], [])
    bad += measure_queues(raddle)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
