#!/usr/bin/env python3
"""Tests the tests of the super kernel's queues: in gpu/superkernel/accesses.def each order that is not relaxed is made so,
and each step left out, one at a time; the stress tests, under TSan, have to notice every time: by a report, a wrong result,
or as a task does not end. As they are they pass.

    weakened_queues.py [--build build/tsan] [NAME..]
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRIES = 3  # what rests on chance
TIMEOUT_S = 100
LEAST_OF_WEAKENED_S = 10  # a test that waits for a task gives up before
TIMES_AS_IT_IS = 5  # so much longer a weakened run may take: else it would end by the clock on a busy machine, which tells nothing


def run(program, weakened, timeout_s=TIMEOUT_S):
    """(ended well, output)."""
    environment = os.environ | {"TSAN_OPTIONS": "halt_on_error=1:exitcode=66:report_signal_unsafe=0"} | ({"RADDLE_WEAKENED": weakened} if weakened else {})
    try:
        done = subprocess.run([program], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        return False, "it does not end"
    return done.returncode == 0, done.stdout


def main():
    parser = argparse.ArgumentParser(description="Weakens the queues of the super kernel, and sees to it that tests notice.")
    parser.add_argument("--build", default=str(ROOT / "build" / "tsan"), metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of an access or a step in accesses.def")
    options = parser.parse_args()
    program = str(pathlib.Path(options.build).resolve() / "tests" / "raddle_weakened_queues")
    names = options.names or run(program, "list")[1].split()
    begin = time.monotonic()
    is_well, output = run(program, None)
    timeout_s = max(LEAST_OF_WEAKENED_S, TIMES_AS_IT_IS * (time.monotonic() - begin))
    if not is_well:
        print(f"as it is:\n{output}")
    passed, failed = int(is_well), int(not is_well)
    for name in names:
        is_noticed = any(not run(program, name, timeout_s)[0] for _ in range(TRIES))
        if not is_noticed:
            print(f"{name} was weakened, and nothing noticed")
        passed += is_noticed
        failed += not is_noticed
    print(f"weakened queues: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
