#!/usr/bin/env python3
"""Ends runs in the middle by signals: the exit code is right, no program lives on, no half-written output stays, and
computations that would take for ever end, too, interpreted and compiled. With each scheduler in turn.

    end_of_run.py [--raddle PATH] [--rounds N]

A child's sleep has a length that nobody else uses, so that it is found in the process list.
"""

import argparse
import itertools
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from golden import SCHEDULERS  # noqa: E402

SCRIPT = """
app (file o) slow(int i) { "sh" "-c" "echo started; sleep %s" i @stdout=o }
file a <"slow_a.txt"> = slow(1);
file b <"slow_b.txt"> = slow(2);
"""
LOOP = """
app (void v) nap(int i) { "sleep" "%s" }
for (int i = 0; i < 1000000; i = i + 1) { nap(i); }
"""

RECURSION = """
(int o) fib(int n) { if (n < 2) { o = n; } else { o = fib(n - 1) + fib(n - 2); } }
trace(fib(90));
"""
COUNTING = """
(float s) count(int n) {
  float y;
  for (int i = 0, y = 0.5; i < n * 1000000000000; i = i + 1, y = y + 1.0 / (y + 1.0)) { }
  s = y;
}
trace(count(size([1, 2])));
"""


def children(mark):
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[0].endswith(b"sleep") and mark.encode() in words:
                found.append(folder.name)
    return found


def wait_for(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def limited(limit, bytes_):
    return lambda: resource.setrlimit(limit, (bytes_, resource.RLIM_INFINITY))


def fault_of_copy(raddle):
    """A copy that finds no room leaves the file as it was, and nothing beside it."""
    with tempfile.TemporaryDirectory(prefix="raddle-ending-") as folder:
        script, target = pathlib.Path(folder, "copy.df"), pathlib.Path(folder, "target.bin")
        script.write_text('import files;\nfile f <"target.bin"> = input("source.bin");\n', encoding="utf-8")
        pathlib.Path(folder, "source.bin").write_bytes(bytes(300_000))
        target.write_text("as it was", encoding="utf-8")
        code = subprocess.run([raddle, "run", str(script)], cwd=folder, stderr=subprocess.DEVNULL, check=False, timeout=60,
                              restore_signals=False, preexec_fn=limited(resource.RLIMIT_FSIZE, 65_536)).returncode
        left = sorted(path.name for path in pathlib.Path(folder).iterdir())
        if (code, left, target.read_text(encoding="utf-8")) != (1, ["copy.df", "source.bin", "target.bin"], "as it was"):
            return f"exit code {code}, files {left}"
    return None


def fault_of(raddle, scheduler, text, number, sent, expected, leaves_files, stack_bytes):
    mark = f"77{os.getpid() % 100000}{number}"
    with tempfile.TemporaryDirectory(prefix="raddle-ending-") as folder:
        script = pathlib.Path(folder, "long.df")
        script.write_text(text % mark, encoding="utf-8")
        run = subprocess.Popen([raddle, "run", "--no-jit-cache", "--workers=2", "--processes=2", scheduler, str(script)],
                               cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=limited(resource.RLIMIT_STACK, stack_bytes))
        if not wait_for(lambda: len(children(mark)) == 2):
            run.kill()
            return "the programs did not start"
        run.send_signal(sent)
        try:
            code = run.wait(timeout=20)
        except subprocess.TimeoutExpired:
            run.kill()
            return "it did not end"
        if code != expected:
            return f"exit code {code}, expected {expected}"
        # after SIGKILL a shell that outlives raddle ends them
        if not wait_for(lambda: not children(mark), 10.0):
            return f"still running: {children(mark)}"
        left = [] if leaves_files else [p.name for p in pathlib.Path(folder).glob("slow_*.txt")]
        for process in children(mark):
            os.kill(int(process), signal.SIGKILL)
        return f"left behind: {left}" if left else None


def seconds_used(process):
    """Of processor time."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def fault_of_computation(raddle, text, options):
    with tempfile.TemporaryDirectory(prefix="raddle-ending-") as folder:
        script = pathlib.Path(folder, "long.df")
        script.write_text(text, encoding="utf-8")
        run = subprocess.Popen([raddle, "run", "--no-jit-cache", *options, str(script)], cwd=folder,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            if not wait_for(lambda: run.poll() is not None or seconds_used(run) > 0.5):
                return "it computes nothing"
            if run.poll() is not None:
                return f"it ended by itself with {run.returncode}"
            run.send_signal(signal.SIGINT)
            code = run.wait(timeout=20)
            return None if code == 130 else f"exit code {code}, expected 130"
        except subprocess.TimeoutExpired:
            return "it did not end"
        finally:
            run.kill()
            run.wait()


def main():
    parser = argparse.ArgumentParser(description="Ends runs in the middle.")
    parser.add_argument("--raddle", default=str(ROOT / "build" / "raddle"))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    large, small = 64 << 20, 1 << 20  # of the stack: with little room the work is done by a thread that has more
    cases = [
        ("SIGINT", SCRIPT, signal.SIGINT, 130, False, large),
        ("SIGTERM", SCRIPT, signal.SIGTERM, 75, False, large),
        ("SIGTERM with a small stack", SCRIPT, signal.SIGTERM, 75, False, small),
        ("SIGHUP", SCRIPT, signal.SIGHUP, 75, False, large),
        ("SIGKILL", SCRIPT, signal.SIGKILL, -signal.SIGKILL, True, large),
        ("SIGINT in a loop of programs", LOOP, signal.SIGINT, 130, False, large),
    ]
    modes = [[level, f"--workers={workers}"] for level in ("-O0", "-O2") for workers in (1, 2)]
    schedulers = itertools.cycle(f"--scheduler={name}" for name in SCHEDULERS)
    faults = [("a copy without room", fault_of_copy(options.raddle))]
    for number in range(options.rounds):
        next(schedulers)  # else each case would have the same one in every round
        for index, (name, text, *rest) in enumerate(cases):
            scheduler = next(schedulers)
            faults.append((f"{name} {scheduler}", fault_of(options.raddle, scheduler, text, number * 10 + index, *rest)))
    for name, text in (("a recursion", RECURSION), ("a loop", COUNTING)):
        for mode in [[*mode, next(schedulers)] for mode in modes]:
            faults.append((f"SIGINT in {name} {' '.join(mode)}", fault_of_computation(options.raddle, text, mode)))
    for name, fault in faults:
        if fault is not None:
            print(f"FAIL {name}: {fault}")
    failed = sum(fault is not None for _, fault in faults)
    print(f"ending: {len(faults) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
