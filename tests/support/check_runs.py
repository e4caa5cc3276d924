#!/usr/bin/env python3
"""What `raddle runs`, `raddle why` and `raddle rerun` say of recorded runs. Each test has a folder of its own.

    check_runs.py [--raddle PATH] [FILTER]
"""

import json
import shlex
import signal
import subprocess
import time

from folder_tests import expect, expect_in, main, wait_for
from sweep_folder import SweepFolder, run_id


def record_is_read(folder):
    folder.run("runs list", code=1, err="nothing was recorded in this folder")
    folder.run("sweep --resume", code=1, err="nothing was recorded in this folder")
    folder.run("sweep -p a=1,2 -- echo {a}")
    folder.run("sweep -p a=1,2,3 -- echo {a}")
    runs = json.loads(folder.run("runs list --json").stdout)
    expect((runs["schema"], [(run["state"], run["ok"], run["from_record"]) for run in runs["runs"]]),
           (1, [("done", 2, 0), ("done", 1, 2)]))
    expect(folder.run("runs").stdout, folder.run("runs list").stdout)
    folder.run("runs show", err="")
    folder.run(f"runs logs {runs['runs'][0]['id']} 2", out=folder.run(f"runs logs {runs['runs'][0]['id']} 2").stdout)
    folder.run(f"runs logs {runs['runs'][1]['id']} 2", code=1, err="from which run it may have been taken: raddle why ")
    expect(folder.run("runs show last").stdout, folder.run(f"runs show {runs['runs'][1]['id']}").stdout)
    folder.run("runs show nonsense", code=2, err="no run is named `nonsense`")
    folder.run("runs show last/1", code=2, err="  = help: a point is shown by `raddle runs logs last/1`, `raddle why last/1`")
    folder.run("runs last", code=2, err="`raddle runs` does not take the word `last`; a run is shown by `raddle runs show last`")
    folder.write("table.csv", "")
    folder.run("plot table.csv", code=2, err="  = help: `table.csv` is a file; a run's own table is `raddle runs table RUN`")
    first, second = (run["id"] for run in runs["runs"])
    folder.run(f"runs rm {first}", code=1, err=(
        f"raddle: run {second} has points from the record of earlier runs: those of {first} would be `not run` in its table\n"
        f"  = help: `raddle runs rm --force {first}` removes it all the same\n"))
    folder.run(f"runs rm {first}", code=1)
    expect(len(json.loads(folder.run("runs list --json").stdout)["runs"]), 2)
    folder.run(f"runs rm --force {first}")
    lost = f"raddle: run {runs['runs'][1]['id']}: 2 of its points are not in the record any more: the run from which it had taken them was removed\n"
    expect(folder.run("runs table", code=1, err=lost).stdout.splitlines()[1:3], ["1,,not run,,", "2,,not run,,"])
    folder.run("report -o x.html", err=lost)
    folder.run("plot", err=lost)
    folder.run("sweep -p a=1,2,3 -- echo {a}", err="1 from the record")
    folder.run("rerun", err="3 points, ")


def rerun_runs_what_is_not_done(folder):
    """Failed, missing or changed points; --all: all of them."""
    folder.write("ends", "2")
    command = "-- sh -c 'echo {a} >> begun; test {a} -ne $(cat ends)'"
    folder.run(f"sweep -p a=1:6 -j1 --max-fails 0 {command}", code=75, err="2 of 6 points, 1 failed")
    folder.write("ends", "9")
    folder.run("rerun", err="6 points, 1 from the record")
    folder.run("rerun", err="6 points, 6 from the record")
    expect(folder.read("begun").split(), list("1223456"))
    folder.run("rerun --all -j1", err="6 points, ")
    expect(folder.read("begun").split()[7:], list("123456"))
    folder.run("rerun --no-cache -j1", err="6 points, ")
    folder.run("rerun -j1", err="6 points, 6 from the record")  # also of a run that was to take nothing
    folder.run("rerun --all --failed", code=2, err="--failed excludes --all")
    folder.write("model.df", "@param int n = 1;\n@result int y = 2 * n;\n")
    folder.run("sweep model.df -p n=1:3")
    folder.write("model.df", "@param int n = 1;\n@result int y = 3 * n;\n")
    expect(folder.column("rerun -o -", "y"), ["3", "6", "9"])


