"""Tests that are functions of a fresh folder: run one after the other, faults told, counted."""

import pathlib
import subprocess
import sys
import tempfile


class Fault(Exception):
    """What a test has found wrong."""


def run_tests(label, tests, call):
    """`call(test, folder)` runs one; what it returns, if anything, is printed. Ends the process."""
    failed = 0
    for test in tests:
        with tempfile.TemporaryDirectory(prefix=f"raddle-{label}-") as folder:
            try:
                told = call(test, pathlib.Path(folder))
                if told:
                    print(f"{label}: {test.__name__}: {told}")
            except (Fault, OSError, subprocess.SubprocessError, ValueError, IndexError, KeyError) as fault:
                failed += 1
                print(f"{label}: {test.__name__}: {fault}")
    print(f"{label}: {len(tests) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
