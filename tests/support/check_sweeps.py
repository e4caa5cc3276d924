#!/usr/bin/env python3
"""What `raddle sweep`, `raddle runs` and `raddle rerun` print and write. Each test has a folder of its own.

    check_sweeps.py [--raddle PATH] [FILTER]
"""

import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Fault(Exception):
    pass


class Folder:
    """A folder in which commands are typed."""

    def __init__(self, raddle, path):
        self.raddle = raddle
        self.path = pathlib.Path(path)

    def run(self, line, code=0, out=None, err=None):
        """`out`: the whole of standard output; `err`: a part of standard error."""
        done = subprocess.run([self.raddle, *shlex.split(line)], cwd=self.path, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False, text=True)
        if done.returncode != code:
            raise Fault(f"{line}: exit code {done.returncode}, expected {code}: {done.stderr}")
        if out is not None and done.stdout != out:
            raise Fault(f"{line}: expected {out!r}, found {done.stdout!r}")
        if err is not None and err not in done.stderr:
            raise Fault(f"{line}: expected {err!r} on stderr, found {done.stderr!r}")
        return done

    def column(self, line, *names, code=0):
        """Cells of the table on standard output, a line for each row; no cell may hold a comma."""
        lines = self.run(line, code).stdout.splitlines()
        head = lines[0].split(",")
        return [" ".join(row.split(",")[head.index(name)] for name in names) for row in lines[1:]]

    def write(self, name, text):
        (self.path / name).write_text(text, encoding="utf-8")

    def read(self, name):
        return (self.path / name).read_text(encoding="utf-8")


def expect(found, expected):
    if found != expected:
        raise Fault(f"expected {expected!r}, found {found!r}")


def grid_is_run_and_extended(folder):
    expect(folder.column("sweep -p a=1,2 -p b=0:1:0.5 -- echo {a}/{b}", "stdout"),
           ["1/0.0", "1/0.5", "1/1.0", "2/0.0", "2/0.5", "2/1.0"])
    folder.run("sweep -p a=1,2,3 -p b=0:1:0.5 -- echo {a}/{b}", err="9 points, 6 from the record")
    folder.run("sweep -p b=0:1:0.5 -p a=3,2,1 -- echo {a}/{b}", err="9 points, 9 from the record")
    done = folder.run("sweep -p a=1,2,3 -p b=0:1:0.5 --no-cache -- echo {a}/{b}")
    expect("from the record" in done.stderr, False)


def points_of_every_kind(folder):
    folder.write("points.csv", "x,name\n1,p\n2,q\n")
    expect(folder.column("sweep --from points.csv -- echo {x}{name}", "stdout"), ["1p", "2q"])
    expect(folder.column("sweep -p a=1,2 -p b=x,y --zip a,b -- echo {a}{b}", "stdout"), ["1x", "2y"])
    expect(folder.column("sweep -p a=1:9 -p n=x,y --where 'a*a > 50 && n == \"y\"' -- echo {a}{n}", "stdout"), ["8y", "9y"])
    expect(folder.column("sweep -p a=1:7 --shard 2/3 -- echo {a} {#}", "stdout"), ["2 2", "5 5"])
    expect(folder.column("sweep -p a=1:3 --order random -- echo {a}", "a"), ["1", "2", "3"])
    rows = folder.column("sweep -p a=1,2 --repeats 2 -- echo {a} {rep} {seed}", "a", "rep", "seed")
    expect(rows, folder.column("sweep -p a=1,2 --repeats 2 -- echo {a} {rep} {seed}", "stdout"))
    expect(len(set(row.split()[2] for row in rows)), 4)
    for method in ("--random", "--lhs", "--sobol"):
        values = folder.column(f"sweep {method} 8 -p 'x~U(2,3)' -- echo {{x}}", "stdout")
        expect(len(set(values)) == 8 and all(2 < float(value) < 3 for value in values), True)