def other_inputs_are_a_difference(folder):
    """The points are the same, and so may be their results: what they have read was another file."""
    folder.write("in.txt", "1")
    folder.write("same.txt", "1")
    line = "sweep -p a=1:3 --input in.txt -- sh -c 'echo {a}; cat same.txt' same.txt"
    folder.run(line)
    first = run_id(folder, -1)
    folder.write("in.txt", "2")
    folder.run(line, err="3 points, ")
    told = folder.run(f"runs diff {first}").stdout
    expect_in("\n3 points alike in both\nfiles that are not what they were:\n  in.txt: 1-", told)
    expect_in(", read at 3 points\n", told)
    folder.run("sweep --resume", err="3 from the record")  # it has the points of the one before
    found = json.loads(folder.run(f"runs diff {first} --json").stdout)["diff"]
    expect([(one["file"], one["points"], one["a"] != one["b"]) for one in found["inputs"]], [("in.txt", 3, True)])
    expect(json.loads(folder.run(f"runs diff {run_id(folder, 1)} --json").stdout)["diff"]["inputs"], [])


def tables_tell_of_broken_settings(folder):
    folder.run("sweep -p a=1,2 -- echo {a}")
    folder.write("raddle.toml", "jobs = = 3\n")
    for verb in ("runs table", "plot"):
        told = folder.run(verb, err="raddle.toml:1:8: error").stderr
        expect_in("Its command line can not be read with the settings as they are: only what it has done is shown.", told)
        expect("script" in told, False)


def rerun_is_recorded_as_it_was_said(folder):
    """What else is taken of the outputs, and what else a rerun was told, holds for what goes on with it."""
    folder.run("sweep -p a=1,2 --collect 'regex:never=(.*)' --collect=csv: -j1 -- echo v={a} w=7", code=4)
    folder.run("rerun --collect 'regex:v=([0-9]+)' --collect 'regex:w=(.*)' --retries=2 -o x.csv -q")
    words = json.loads(folder.run("runs show --json").stdout)["run"]["words"]
    expect(words, ["-p", "a=1,2", "-j1", "--retries=2", "--collect=regex:v=([0-9]+)", "--collect=regex:w=(.*)", "--output=x.csv",
                   "--", "echo", "v={a}", "w=7"])
    expect(folder.column("runs table", "a", "v", "w"), ["1 1 7", "2 2 7"])
    expect(folder.column("rerun -o -", "a", "v", "w"), ["1 1 7", "2 2 7"])
    folder.run("sweep --resume", err="2 points, 2 from the record")
    expect(folder.read("x.csv").splitlines()[0], "a,v,w,outcome,duration_s,reason")
    folder.run("rerun --group-by a --agg mean,n -o -", err="2 from the record")
    expect(folder.column("rerun -o -", "v_mean", "v_n"), ["1 1", "2 1"])


def anew_is_anew_when_resumed(folder):
    """A run that was to take nothing and was ended is gone on with from what it has done itself, not from what was there before."""
    for anew in ("rerun --all -j1 --max-fails 0", "sweep -p a=1:4 -j1 --max-fails 0 --no-cache COMMAND"):
        folder.write("ends", "9")
        folder.write("begun", "")
        command = "-- sh -c 'echo {a} >> begun; test {a} -ne $(cat ends)'"
        folder.run(f"sweep -p a=1:4 -j1 {command} ".replace("COMMAND", command))
        folder.write("ends", "2")
        folder.run(anew.replace("COMMAND", command), code=75)
        began = run_id(folder, -1)
        folder.write("ends", "9")
        folder.write("begun", "")
        folder.run("sweep --resume --max-fails 9", err="4 points, 1 from the record")
        expect(folder.read("begun").split(), ["2", "3", "4"])
        expect_in(f"this one goes on with {began}, which was to run all anew", folder.run("why /3").stdout)
        expect_in(f"(resumes {began})", folder.run("runs").stdout.splitlines()[-1])
        folder.run("sweep --resume", err="4 points, 4 from the record")
        folder.run("rerun", err="4 points, 4 from the record")
        expect_in("  (reruns ", folder.run("runs").stdout.splitlines()[-1])
        folder.run("runs rm --force " + began)
        folder.run("sweep --resume", err="4 points, 4 from the record")
        folder.run("rerun --no-cache", err="4 points, ")
        expect_in("  (reruns all of ", folder.run("runs").stdout.splitlines()[-1])
    folder.write("model.df", "@param int n = 1;\n@result int y = 12 %/ n;\n")
    folder.run("sweep model.df -p n=-2:2", code=4)
    folder.write("model.df", "@param int n = 1;\n@result int y = 13 %/ n;\n")
    done = folder.run("rerun --failed", code=4, err="as it is now, it runs 1 of them again\n  = help: all points anew: ")
    expect(len(done.stdout.splitlines()), 2)  # which says nothing of points that its table lacks
    folder.run("sweep model.df -p n=-2:2", code=4)
    folder.run("rerun --failed", code=4)
    expect_in(f"reruns what failed in {run_id(folder, -2)}", folder.run("runs show").stdout)
    expect_in("not run: the run was to run only what failed in ", folder.run("why /1").stdout)
    folder.run("sweep --resume --no-cache", code=4, err="5 points, 1 failed")


