#!/usr/bin/env python3
"""Recursions of functions with many branches, deeper than the stack has room for calls: they end well on any stack.

    stacks.py [--raddle PATH]
"""

import argparse
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
KIB = 1024
STACKS = {"unlimited": resource.RLIM_INFINITY, "8 MiB": 8192 * KIB, "1 MiB": 1024 * KIB, "256 KiB": 256 * KIB}
DEPTH = 3000


def script(branches):
    """down(n, m) is the number of calls below it; each call goes through all the branches, block in block. Its end may
    be traced before or after the number: nothing says which comes first."""
    chain = "".join(f" else if (m == {i}) {{ o = {i}; trace(n); }}" for i in range(branches))
    return ("(int o) down(int n, int m) {\n  if (n == 0) { o = 0; trace(0); }"
            f"{chain} else {{ o = 1 + down(n - 1, m); }}\n}}\ntrace(down({DEPTH}, 1000000));\n")


def fault_of(raddle, path, workers, limit):
    def limit_stack():
        resource.setrlimit(resource.RLIMIT_STACK, (limit, resource.getrlimit(resource.RLIMIT_STACK)[1]))

    run = subprocess.run([raddle, "run", f"--workers={workers}", path], preexec_fn=limit_stack, timeout=60,
                         capture_output=True, text=True, check=False)
    if run.returncode == 0 and sorted(run.stdout.splitlines()) == ["trace: 0", f"trace: {DEPTH}"]:
        return None
    return f"exit code {run.returncode}, {run.stdout!r}, {run.stderr[:400]!r}"


def main():
    parser = argparse.ArgumentParser(description="Runs deep recursions on stacks of several sizes.")
    parser.add_argument("--raddle", default=str(ROOT / "build" / "raddle"))
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="raddle-stacks-") as folder:
        for branches in (1, 20, 80):
            path = pathlib.Path(folder, f"branches_{branches}.df")
            path.write_text(script(branches), encoding="utf-8")
            for name, limit in STACKS.items():
                for workers in (1, 4):
                    fault = fault_of(options.raddle, str(path), workers, limit)
                    passed += fault is None
                    failed += fault is not None
                    if fault:
                        print(f"FAIL {branches} branches, {workers} workers, stack {name}: {fault}")
    print(f"stacks: {passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
