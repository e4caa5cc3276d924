#!/usr/bin/env python3
"""Small scripts and the stress tests, again and again, with eight workers on however few cores, built with a sanitizer:
each run with another scheduler, way to call, seed. Any report, wrong output or hang is a failure.

    all_workers.py [--seconds N] [--sanitizer NAME] [--seed N] [--jobs N] [FILTER]

The time is shared by the sanitizers. A failure is printed with the command that repeats it; the seed of the order is
printed at the start.
"""

import argparse
import concurrent.futures
import itertools
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass

from small_cases import ROOT, Small, cases, golden

WORKERS = "--workers=8"
TIMEOUT_S = 60
SUPPRESSIONS = pathlib.Path(__file__).with_name("tsan_suppressions.txt")
BUILDS = {  # folder in build/: what makes it end at the first report, with an exit code of its own
    "tsan": {"TSAN_OPTIONS": f"halt_on_error=1:exitcode=66:suppressions={SUPPRESSIONS}"},
    "asan": {"ASAN_OPTIONS": "detect_leaks=1:exitcode=66", "UBSAN_OPTIONS": "print_stacktrace=1:exitcode=66"},
}
REPORT = re.compile(r"(Thread|Address|Leak|Memory)Sanitizer|runtime error:")
SCHEDULERS = [f"--scheduler={name}" for name in golden.SCHEDULERS]
INLINING = [[], ["--inlining=never"]]
CODE = [["--interpret"], [], ["--leaf-threshold=0"]]  # machine code never, as usual, from the first call on
SEEDED = [False, True]
FRESH_CODE = 20  # one run in so many takes none from the cache, so that it is compiled while it runs
TEST = 40        # one repetition in so many is one of a stress test


def typed(environment, words):
    return " ".join([*(f"{name}={shlex.quote(value)}" for name, value in environment.items()), shlex.join(words)])


@dataclass(frozen=True)
class ScriptRun:
    small: Small
    options: list

    def fault(self, build):
        outcome = golden.run_once(build / "raddle_run", self.small.case, self.options, TIMEOUT_S)
        if REPORT.search(outcome[2]):
            return outcome[2]
        return self.small.fault(self.options, outcome)

    def command(self, build):
        case = self.small.case
        words = [str(build / "raddle_run"), "run", *self.options, case.script.name, *case.arguments]
        return f"cd {case.script.parent} && {typed(BUILDS[build.name] | case.environment, words)}"


@dataclass(frozen=True)
class TestRun:
    name: str  # of a case of raddle_concurrent_tests

    def words(self, build):
        return [str(build / "tests" / "raddle_concurrent_tests"), "-tc=" + self.name.replace(",", "?")]

    def fault(self, build):
        try:
            done = subprocess.run(self.words(build), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=2 * TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired:
            return "still running after the time-out"
        is_well = done.returncode == 0 and not REPORT.search(done.stdout) and " 1 passed | 0 failed" in done.stdout
        return None if is_well else f"exit code {done.returncode}\n{done.stdout}"

    def command(self, build):
        return typed(BUILDS[build.name], self.words(build))


def stress_tests(build):
    words = [build / "tests" / "raddle_concurrent_tests", "-ltc", "-sf=*tests/stress/*"]
    listed = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
    return [line for line in listed.splitlines() if line and not line.startswith(("[doctest]", "==="))]


def set_by(options, option):
    return option.partition("=")[0] in [each.partition("=")[0] for each in options]


def repetitions(smalls, tests, chance):
    """Without end: each script in each mode before one comes again; tests in between."""
    tests = itertools.cycle(chance.sample(tests, len(tests))) if tests else None
    modes = list(itertools.product(smalls, SCHEDULERS, INLINING, CODE, SEEDED))
    for number in itertools.count(1):
        if tests and (number % TEST == 0 or not modes):
            yield TestRun(next(tests))
            continue
        if number % len(modes) == 1:
            chance.shuffle(modes)
        small, scheduler, inlining, code, is_seeded = modes[number % len(modes)]
        options = [WORKERS, scheduler, *inlining, *code]
        if is_seeded and small.case.most_seeds != 0:
            options.append(f"--scheduler-seed={chance.randrange(1, 1 << 32)}")
        if code != ["--interpret"] and chance.randrange(FRESH_CODE) == 0:
            options.append("--no-jit-cache")
        own = small.case.options  # what the script itself asks for goes first
        yield ScriptRun(small, [*own, *(option for option in options if not set_by(own, option))])


class Crew:
    """As many at a time as there are cores, until the time is up."""

    def __init__(self, label, build, runs, end):
        self.label, self.build, self.runs, self.end = label, build, runs, end
        self.lock = threading.Lock()
        self.passed = self.tests = self.failed = 0

    def work(self):
        while time.monotonic() < self.end:
            with self.lock:
                run = next(self.runs)
            fault = run.fault(self.build)
            with self.lock:
                self.tests += isinstance(run, TestRun)
                self.passed += fault is None
                self.failed += fault is not None
                if fault is not None:
                    print(f"FAIL {self.label}: {run.command(self.build)}\n  " + fault.replace("\n", "\n  "), flush=True)


def stress(label, seconds, jobs, name_filter, chance):
    """(passed, failed)"""
    build = ROOT / "build" / label
    os.environ |= BUILDS[label]
    with tempfile.TemporaryDirectory(prefix="raddle-stress-") as folder, \
            concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        os.environ["XDG_CACHE_HOME"] = folder
        smalls = [small for small in cases(build / "tests", pathlib.Path(folder))
                  if name_filter in f"{small.case.script} {' '.join(small.case.arguments)}"]
        tests = [name for name in stress_tests(build) if name_filter in name]
        if not smalls and not tests:
            sys.exit(f"stress: nothing has `{name_filter}` in its name")
        crew = Crew(label, build, repetitions(smalls, tests, chance), time.monotonic() + seconds)
        for done in [pool.submit(crew.work) for _ in range(jobs)]:
            done.result()
    print(f"{label}: {crew.passed} of {crew.passed + crew.failed} repetitions in {seconds:.0f} s, {crew.tests} of them of "
          f"{len(tests)} tests, the others of {len(smalls)} scripts in 36 modes")
    return crew.passed, crew.failed


def main():
    parser = argparse.ArgumentParser(description="Repeats small scripts and stress tests under sanitizers.")
    parser.add_argument("--seconds", type=float, default=120, help="all in all (120)")
    parser.add_argument("--sanitizer", choices=BUILDS, help="only this one")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32), help="of the order of all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("filter", nargs="?", default="", metavar="FILTER")
    options = parser.parse_args()
    print(f"stress: --seed {options.seed}")
    labels = [options.sanitizer] if options.sanitizer else list(BUILDS)
    counts = [stress(label, options.seconds / len(labels), options.jobs, options.filter, random.Random(options.seed))
              for label in labels]
    passed, failed = (sum(each) for each in zip(*counts))
    print(f"stress: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