def runs_that_have_not_ended_are_told(folder):
    """What is known of a run under way, of a killed one, and of one whose earlier run has been removed."""
    folder.run("sweep -p a=1:3 -- sh -c 'test {a} -lt 4 || sleep 60'")
    first = run_id(folder, -1)
    line = "sweep -p a=1:5 -j1 -- sh -c 'test {a} -lt 4 || sleep 60'"
    with subprocess.Popen([folder.raddle, *shlex.split(line)], cwd=folder.path, stderr=subprocess.DEVNULL) as sweep:
        while len(json.loads(folder.run("runs list --json").stdout)["runs"]) < 2:
            time.sleep(0.01)
        expect_in(f"from the record: run {first} did the same, as point 2", folder.run("why /2").stdout)
        expect_in("point 5 {\"a\":5}: waits: ", folder.run("why /5").stdout)
        expect_in("  running\n  5 points: 0 ok, 0 failed\n", folder.run("runs show").stdout)
        folder.run("runs rm " + run_id(folder, -1), code=1, err="is running")
        sweep.kill()
    expect("from_record" in folder.run("runs show --json").stdout, False)
    expect_in("point 5 {\"a\":5}: not run: the run did not get to it: it was killed", folder.run("why /5").stdout)
    expect_in("point 2 {\"a\":2}: from the record: ", folder.run("why /2").stdout)
    folder.run("sweep -p a=2:3 -- sh -c 'test {a} -lt 4 || sleep 60'", err="2 from the record")
    folder.run("sweep -p a=1:2 --shard 2/2 -- sh -c 'test {a} -lt 4 || sleep 60'")
    expect_in("point 1 {\"a\":1}: not run: --shard leaves it out", folder.run("why /1").stdout)
    expect(json.loads(folder.run(f"runs rm -f {first} --json").stdout), {"schema": 1, "removed": [first]})
    expect_in("not run: no run has it any more: that from which it was taken has been removed", folder.run("why /2").stdout)
    folder.run("sweep -p a=2:3 -p b=1 -- sh -c 'echo {a}'", err="no word of the command names the parameter `b`")
    done = folder.run(f"runs diff {run_id(folder, -2)}")  # whose rows are not there any more: they are not its points
    expect((done.stderr, done.stdout.splitlines()[3:]), ("", ["0 points alike in both", "2 only in B", "  a = 2, b = 1", "  a = 3, b = 1"]))
    for line in ("runs logs /2", f"runs logs {run_id(folder, -1)}/2", f"runs logs {run_id(folder, -1)} 2"):
        expect_in('point 2 {"a":3,"b":1}: ok', folder.run(line).stdout)
    folder.run("runs logs /x", code=2, err="`/x` is no RUN, RUN/POINT or RUN/POINT/TASK")
    for line in ("runs logs /2 2", f"runs logs {run_id(folder, -1)} 2/2"):
        folder.run(line, code=1, err="has not run task 2/2")
    folder.run("runs logs /1/1 2", code=2, err="`/1/1/2` is no RUN, RUN/POINT or RUN/POINT/TASK")


