#!/usr/bin/env python3
"""Kills sweeps in the middle, resumes them, and looks whether anything was lost or done twice.

    sweep_kill.py [--raddle PATH] [--points N] [--kills N] [--seed N]

In full: --points 2000 --kills 20.
"""

import argparse
import collections
import contextlib
import csv
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from folder_tests import Fault, run_tests  # noqa: E402


def require(condition, text):
    if not condition:
        raise Fault(text)


def command(raddle, points, *more):
    """Each run adds its number to a file by one write, which tells how often it was begun, and writes a file in two steps."""
    return [raddle, "sweep", "-p", f"a=1:{points}", "--progress=none", "-j4", "-o", "x.csv", *more, "--",
            "sh", "-c", "echo {a} >> begun; echo {a} > files/{a}; sleep 0.002; echo whole >> files/{a}; echo E={a}"]


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


def runs(raddle, folder):
    done = subprocess.run([raddle, "runs", "list", "--json"], cwd=folder, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["runs"]


def recorded(raddle, folder):
    """The values of `a` whose points the record has."""
    if not runs(raddle, folder):
        return set()  # it was killed before it had begun
    return {str(json.loads(row[0])["a"]) for row in rows(folder, "SELECT parameters FROM point WHERE outcome = 0")}


def states(raddle, folder):
    return [run["state"] for run in runs(raddle, folder)]


def kill_and_resume(raddle, folder, points, kills, chance):
    (folder / "files").mkdir()
    settled = {}  # how often a point was begun when the record was first seen to have it
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
        if (folder / "x.csv").exists() and process.returncode != 0:
            check_table(folder / "x.csv", points)  # it was killed when all was done
        begun = collections.Counter(started(folder))
        settled |= {point: begun[point] for point in recorded(raddle, folder) - settled.keys()}
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
    begun = collections.Counter(started(folder))
    again = [point for point, times in settled.items() if begun[point] != times]
    require(not again, f"points {again} were in the record and begun again")
    for number in range(1, points + 1):
        found = (folder / "files" / str(number)).read_text(encoding="utf-8")
        require(found == f"{number}\nwhole\n", f"the file of point {number}: {found!r}")
    left = [path.name for path in folder.iterdir() if path.name not in (".raddle", "x.csv", "begun", "files")]
    require(all(name.endswith(".tmp") for name in left), f"files: {left}")
    return f"{begun.total() - points} of {points} begun again after {kills} kills, {len(settled)} were in the record by then"


SCRIPT = """
@param int a = 1;
(float s) work(int n) { for (s = 0.0, int i = 1; i <= n; i = i + 1, s = s + 1.0 / itof(i)) {} }
@result float sum = work(2000 + a %% 7);
@result int twice = 2 * a %/ (a %% 5000 - 4999);
"""


def kill_and_resume_script(raddle, folder, points, kills, chance):
    """A script that only computes numbers: thousands of points at a time; each 5,000th fails."""
    points *= 1000
    (folder / "model.df").write_text(SCRIPT, encoding="utf-8")
    start = [raddle, "sweep", "model.df", "-p", f"a=1:{points}", "--progress=none", "--no-jit-cache", "-o", "x.csv"]
    for _ in range(kills):
        process = subprocess.Popen(start, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0, 0.6))
        process.send_signal(signal.SIGKILL)
        process.wait()
    last = subprocess.run(start, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    require(last.returncode == 4, f"the last one ended with {last.returncode}: {last.stderr.decode()}")
    wrong = 0
    with open(folder / "x.csv", encoding="utf-8", newline="") as table:
        for number, line in enumerate(csv.DictReader(table), start=1):
            divisor = number % 5000 - 4999
            expected = ("failed", "") if divisor == 0 else ("ok", str(int(2 * number / divisor)))
            wrong += (line["a"], line["outcome"], line["twice"]) != (str(number), *expected)
    require(wrong == 0 and number == points, f"{number} rows, {wrong} of them wrong")
    kept = rows(folder, "SELECT sum(count), max(length(keys)) FROM block")[0]
    done = points - points // 5000 - (points % 5000 == 4999)
    require(kept[0] == done, f"{kept[0]} points in blocks, expected {done}: lost, or done twice")
    taken = runs(raddle, folder)[-1]["from_record"]  # of those that were killed it is not known
    return f"{taken} of {points} from the record after {kills} kills"


def two_at_once(raddle, folder, points, _kills, _chance):
    """Two sweeps of the same points and one of others, at the same time, in one folder that has no record yet."""
    (folder / "files").mkdir()
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
    # the first signal lets them end; the second does not, else this would never end
    work = f"echo {{a}} >> begun; exec sleep {0.3 if times == 1 else 1000}"
    process = subprocess.Popen([raddle, "sweep", "-p", "a=1:1000", "-j2", "--", "sh", "-c", work],
                               cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while len(started(folder)) < 2 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(sent)
    while times > 1 and process.poll() is None:  # one that comes at once after the first is the same one
        time.sleep(1)
        process.send_signal(sent)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=3)
    error = process.communicate(timeout=30)[1].decode()
    require(process.returncode == expected, f"{sent}: exit code {process.returncode}, expected {expected}: {error}")
    require("raddle sweep --resume=" in error, f"{sent}: no word of how to resume: {error}")
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


def ended_points_survive(raddle, folder, _points, kills, _chance):
    """Points that end now and then are in the record at once: when it is killed, only the one that runs is lost."""
    line = [raddle, "sweep", "-p", "a=1:1000", "-j1", "--progress=none", "--", "sh", "-c", "echo {a} >> begun; sleep 0.4; echo {a} >> done"]
    for number in range(1, kills + 1):
        process = subprocess.Popen(line, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while len(started(folder)) < 3 * number and process.poll() is None:
            time.sleep(0.001)
        time.sleep(0.2)  # in the middle of the next one
        process.send_signal(signal.SIGKILL)
        process.wait()
    recorded = rows(folder, "SELECT count(*) FROM point WHERE outcome = 0")[0][0]
    ended = len((folder / "done").read_text(encoding="utf-8").split())
    late = kills // 3  # on a machine with much else to do a kill may come when a point has just ended
    require(recorded >= ended - late, f"only {recorded} of {ended} points that had ended are in the record")
    return f"{recorded} of {ended} points that had ended are in the record after {kills} kills"


def ignored_signals(raddle, folder, _points, _kills, _chance):
    """What whoever started it ignores, as `nohup` does SIGHUP and `sh` the SIGINT of what it runs by `&`, stays ignored."""
    (folder / "model.df").write_text("import sys;\napp (void v) begin() { \"sh\" \"-c\" \"echo 1 >> begun; sleep 0.3\" }\n"
                                     "begin() => sleep(0.1) => trace(\"whole\");\n", encoding="utf-8")
    lines = [["sweep", "-p", "a=1:3", "-j1", "--", "sh", "-c", "echo {a} >> begun; sleep 0.3"], ["run", "model.df"]]
    for ignored in (signal.SIGHUP, signal.SIGINT):
        for line in lines:
            (folder / "begun").unlink(missing_ok=True)
            process = subprocess.Popen([raddle, *line, *([ignored.name] if line[0] == "sweep" else [])], cwd=folder,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       preexec_fn=lambda ignored=ignored: signal.signal(ignored, signal.SIG_IGN))
            while not started(folder) and process.poll() is None:
                time.sleep(0.01)
            process.send_signal(ignored)
            out, error = process.communicate(timeout=30)
            told = f"{line[0]}, {ignored.name}: exit code {process.returncode}: {error.decode()}"
            require(process.returncode == 0, told)
            require(b"whole" in out if line[0] == "run" else b"3 points, " in error, told)


ENDLESS = {
    "recursion": "(int r) fib(int n) { if (n < 2) { r = n; } else { r = fib(n - 1) + fib(n - 2); } }\n"
                 "@result int y = fib(n);\n",
    "composite": "import io;\n(int r) fib(int n) { if (n < 2) { printf(\"\") => r = n; } else { r = fib(n - 1) + fib(n - 2); } }\n"
                 "@result int y = fib(n);\n",
    "loop": "(int r) go(int n) { for (r = 0, int i = 0; i < n; i = i + 1, r = r + i %% 3) {} }\n"
            "@result int y = go(n * n * n * n * n * n * n);\n",
    "program": "app (void v) nap(int n) { \"sleep\" n }\n@result int y;\nwait (nap(100 * n - 100)) { y = n; }\n",
}


def processor_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def sleepers(pid):
    """Children that are programs of the script, not what watches over them."""
    tasks = pathlib.Path(f"/proc/{pid}/task").glob("*/children")
    return [child for task in tasks for child in proc_text(task).split()
            if proc_text(pathlib.Path(f"/proc/{child}/comm")).strip() == "sleep"]


def proc_text(path):
    """"": the process, or thread, has ended meanwhile."""
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""


def endless_scripts(raddle, folder, _points, _kills, _chance):
    """One signal ends a sweep over a script whose points have no end; what is done is kept, memory stays small."""
    for name, text in ENDLESS.items():
        for sent, expected in ((signal.SIGTERM, 75), (signal.SIGINT, 130)):
            own = folder / f"{name}-{expected}"
            own.mkdir()
            (own / "model.df").write_text(f"@param int n = 1;\n{text}", encoding="utf-8")
            process = subprocess.Popen([raddle, "sweep", "model.df", "-p", "n=1,90,91", "-j2", "--progress=none"], cwd=own,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            deadline = time.monotonic() + 20
            while not ((own / ".raddle" / "runs.db").exists() and sum(states_ok(raddle, own)) == 1):
                require(time.monotonic() < deadline, f"{name}: the first point is not recorded")
                time.sleep(0.05)
            begun = processor_s(process.pid)
            while not (len(sleepers(process.pid)) == 2 if name == "program" else processor_s(process.pid) > begun + 0.3):
                require(time.monotonic() < deadline, f"{name}: the points that have no end are not at work")
                time.sleep(0.01)
            memory = [line for line in open(f"/proc/{process.pid}/status", encoding="ascii") if line.startswith("VmHWM")]
            require(int(memory[0].split()[1]) < 200_000, f"{name}: {memory}")
            process.send_signal(sent)
            error = process.communicate(timeout=10)[1].decode()
            require(process.returncode == expected, f"{name}: exit code {process.returncode}, expected {expected}: {error}")
            require("2 running, ended now: up to 2 of 3 points left; resume with `raddle sweep --resume=" in error, f"{name}: {error}")
            counts = runs(raddle, own)[0]
            require((counts["ok"], counts["failed"]) == (1, 0), f"{name}: {counts}")


def states_ok(raddle, folder):
    return [run["ok"] for run in runs(raddle, folder)]


def main():
    parser = argparse.ArgumentParser(description="Kills sweeps in the middle.")
    parser.add_argument("--raddle", default=str(ROOT / "build" / "raddle"))
    parser.add_argument("--points", type=int, default=300)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    raddle = str(pathlib.Path(options.raddle).resolve())
    print(f"sweeps: --seed {options.seed}")
    tests = (kill_and_resume, kill_and_resume_script, ended_points_survive, two_at_once, signals, ignored_signals,
             endless_scripts)
    run_tests("sweeps", tests, lambda test, folder: test(raddle, folder, options.points, options.kills,
                                                         random.Random(options.seed)))


if __name__ == "__main__":
    os.environ.pop("NO_COLOR", None)
    main()
