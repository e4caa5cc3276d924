#!/usr/bin/env python3
"""Recursions deeper than the stack has room for calls: they end well on any stack, with either scheduler. Of functions
with many branches, and of a numeric function, a million levels deep, interpreted and compiled. And blocks and chains as deep as
they may be.

    stacks.py [--raddle PATH]
"""

import argparse
import itertools
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from golden import SCHEDULERS  # noqa: E402

KIB = 1024
STACKS = {"unlimited": resource.RLIM_INFINITY, "8 MiB": 8192 * KIB, "1 MiB": 1024 * KIB, "256 KiB": 256 * KIB}
DEPTH = 3000
MILLION = 1_000_000
SUM = f"""(int s) sum(int n) {{ if (n == 0) {{ s = 0; }} else {{ s = n + sum(n - 1); }} }}
trace(sum({MILLION}));
"""
CODE = ("--interpret", "--leaf-threshold=0")  # with 0 calls wait for machine code
INLINING = ("--inlining=adaptive", "--inlining=never")


def script(branches):
    """down(n, m) is the number of calls below it; each call goes through all the branches, block in block. Its end may
    be traced before or after the number: nothing says which comes first."""
    chain = "".join(f" else if (m == {i}) {{ o = {i}; trace(n); }}" for i in range(branches))
    return ("(int o) down(int n, int m) {\n  if (n == 0) { o = 0; trace(0); }"
            f"{chain} else {{ o = 1 + down(n - 1, m); }}\n}}\ntrace(down({DEPTH}, 1000000));\n")


NESTED = "int x = size([1]);\n" + "if (x == 1) { " * 999 + "trace(x);" + " }" * 999 + "\n"
CHAIN = "int x = size([1]);\n" + "trace(x) => " * 1000 + "trace(2);\n"


def fault_of(raddle, path, options, limit, expected):
    def limit_stack():
        resource.setrlimit(resource.RLIMIT_STACK, (limit, resource.getrlimit(resource.RLIMIT_STACK)[1]))

    run = subprocess.run([raddle, "run", *options, path], preexec_fn=limit_stack, timeout=60,
                         capture_output=True, text=True, check=False)
    if run.returncode == 0 and sorted(run.stdout.splitlines()) == expected:
        return None
    return f"exit code {run.returncode}, {run.stdout!r}, {run.stderr[:400]!r}"


def cases():
    """(label, text, options, stack, lines that are printed, sorted)"""
    schedulers = itertools.cycle(SCHEDULERS)
    for branches, stack, workers in itertools.product((1, 20, 80), STACKS, (1, 4)):
        options = [f"--workers={workers}", f"--scheduler={next(schedulers)}"]
        yield f"{branches} branches", script(branches), options, stack, ["trace: 0", f"trace: {DEPTH}"]
    for stack, code, inlining, workers in itertools.product(("8 MiB", "256 KiB"), CODE, INLINING, (1, 4)):
        options = [code, inlining, f"--workers={workers}", f"--scheduler={next(schedulers)}", "--no-jit-cache"]
        yield "nested blocks", NESTED, ["-O0", *options[:3]], stack, ["trace: 1"]
        yield "a chain", CHAIN, ["-O0", *options[:3]], stack, ["trace: 1"] * 1000 + ["trace: 2"]
        yield "a million levels", SUM, options, stack, [f"trace: {MILLION * (MILLION + 1) // 2}"]


ENDLESS = "(int o) f(int n) { o = f(n + 1) + 1; }\ntrace(f(0));\n"


def fault_of_endless(raddle, path, options):
    """A recursion without end is told before it takes all memory; where the user says how much, that counts."""
    def limit_memory():
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))

    run = subprocess.run([raddle, "run", *options, path], preexec_fn=limit_memory, timeout=120,
                         capture_output=True, text=True, check=False)
    told = ("activations of `f` are open, which take more than 64 MiB" if "--call-memory" in options else
            "more than 5000000 calls are open inside each other, most of them of `f`: does the recursion end?")
    if run.returncode == 1 and told in run.stderr and ":1:24: error" in run.stderr:
        return None
    return f"exit code {run.returncode}, {run.stdout!r}, {run.stderr[:400]!r}"


def main():
    parser = argparse.ArgumentParser(description="Runs deep recursions on stacks of several sizes.")
    parser.add_argument("--raddle", default=str(ROOT / "build" / "raddle"))
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="raddle-stacks-") as folder:
        path = pathlib.Path(folder, "deep.df")
        for label, text, words, stack, expected in cases():
            path.write_text(text, encoding="utf-8")
            fault = fault_of(options.raddle, str(path), words, STACKS[stack], expected)
            passed += fault is None
            failed += fault is not None
            if fault:
                print(f"FAIL {label}, {' '.join(words)}, stack {stack}: {fault}")
        path.write_text(ENDLESS, encoding="utf-8")
        for words in (["--workers=2"], ["--workers=1", "--interpret"], ["--workers=2", "--call-memory", "64"]):
            fault = fault_of_endless(options.raddle, str(path), words)
            passed += fault is None
            failed += fault is not None
            if fault:
                print(f"FAIL a recursion without end, {' '.join(words)}: {fault}")
    print(f"stacks: {passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