def tables_of_runs_are_printed(folder):
    folder.run("sweep -p a=1,2 -p name=x,'y \"z\"' -o whole.csv -- echo {a}{name}")
    expect(folder.run("runs table").stdout, folder.read("whole.csv"))
    line = "sweep -p a=1:50 -j1 -- sh -c 'echo E={a}; sleep 0.05'"
    with subprocess.Popen([folder.raddle, *shlex.split(line)], cwd=folder.path, stderr=subprocess.DEVNULL) as sweep:
        wait_for(lambda: "E=2" in folder.run("runs table").stdout, "two points")
        sweep.send_signal(signal.SIGINT)
    table = folder.run("runs table", err="The run is not through").stdout.splitlines()
    expect(table[0], "a,stdout,outcome,duration_s,reason")
    expect([row.split(",")[:3] for row in table[1:3]], [["1", "E=1", "ok"], ["2", "E=2", "ok"]])
    expect(len(table) < 51, True)
    folder.run("runs table no-run", code=2, err="no run is named `no-run`")


def tables_of_runs_stay_what_they_were(folder):
    """A later run of the same points, with another program, or with the one before, changes no table of an earlier run."""
    def program(factor):
        folder.write("p.sh", f"#!/bin/sh\necho $(( $1 * {factor} ))\n")
        (folder.path / "p.sh").chmod(0o755)

    program(2)
    folder.run("sweep -p x=1:2 -o a.csv -- ./p.sh {x}")
    program(3)
    folder.run("sweep -p x=1:2 -o b.csv -- ./p.sh {x}", err="`./p.sh` has changed")
    program(2)
    folder.run("sweep -p x=1:3 -o c.csv -- ./p.sh {x}", err="2 from the record")
    folder.run("sweep -p x=1:2 -o d.csv -- ./p.sh {x}", err="2 from the record")
    program(4)
    folder.run("sweep -p x=1:2 -o e.csv -- ./p.sh {x}")
    runs = [run_id(folder, i) for i in range(5)]
    expect(folder.column(f"runs table {runs[2]}", "x", "stdout"), ["1 2", "2 4", "3 6"])
    for run, name in zip(runs, "abcde"):
        expect(folder.run(f"runs table {run}").stdout, folder.read(f"{name}.csv"))
    expect_in(f"from the record: run {runs[0]} did the same, as point 1", folder.run(f"why {runs[2]}/1").stdout)
    expect_in("2 points alike in both", folder.run(f"runs diff {runs[0]} {runs[3]}").stdout)
    folder.write("points.csv", "x\n1\n2\n")
    folder.run("sweep --from points.csv -- ./p.sh {x}", err="2 from the record")
    folder.run("runs table", err="")
    folder.write("points.csv", "x\n1\n3\n")  # another run has this one
    folder.run("runs table", err="The points in `points.csv` are not those of the run any more")
    folder.write("points.csv", "x\n1\n9\n")
    folder.run("runs table", err="The points in `points.csv` are not those of the run any more")


def reasons_are_told(folder):
    folder.run("why", code=1, err="nothing was recorded in this folder")
    folder.run("sweep -p a=1,2 -- echo {a}")
    expect(folder.run("why").stdout.splitlines()[2], '  point 1 {"a":1}: run: no run before this one has points in the record')
    folder.run("sweep -p a=1,2,3 -p b=5 -- echo {a} {b}")
    expect_in("`b` was not there, and is 5", folder.run("why /1").stdout)
    folder.run("sweep -p a=1,2,3,4 -p b=5 -- echo {a} {b}")
    told = folder.run("why").stdout
    expect_in("4 points: 3 from the record of earlier runs, 1 run", told)
    expect_in('point 4 {"a":4,"b":5}: run: no earlier run has these values; most like it is point ', told)
    expect_in(' and is 4', told)
    expect_in('point 2 {"a":2,"b":5}: from the record: run ', folder.run("why /2").stdout)
    folder.run("sweep -p a=1 -p b=5 -- echo -n {a} {b}")
    expect_in("did it with another command: echo '{a}' '{b}'", folder.run("why /1").stdout)
    folder.run("sweep -p a=1 -p b=5 --no-cache -- echo -n {a} {b}")
    expect_in("has it, but --no-cache runs all anew", folder.run("why /1").stdout)
    folder.run("sweep -p a=1 -- sh -c 'exit {a}'", code=4)
    folder.run("rerun", code=4)
    expect_in("it failed (exit code), and only what has ended well is taken", folder.run("why /1").stdout)
    listed = json.loads(folder.run("why --json /1").stdout)
    expect((listed["schema"], listed["points"][0]["state"]), (1, "run"))
    folder.run("sweep -p a=1:4 --where='a != 2' -- sh -c 'exit $(({a} / 9))'")
    expect_in("point 2 {\"a\":2}: not run: --where leaves it out", folder.run("why /2").stdout)
    folder.run("sweep -p a=1:4 --shard=2/2 -- sh -c 'exit $(({a} / 8))'")
    expect_in("point 1 {\"a\":1}: not run: --shard leaves it out", folder.run("why /1").stdout)
    folder.run("sweep -p c=1,2 -- echo {c}")
    folder.run("sweep -p c=1.0 -- echo {c}")
    expect_in("did it with another text of the same value: `c` was 1, and is 1.0", folder.run("why /1").stdout)
    folder.run("why /7", code=2, err="has no point 7")
    folder.run("why /x", code=2, err="`/x` is no RUN, RUN/POINT or RUN/POINT/TASK")
    folder.run("why no-run", code=2, err="no run is named `no-run`")


