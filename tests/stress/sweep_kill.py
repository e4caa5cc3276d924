#!/usr/bin/env python3
"""Kills sweeps in the middle, resumes them, and looks whether anything was lost or done twice.

    sweep_kill.py [--raddle PATH] [--points N] [--kills N] [--seconds S] [--seed N]

In full: --points 2000 --kills 20.
"""

import argparse
import csv
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Fault(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Fault(text)


def command(raddle, points, *more):
    """Each run adds its number to a file by one write, which tells how often it was begun."""
    return [raddle, "sweep", "-p", f"a=1:{points}", "--progress=none", "-j4", "-o", "x.csv", *more, "--",
            "sh", "-c", "echo {a} >> begun; sleep 0.002; echo E={a}"]


def rows(folder, query):
    connection = sqlite3.connect(folder / ".raddle" / "runs.db")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def started(folder):
    try:
        return (folder / "begun").read_text(encoding="utf-8").split()
    except OSError:
        return []


def check_table(path, points):
    with open(path, encoding="utf-8", newline="") as table:
        lines = list(csv.DictReader(table))
    require([line["a"] for line in lines] == [str(i) for i in range(1, points + 1)], f"{path}: not every point once")
    require(all(line["outcome"] == "ok" and line["stdout"] == f"E={line['a']}" for line in lines), f"{path}: wrong rows")


def states(raddle, folder):
    done = subprocess.run([raddle, "runs", "list", "--json"], cwd=folder, stdout=subprocess.PIPE, check=True)
    return [run["state"] for run in json.loads(done.stdout)["runs"]]


def kill_and_resume(raddle, folder, points, kills, chance):
    process = None
    for number in range(kills):
        is_resumable = number > 0 and states(raddle, folder)  # else it was killed before it had begun
        words = [raddle, "sweep", "--resume"] if is_resumable else command(raddle, points)
        process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        left = points - len(set(started(folder)))
        time.sleep(chance.uniform(0, max(0.03, 0.004 * left / max(1, kills - number))))
        if process.poll() is not None and number:
            require(process.returncode == 0, f"it ended with {process.returncode}")
        process.send_signal(signal.SIGKILL)
        process.wait()
        require(not (folder / "x.csv").exists() or process.returncode == 0, "a table although points are missing")
    found = states(raddle, folder)
    require(all(state in ("killed", "done") for state in found), f"states: {found}")
    last = subprocess.run([*command(raddle, points)], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          check=False)
    require(last.returncode == 0, f"the last one ended with {last.returncode}: {last.stderr.decode()}")
    check_table(folder / "x.csv", points)
    twice = rows(folder, "SELECT key FROM point WHERE outcome = 0 GROUP BY key HAVING count(*) > 1")
    require(not twice, f"{len(twice)} points have more than one row that ended well")
    done = rows(folder, "SELECT count(DISTINCT key) FROM point WHERE outcome = 0")[0][0]
    require(done == points, f"{done} points in the record")
    begun = started(folder)
    require(len(begun) <= points + kills * 150, f"{len(begun)} runs for {points} points: more than what was in flight")
    left = [path.name for path in folder.iterdir() if path.name not in (".raddle", "x.csv", "begun")]
    require(all(name.endswith(".tmp") for name in left), f"files: {left}")
    return f"{len(begun) - points} of {points} begun again after {kills} kills"


def two_at_once(raddle, folder, points, _kills, _chance):
    """Two sweeps of the same points and one of others, at the same time, in one folder that has no record yet."""
    words = [command(raddle, points), command(raddle, points, "--no-cache"), command(raddle, points, "--repeats=2")]
    words[1][words[1].index("x.csv")] = "y.csv"
    words[2][words[2].index("x.csv")] = "z.csv"
    processes = [subprocess.Popen(line, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for line in words]
    for process in processes:
        error = process.communicate(timeout=300)[1].decode()
        require(process.returncode == 0, f"it ended with {process.returncode}: {error}")
    check_table(folder / "x.csv", points)
    check_table(folder / "y.csv", points)
    ids = rows(folder, "SELECT id, state, ok + taken FROM run")
    require(len({row[0] for row in ids}) == 3 and all(row[1] == 1 for row in ids), f"runs: {ids}")
    require(sorted(row[2] for row in ids) == [points, points, 2 * points], f"runs: {ids}")


def interrupt(raddle, folder, sent, expected, times):
    process = subprocess.Popen([raddle, "sweep", "-p", "a=1:1000", "-j2", "--", "sh", "-c", "echo {a} >> begun; sleep 0.3"],
                               cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while len(started(folder)) < 2 and process.poll() is None:
        time.sleep(0.01)
    for _ in range(times):
        process.send_signal(sent)
        time.sleep(0.05)
    begin = time.monotonic()
    error = process.communicate(timeout=30)[1].decode()
    require(process.returncode == expected, f"{sent}: exit code {process.returncode}, expected {expected}: {error}")
    require("raddle sweep --resume=" in error, f"{sent}: no word of how to resume: {error}")
    require(times == 1 or time.monotonic() - begin < 4, "the second signal did not end it at once")
    finished = rows(folder, "SELECT count(*) FROM point WHERE outcome = 0")[0][0]
    failed = rows(folder, "SELECT count(*) FROM point WHERE outcome <> 0")[0][0]
    require(failed == 0, f"{sent}: {failed} points that were ended count as failed")
    require(times > 1 or finished == len(started(folder)), f"{sent}: {finished} of {len(started(folder))} begun are recorded")


def signals(raddle, folder, _points, _kills, _chance):
    for number, (sent, expected, times) in enumerate(
            ((signal.SIGINT, 130, 1), (signal.SIGINT, 130, 2), (signal.SIGTERM, 75, 1), (signal.SIGUSR1, 75, 1))):
        own = folder / str(number)
        own.mkdir()
        interrupt(raddle, own, sent, expected, times)


def main():
    parser = argparse.ArgumentParser(description="Kills sweeps in the middle.")
    parser.add_argument("--raddle", default=str(ROOT / "build" / "raddle"))
    parser.add_argument("--points", type=int, default=300)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    raddle = str(pathlib.Path(options.raddle).resolve())
    failed = 0
    tests = (kill_and_resume, two_at_once, signals)
    for test in tests:
        with tempfile.TemporaryDirectory(prefix="raddle-sweep-") as folder:
            try:
                told = test(raddle, pathlib.Path(folder), options.points, options.kills, random.Random(options.seed))
                if told:
                    print(f"sweeps: {test.__name__}: {told}")
            except (Fault, subprocess.SubprocessError, OSError) as fault:
                failed += 1
                print(f"sweeps: {test.__name__} (--seed {options.seed}): {fault}")
    print(f"sweeps: {len(tests) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    os.environ.pop("NO_COLOR", None)
    main()
