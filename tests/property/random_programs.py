#!/usr/bin/env python3
"""Random programs print the same lines in every mode: 1, 2 and 8 workers, -O0 and -O2, several scheduler seeds.

    random_programs.py [--seed N] [--count N] [--seconds S] [--raddle PATH] [--show]

No model of the language is needed: a well-typed program that can not fail is run in each mode, and the sorted lines
must agree. The first seed is printed; program number k has seed N + k, so `--seed N+k --count 1` repeats it.
`--show` prints the program of --seed and stops.
"""

import argparse
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from program_generator import Generator

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_S = 60
BASE = ["-O2", "--workers=1", "--verify-each"]
MODES = [
    ["-O0", "--workers=1"],
    ["-O1", "--workers=2"],
    ["-O0", "--workers=8"],
    ["-O2", "--workers=2"],
    ["-O2", "--workers=8"],
    ["-O2", "--workers=2", "--scheduler-seed=1"],
    ["-O2", "--workers=8", "--scheduler-seed=2"],
    ["-O0", "--workers=2", "--scheduler-seed=3"],
]


def run(raddle, mode, script):
    """(exit code or None after the time-out, sorted lines, stderr)"""
    try:
        done = subprocess.run([raddle, "run", *mode, script], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return None, [], f"still running after {TIMEOUT_S} s"
    out, err = (stream.decode(errors="replace") for stream in (done.stdout, done.stderr))
    return done.returncode, sorted(out.splitlines()), err


def disagreement(raddle, script):
    """What is wrong with one program, or None."""
    code, lines, err = run(raddle, BASE, script)
    if code != 0:
        return f"{' '.join(BASE)}: exit code {code}\n{err}"
    for mode in MODES:
        code, other, err = run(raddle, mode, script)
        if code != 0:
            return f"{' '.join(mode)}: exit code {code}\n{err}"
        if other != lines:
            only_base = [line for line in lines if line not in other][:5]
            only_mode = [line for line in other if line not in lines][:5]
            return (f"{' '.join(mode)} differs from {' '.join(BASE)}: {len(other)} and {len(lines)} lines\n"
                    f"  only there: {only_mode}\n  only at {' '.join(BASE)}: {only_base}")
    return None


def main():
    parser = argparse.ArgumentParser(description="Random programs agree in every mode.")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--raddle", default=str(ROOT / "build" / "raddle"))
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    first = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    if options.show:
        print(Generator(first).program(), end="")
        return
    if not os.access(options.raddle, os.X_OK):
        sys.exit(f"property: {options.raddle} is not there: ./dev build")

    print(f"property: first seed {first}")
    passed = failed = 0
    end = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory(prefix="raddle-property-") as folder:
        for seed in range(first, first + options.count):
            if time.monotonic() > end:
                break
            script = pathlib.Path(folder, f"seed_{seed}.df")
            script.write_text(Generator(seed).program(), encoding="utf-8")
            fault = disagreement(options.raddle, str(script))
            if fault is None:
                passed += 1
            else:
                failed += 1
                print(f"FAIL seed {seed} (see it: random_programs.py --seed {seed} --show)\n{fault}")
    print(f"property: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