def reasons_of_a_script_are_told(folder):
    """Also of points that were computed together, whose values stand on the command line only."""
    folder.write("model.df", "@param int n = 1;\n@result int y = 2 * n;\n")
    folder.run("sweep model.df -p n=1:5")
    folder.run("sweep model.df -p n=1:6")
    expect_in('point 6 {"n":6}: run: no earlier run has these values; most like it is point 5 of run ', folder.run("why /6").stdout)
    expect_in('point 4 {"n":4}: from the record: run ', folder.run("why /4").stdout)
    folder.write("model.df", "@param int n = 1;\n@result int y = 3 * n;\n")
    folder.run("rerun")
    expect_in('point 6 {"n":6}: run: the script, a module of it, a macro or a library is not as it was in run ', folder.run("why /6").stdout)
    folder.run("rerun --all")
    expect_in(f"has it, but this one was to run all of {run_id(folder, -2)} anew", folder.run("why /2").stdout)


def data_of_a_script_counts(folder):
    folder.write("data.txt", "7")
    folder.write("model.df", 'import files;\nimport string;\n@param int n = 1;\nglobal const string name = "data";\n'
                 '@result int y = n * string2int(trim(read(input(name + ".txt"))));\n')
    expect(folder.column("sweep model.df -p n=1,2", "y"), ["7", "14"])
    folder.run("sweep model.df -p n=1,2", err="2 from the record")
    folder.write("data.txt", "100")
    expect(folder.column("sweep model.df -p n=1,2", "y"), ["100", "200"])
    expect_in("has it, but `data.txt` is not what it was then", folder.run("why /1").stdout)
    folder.write("data.txt", "7")
    folder.run("sweep model.df -p n=1,2", err="2 from the record")


def nearest_point_is_told(folder):
    """Fewest parameters that differ, least difference in parts of the range, latest run, lowest number: not the order of ends."""
    def nearest(line):
        folder.run(line)
        point = json.loads(folder.run("why --json /1").stdout)["points"][0]
        return point["earlier_run"], point["earlier_point"], [each["parameter"] for each in point["differences"]]

    slow = "-- sh -c 'sleep 0.0$((4 - {#} % 4)); echo {a} {b}'"  # ends in another order than it begins
    folder.run(f"sweep -p a=0,3,10,1000 -p b=0.001:0.003:0.001 -j 12 {slow}")
    grid = run_id(folder, -1)
    expect(nearest("sweep -p a=6 -p b=0.001 -- echo {a} {b}"), (grid, 4, ["a"]))  # 3, though 10 / 6 is less than 6 / 3
    expect(nearest("sweep -p a=0 -p b=0.0019 -- echo {a} {b}"), (grid, 2, ["b"]))
    expect(nearest("sweep -p a=6.5 -p b=0.0029 -- echo {a} {b}"), (grid, 6, ["a", "b"]))  # 3, 0.003, and 10, 0.003: the first
    folder.run("sweep -p a=10 -p b=0.001 -- echo -n {a} {b}")
    expect(nearest("sweep -p a=9 -p b=0.001 -- echo {a} {b}"), (run_id(folder, -2), 1, ["a"]))
    expect(nearest("sweep -p a=10 -p b=x -- echo {a} {b}")[2], ["b"])
    folder.run("sweep -p c=10 -- echo {c}")
    expect_in("run: no earlier run has points like it\n", folder.run("why /1").stdout)