def results_are_collected(folder):
    folder.run("sweep -p a=1,2 --collect json: -- echo 'log {a}' '{{\"E\":{a}.50}}'", code=4, err="no result: no JSON object")
    folder.run("sweep -p a=1,2 --collect json: -o x.jsonl -- printf 'log\\n{{\"E\":{a}.50,\"t\":{{\"u\":\"v\"}}}}'")
    first = json.loads(folder.read("x.jsonl").splitlines()[0])
    expect((first["a"], first["E"], first["t.u"], first["outcome"]), (1, 1.5, "v", "ok"))
    expect(folder.column("sweep -p a=1,2 --collect 'regex:E=(\\S+)' -- echo E={a}", "E"), ["1", "2"])
    folder.run("sweep -p a=1,2 -- echo E={a}", err="2 from the record")  # made anew from what was printed
    write = "sh -c 'printf \"t,E\\n0,9\\n1,{a}\\n\" > out_{#}.csv'"
    expect(folder.column(f"sweep -p a=4,5 --collect csv:out_{{#}}.csv -- {write}", "t", "E"), ["1 4", "1 5"])
    expect(folder.column("sweep -p a=1,2 -p b=1:3 --collect 'regex:E=(\\S+)' --group-by a --agg mean,std,n -- "
                         "echo E={a}{b}", "a", "E_mean", "E_std", "E_n"), ["1 12 1 3", "2 22 1 3"])
    expect(folder.column("sweep -p a=1 --collect json: -- echo '{{\"a\":7}}'", "a", "a_result"), ["1 7"])


def failures(folder):
    bad = "sh -c 'echo at {a} bad >&2; exit $(({a} %% 2))'".replace("%%", "%")
    done = folder.run(f"sweep -p a=1:4 -j1 -o x.csv -- {bad}", code=4, err="2 failed: exit code 1; at 1 bad")
    expect("as point 1: sh -c 'echo at 1 bad >&2; exit $((1 % 2))'" in done.stderr, True)
    expect([line.split(",")[2] for line in folder.read("x.csv").splitlines()[1:]], ["exit code", "ok", "exit code", "ok"])
    folder.run("rerun --failed", code=4, err="2 points, 2 failed")
    expect(len(folder.read("x.csv").splitlines()), 5)  # the whole table
    folder.run("sweep --resume", code=4, err="2 from the record, 2 failed")
    folder.run("sweep -p a=1:40 -- false", code=75, err="the first runs have all failed")
    folder.run("sweep -p a=1:40 -k -- false", code=4, err="40 failed")
    folder.run("sweep -p a=1:40 -j1 --max-fails 2 -o y.csv -- sh -c 'exit {a}'", code=75, err="3 of 40 points, 3 failed")
    expect((folder.path / "y.csv").exists(), False)
    folder.run("sweep -p a=1:40 -j1 --max-fails 50% -- sh -c 'test {a} -gt 5'", err="5 failed", code=4)
    folder.run("sweep -p a=1 -- nowhere_to_be_found", code=4, err="not started: no such file or directory")
    folder.run("sweep -p a=1 --timeout 0.1 -- sleep 20", code=4, err="ended by --timeout")
    folder.run("sweep -p a=1 -- sh -c 'kill -SEGV $$'", code=4, err="signal 11 (Segmentation fault)")
    folder.run("sweep -p a=1 --retries 3 -- sh -c 'echo x >> tries; test $(wc -l < tries) -gt 2'", err="2 retries")


def output_is_bounded_and_its_own(folder):
    folder.run("sweep -p a=1 -- sh -c 'yes | head -c 100000; echo end'")
    log = json.loads(folder.run("runs logs --json").stdout)
    expect((log["schema"], log["log"]["stdout_size"], len(log["log"]["stdout"])), (1, 100004, 4096))
    rows = folder.column("sweep -p a=1:20 -j1 -- sh -c 'echo {a}; (sleep 0.05; echo late) &'", "stdout")
    expect(rows, [str(i) for i in range(1, 21)])


def record_is_read(folder):
    folder.run("runs list", code=1, err="nothing was recorded in this folder")
    folder.run("sweep --resume", code=1, err="nothing was recorded in this folder")
    folder.run("sweep -p a=1,2 -- echo {a}")
    folder.run("sweep -p a=1,2,3 -- echo {a}")
    runs = json.loads(folder.run("runs list --json").stdout)
    expect((runs["schema"], [(run["state"], run["ok"], run["from_record"]) for run in runs["runs"]]),
           (1, [("done", 2, 0), ("done", 1, 2)]))
    folder.run("runs show", err="")
    folder.run(f"runs logs {runs['runs'][0]['id']} 2", out=folder.run(f"runs logs {runs['runs'][0]['id']} 2").stdout)
    folder.run(f"runs logs {runs['runs'][1]['id']} 2", code=1, err="may have been taken from an earlier run")
    folder.run("runs show nonsense", code=2, err="no run is named `nonsense`")
    folder.run(f"runs rm {runs['runs'][0]['id']}")
    folder.run("sweep -p a=1,2,3 -- echo {a}", err="1 from the record")
    folder.run("rerun", err="3 points, ")