def runs_are_compared(folder):
    folder.write("model.df", "@param int n = 1;\n@result int y = 12 %/ (n - 3);\n@result boolean big = n > 2;\n")
    folder.run("sweep model.df -p n=1:4", code=4)
    first = json.loads(folder.run("runs list --json").stdout)["runs"][0]["id"]
    told = folder.run(f"runs diff {first}").stdout
    expect_in("what is run at a point is the same\n4 points alike in both\n", told)
    folder.run("sweep model.df -p n=+2,3,7", code=4)
    told = folder.run(f"runs diff {first}").stdout
    expect(told.splitlines()[2:], ["what is run at a point is the same", "2 points alike in both", "2 only in A", "  n = 1", "  n = 4",
                                   "1 only in B", "  n = 7"])
    folder.write("model.df", folder.read("model.df").replace("- 3", "- 2").replace("@result int", "@param int m = 1;\n@result int"))
    folder.run("sweep model.df -p n=1:4", code=4)
    told = folder.run(f"runs diff {first}").stdout
    expect_in("what is run at a point is not the same", told)
    expect_in("  n = 1: y: -6 -> -12\n", told)
    expect_in("  n = 2: ", told)
    expect_in("outcome: ok -> failed", told)
    diff = json.loads(folder.run(f"runs diff {first} --json").stdout)
    expect((diff["schema"], diff["diff"]["same_work"], diff["diff"]["alike"], len(diff["diff"]["changed"])), (1, False, 0, 4))
    folder.run("sweep model.df -p n=4:40 -p m=2,1")  # another column, another order
    folder.run("sweep model.df -p m=1,3 -p n=5:40,+5,4")  # n = 5 twice: the last row stands for it
    told = folder.run(f"runs diff {run_id(folder, -2)}").stdout.splitlines()[3:]
    expect(told[:4], ["37 points alike in both", "37 only in A", "  m = 2, n = 4", "  m = 2, n = 5"])
    expect(told[22:26], ["  .. and 17 more; --json has all", "37 only in B", "  m = 3, n = 6", "  m = 3, n = 7"])
    diff = json.loads(folder.run(f"runs diff {run_id(folder, -2)} --json").stdout)["diff"]
    expect((diff["alike"], len(diff["only_a"]), len(diff["only_b"]), diff["only_b"][-1]), (37, 37, 37, {"m": 3, "n": 4}))
    folder.run("runs diff no-run", code=2, err="no run is named `no-run`")
    folder.run("runs diff", code=2, err="A is required")
    folder.run("runs dif", code=2, err="did you mean `raddle runs diff`?")


def runs_of_earlier_scripts_are_whole(folder):
    """Rows that a run has taken from the record are in its table after the script has changed."""
    for name, result in (("block", "int y = N * n"), ("single", 'string y = "%i" % (N * n)'), ("drawn", "float y = random() + N.0 * n"),
                         ("mixed", "int y = 12 %/ (n - 3) + N")):
        text = "import random;\n@param int n = 1;\n@param int m = 1;\n@result %s;\n@result int z = n;\n" % result
        code = 4 if name == "mixed" else 0
        folder.write("model.df", text.replace("N", "2"))
        folder.run("sweep model.df -p n=1:3 --no-cache", code)
        folder.run("sweep model.df -p n=1:4", code, err="4 points, ")
        before = run_id(folder, -1)
        folder.write("model.df", text.replace("N", "3"))
        folder.run("sweep model.df -p n=1:4", code)
        done = folder.run(f"runs diff {before} --json")
        expect(done.stderr, "")
        diff = json.loads(done.stdout)["diff"]
        alike = [3] if name == "mixed" else []
        expect((diff["alike"], diff["only_a"], diff["only_b"]), (len(alike), [], []))
        expect([(each["parameters"]["n"], each["changes"][0]["name"]) for each in diff["changed"]],
               [(n, "y") for n in range(1, 5) if n not in alike])
        folder.run(f"report {before} -o x.html")
        expect("not run" in folder.read("x.html"), False)
        folder.write("model.df", text.replace("N", "4").replace("int n", "float n").replace("@result int z", "@result float z")
                     .replace("int y", "float y").replace("%i", "%f").replace("%/", "/"))
        folder.run(f"runs diff {before}", err="The script reads its parameters as something else by now, or has begun or ceased to draw random numbers: "
                   "only the points are shown that it has run itself, not the ")
        folder.write("model.df", "int x = y;")
        folder.run(f"runs diff {before}", err=f"run {before}: The script has errors, or is not there any more: only the points ")
    folder.write("model.df", "import assert;\n@param int n = 1;\nassert(n > 1, \"one\");\n@result int y = n;\n")
    folder.run("sweep model.df -p n=1:4", code=4)
    folder.write("model.df", "@param int n = 1;\n@result int y = 2 * n;\n")
    folder.run("rerun --failed")
    diff = json.loads(folder.run(f"runs diff {run_id(folder, -2)} --json").stdout)["diff"]
    expect((diff["alike"], [point["parameters"]["n"] for point in diff["changed"]]), (3, [1]))


def nearest_point_of_another_script(folder):
    folder.write("model.df", "@param int a = 1;\n@result int b = a;\n")
    folder.run("sweep model.df -p a=1")
    folder.run("sweep -p a=2 -- echo {a}")
    told = folder.run("why /1").stdout
    expect_in("no earlier run has these values; most like it is point 1 of run ", told)
    expect_in(f"`a` was 1, and is 2; run {run_id(folder, -2)} did it with a script", told)


def failed_points_once_more(folder):
    folder.write("model.df", "import assert;\n@param int n = 1;\nassert(n %% 4 != 0, \"four\");\n"
                             "@result int y = 2 * n;\n@result boolean is_big = n > 2;\n")
    rows = ["1 2 false ok", "2 4 false ok", "3 6 true ok", "4   failed"]
    columns = ("n", "y", "is_big", "outcome")
    expect(folder.column("sweep model.df -p n=1:4 -o -", *columns, code=4), rows)
    folder.run("sweep model.df -p n=1:100 -o x.csv -j2", code=4, err="25 failed")
    run = json.loads(folder.run("runs list --json").stdout)["runs"][1]["id"]
    folder.run(f"rerun {run} --failed -j 3", code=4, err="25 points, 25 failed")  # though the first ones fail, too
    folder.run(f"rerun {run} --failed --max-fails 9", code=75, err="more have failed than --max-fails says")
    before = folder.read("x.csv").splitlines()
    folder.write("model.df", folder.read("model.df").replace("!= 0", "!= 5").replace("2 * n", "3 * n"))
    done = folder.run(f"rerun {run} --failed", err=f"the script or its data have changed since run {run}")
    expect("it runs 25 of them again; 75 other points stay in the table as the earlier script gave them" in done.stderr,
           True)
    after = folder.read("x.csv").splitlines()
    expect(len(after), 101)
    for number in range(1, 101):  # the rows of those that ended well are as they were
        expect(after[number].split(",")[:4] if number % 4 == 0 else after[number],
               [str(number), str(3 * number), "true", "ok"] if number % 4 == 0 else before[number])
    folder.write("model.df", folder.read("model.df").replace("@param int n", "@param float n").replace("%%", "*"))
    folder.run(f"rerun {run} --failed", code=3)
    folder.write("model.df", "@param float n = 1.0;\n@result float y = 2.0 * n;\n")
    folder.run(f"rerun {run} --failed", code=2, err="the script or its data have changed since run")
    expect(folder.read("x.csv").splitlines(), after)


TESTS = [other_inputs_are_a_difference, tables_tell_of_broken_settings, rerun_is_recorded_as_it_was_said, record_is_read, rerun_runs_what_is_not_done, anew_is_anew_when_resumed, runs_that_have_not_ended_are_told,
         tables_of_runs_are_printed, tables_of_runs_stay_what_they_were, reasons_are_told, reasons_of_a_script_are_told, data_of_a_script_counts,
         nearest_point_is_told, runs_are_compared, runs_of_earlier_scripts_are_whole, failed_points_once_more, nearest_point_of_another_script]


if __name__ == "__main__":
    main("runs", "Tests the verbs of recorded runs.", TESTS, SweepFolder)