def script_does_the_same(folder):
    for options in ("-p a=1,2 -p n=x,'\"y'", "-p a=1:4 --where 'a > 2'", "--lhs 3 -p 'a~U(0,1)' -p n=u --repeats 2"):
        options += "" if " n=" in options else " -p n=z"
        command = "-- echo --a={a} {n}" + (" {seed} {#}" if "repeats" in options else "")
        expected = folder.column(f"sweep {options} {command}", "stdout")
        folder.write("printed.df", folder.run(f"sweep {options} --print-script {command}").stdout)
        printed = folder.run("run printed.df").stdout.splitlines()
        quoted = [line.replace('"', '""') for line in printed]
        expect(sorted(quoted), sorted(row.strip('"') for row in expected))


def ten_million_points_are_lazy(folder):
    begin = time.monotonic()
    folder.run("sweep -p a=1:10000000 --max-fails 0 -j1 -- sh -c 'grep VmHWM /proc/$PPID/status; exit {a}'", code=75)
    seconds = time.monotonic() - begin
    log = json.loads(folder.run("runs logs --json").stdout)["log"]
    expect(seconds < 5 and int(log["stdout"].split()[1]) < 200_000, True)  # 1 s on a machine that does nothing else


def errors(folder):
    folder.write(".raddle", "in the way")
    folder.run("sweep -p a=1 -- echo {a}", code=1, err="can not make the folder `.raddle`")
    (folder.path / ".raddle").unlink()
    for line, part in (
            ("sweep -p a=1:x -- echo", "  -p a=1:x\n         ^"),
            ("sweep -p a=1 -- echo --x={b}", "  --x={b}\n      ^^^"),
            ("sweep -p beta=1 -- echo {bta}", "did you mean `{beta}`?"),
            ("sweep -p 'a~U(0,1)' -- echo {a}", "--random N, --lhs N or --sobol N"),
            ("sweep -p a=1,2 -p b=1 --zip a,b -- echo", "`b` has 1 value, but `a` has 2"),
            ("sweep -p a=1 --where 'a <' -- echo", "--where:1:4: error"),
            ("sweep -p a=1 --where 'a + 1' -- echo", "--where:1:1: error"),
            ("sweep -p a=1 --where 'b > 1' -- echo", "unknown variable `b`"),
            ("sweep -p a=1 --shard 4/3 -- echo", "a shard is i/n"),
            ("sweep -p a=1 --max-fails x -- echo", "it is a number, or a percentage"),
            ("sweep -p a=1 --collect jsn: -- echo", "no such kind of result"),
            ("sweep -p a=1 --group-by b -- echo", "there is no parameter `b`"),
            ("sweep -p a=1 -o x.parquet -- echo", "not supported yet: Parquet"),
            ("sweep -p a=1 -o x.txt -- echo", "a table is .csv or .jsonl"),
            ("sweep -p a=1 -o nowhere/x.csv -- echo", "can not write into `nowhere`"),
            ("sweep -p a=1", "no script, and no command: a command stands behind `--`"),
            ("sweep -p a=1 echo {a}", "a command stands behind `--`"),
            ("sweep model.df -p a=1", "can not read `model.df`"),
            ("sweep --from nowhere.csv -- echo", "can not read `nowhere.csv`"),
            ("sweep --job 3 -- echo", "did you mean `--jobs`?"),
            ("sweep --random 3 --lhs 3 -p 'a~U(0,1)' -- echo", "exclude each other")):
        folder.run(line, code=2, err=part)
    folder.run("sweep -p a=0:3 --where '6 %/ a > 2' -- echo {a}", code=1, err="--where: division by zero")
    folder.run("sweep --help", out=folder.run("sweep -h").stdout)


TESTS = [grid_is_run_and_extended, points_of_every_kind, results_are_collected, failures, output_is_bounded_and_its_own,
         record_is_read, script_does_the_same, ten_million_points_are_lazy, errors]


def main():
    parser = argparse.ArgumentParser(description="Tests the verbs of sweeps.")
    parser.add_argument("--raddle", default=str(ROOT / "build" / "raddle"))
    parser.add_argument("filter", nargs="?", default="")
    options = parser.parse_args()
    os.environ.update(NO_COLOR="1", TERM="dumb")
    raddle = str(pathlib.Path(options.raddle).resolve())
    tests = [test for test in TESTS if options.filter in test.__name__]
    failed = 0
    for test in tests:
        with tempfile.TemporaryDirectory(prefix="raddle-sweep-") as folder:
            try:
                test(Folder(raddle, folder))
            except (Fault, OSError, subprocess.SubprocessError, ValueError, IndexError, KeyError) as fault:
                failed += 1
                print(f"sweeps: {test.__name__}: {fault}")
    print(f"sweeps: {len(tests) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
