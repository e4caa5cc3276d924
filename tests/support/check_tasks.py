#!/usr/bin/env python3
"""What is recorded of runs of scripts, and what the verbs of recorded runs say of it. Each test has a folder of its own.

    check_tasks.py [--raddle PATH] [FILTER]
"""

import collections
import contextlib
import json
import os
import shlex
import shutil
import signal
import sqlite3
import subprocess
import tempfile

from folder_tests import expect, expect_in, main, wait_for
from pty_session import PtySession
from sweep_folder import SweepFolder, run_id

SCRIPT = """
import io;
app (file o) count(file words, int k) { "sh" "-c" "sleep 0; wc -w < $0; echo $1 >> begun" words k @stdout=o }
app (void v) keep(file f) { "true" f }
@retry=1 app (void v) break_off(int k) { "sh" "-c" "exit $0" k }
@memo (int r) square(int x) { r = x * x; }
@param int n = 3;
file words = input("words.txt");
foreach k in [1:2] { file o<"counts/"+k> = count(words, k); }
file o = count(words, 3);
keep(o);
if (n == 7) { break_off(n); }
printf("%i", square(n));
"""


def script_runs_are_recorded(folder):
    """Programs and calls of @memo functions, with what they have read."""
    folder.write("plain.df", 'trace("no program");')
    folder.run("run plain.df")
    folder.run("runs", code=1, err="nothing was recorded in this folder")
    folder.write("words.txt", "a b c")
    folder.write("model.df", SCRIPT)
    folder.run("run --no-record model.df")
    folder.run("runs", code=1, err="nothing was recorded in this folder")
    folder.run("-j2 run model.df --n=4", out="16\n")
    first = run_id(folder, -1)
    expect_in("raddle run -j2 model.df --n=4\n", folder.run("runs").stdout)
    expect_in("\n  5 tasks: 5 ok, 0 failed\n", folder.run("runs show").stdout)
    logs = [json.loads(line)["log"] for line in folder.run("runs logs --json").stdout.splitlines()]
    programs = {log["parameters"]["work"]: log for log in logs if log["parameters"]["task"] == "count"}
    expect(len(programs), 3)
    one = programs["sh -c 'sleep 0; wc -w < $0; echo $1 >> begun' words.txt 1 > counts/1"]
    expect((one["results"]["at"], one["results"]["outputs"], one["stdout"], one["outcome"]),
           ("model.df:9:44", {"counts/1": one["results"]["outputs"]["counts/1"]}, "3\n", "ok"))
    expect(one["results"]["outputs"]["counts/1"].startswith("2-"), True)  # the size of the content, and its hash
    calls = [log for log in logs if log["parameters"]["task"] == "square"]
    expect([(call["parameters"]["work"], call["results"]["source"], call["inputs"], call["results"]["result"]) for call in calls],
           [("square(x = 4)", "run", {"x": "4"}, "16")])

    folder.write("words.txt", "a b c d")
    folder.run("run model.df --n=7", code=1, err="exit code 7 (attempt 2 of 2)")
    expect_in("\n  failed after", folder.run("runs show").stdout)
    broken = [row for row in map(json.loads, folder.run("runs logs --json").stdout.splitlines())
              if row["log"]["parameters"]["task"] == "break_off"]
    expect([(row["log"]["attempt"], row["log"]["is_last"], row["log"]["exit_code"]) for row in broken], [(1, False, 7), (2, True, 7)])

    folder.run("run -k model.df --n=5")
    table = folder.run("runs table").stdout.splitlines()
    expect(sorted(row.split(",")[1] for row in table), ["count", "count", "count", "keep", "square", "task"])
    expect(sorted(row.split(",")[0] for row in table), ["1", "2", "3", "4", "5", "number"])
    numbers = {row.split(",")[0]: row.split(",")[1] for row in table[1:]}
    expect({str(log["task"]): log["parameters"]["task"] for log in (json.loads(line)["log"] for line in folder.run("runs logs --json").stdout.splitlines())}, numbers)
    difference = folder.run(f"runs diff {first}").stdout
    expect_in("work = sh -c 'sleep 0; wc -w < $0; echo $1 >> begun' words.txt 1 > counts/1: inputs: {\"words.txt\":\"5-", difference)
    expect_in("1 only in A\n  task = square, work = square(x = 4)\n1 only in B\n  task = square, work = square(x = 5)\n", difference)
    told = json.loads(folder.run("why /2 --json").stdout)
    expect((told["tasks"][0]["task"], "earlier_task" in told["tasks"][0], "points" in told), (2, True, False))
    why = folder.run("why").stdout
    expect("\n  task " in why and " count: sh -c " in why, True)  # which task becomes ready first, and so has the number 1, is not said
    expect_in("did the same, as task", why)
    expect_in("no earlier run has this call; most like it is task", why)
    expect("`x` was 4, and is 5" in why or "`x` was 7, and is 5" in why, True)
    folder.run("run model.df --n=4")
    expect_in(f"square(x = 4): from the record: run {first} made the same call", folder.run("why").stdout)
    expect_in("4 ok, 0 failed, 1 from the record\n", folder.run("runs show").stdout)
    folder.write("model.df", SCRIPT.replace("x * x", "x * x * x"))
    folder.run("run model.df --n=4", out="64\n")
    expect_in("square(x = 4): run: the function, or one that it calls, has changed since run", folder.run("why").stdout)
    folder.run("why /99", code=2, err="has no task 99")

    folder.run("rerun", code=1, err="no sweep was recorded in this folder")
    folder.run("sweep -p a=1,2 -- echo {a}")
    folder.run("run model.df")
    folder.run("sweep --resume", err="2 points, 2 from the record")
    folder.run(f"rerun {first}", code=2, err=f"run {first} is no sweep\n  = help: raddle run -j2 model.df --n=4")
    expect_in('"name":"square"', folder.run(f"trace {first} -o -").stdout)
    page = folder.run(f"report {first} -o -").stdout
    expect_in('"each":"task"', page)
    expect("point" in page.partition("<body>")[2].partition("<script")[0], False)


def tasks_are_told_apart(folder):
    """By their whole command lines, with temporary files under one name; and by what they gave."""
    folder.write("long.df", """
        import random;
        @param string end = "A";
        @param int seed = 1;
        app (file o) make() { "date" "+%N" @stdout=o }
        app (file o) fixed(int i) { "echo" i @stdout=o }
        app (void v) look(string word) { "true" word }
        app (void v) show(file f) { "true" f }
        @memo (int r) draw(int seed) { r = seed * 7; }
        @memo (int r) fails(int x) { r = 10 %/ x; }
        (string o) repeated(string s, int n) { if (n == 0) { o = s; } else { o = repeated(s + s, n - 1); } }
        look(repeated("x", 13) + end);
        look("/tmp/raddle_abcdef" + end);
        show(make());
        foreach i in [1:3] { look("same"); }
        foreach i in [1:9] { show(fixed(i)); }
        trace(draw(seed));
        if (seed == 3) { trace(fails(seed - 3)); }
        """)
    folder.run("run long.df")
    first = run_id(folder, -1)
    folder.run("run long.df --end=B")
    told = folder.run(f"runs diff {first}").stdout
    expect_in("\n2 only in A\n", told)
    expect_in("/tmp/raddle_abcdefB", told)
    expect_in("true TEMPORARY_1: inputs: ", told)
    expect_in("22 tasks alike in both", told)  # of nine that do the same with other files, too
    folder.run("run -k long.df --seed=3", code=1)
    rows = folder.run("runs table").stdout.splitlines()
    expect([row.split(",")[-1] for row in rows if row.split(",")[1] == "fails"], ["division by zero"])
    folder.write("waits.df", 'app (void v) nap() { "sleep" "1000" } app (void v) stop() { "sh" "-c" "exit 3" }\nforeach i in [1:9] { nap(); }\nstop();')
    folder.run("run --processes=20 waits.df", code=1)
    expect_in(" ended with the run\n", folder.run("runs show").stdout)
    done = folder.run(f"runs rm {first}", err=f"raddle: removed {first}: raddle run long.df")
    expect(done.stdout, "")
    before = folder.run("runs").stdout
    folder.run("runs rm ''", code=2, err="an empty word is no run")
    folder.run(f"runs rm {run_id(folder, -1)} nonsense", code=2, err="no run is named `nonsense`")
    expect(folder.run("runs").stdout, before)


def programs_of_points_print_into_the_record(folder):
    folder.write("model.df", """
        @param int n = 1;
        app (void v) say(int i) { "sh" "-c" "echo out $0; echo err $0 >&2; test $0 -lt 3" i }
        say(n);
        import python;
        string more = python("import sys; print('from python', " + n + "); print('oh', file=sys.stderr)", "''");
        @result int twice = 2 * n;
        """)
    done = folder.run("sweep model.df -p n=1:3", code=4)
    expect([row.split(",")[:3] for row in done.stdout.splitlines()], [["n", "twice", "outcome"], ["1", "2", "ok"], ["2", "4", "ok"], ["3", "", "failed"]])
    expect("err 1" in done.stderr, False)
    logs = folder.run("runs logs /3").stdout
    expect_in("out 3\n", logs)
    expect_in("err 3\n", logs)
    log = json.loads(folder.run("runs logs /1 --json").stdout)["log"]
    expect((sorted(log["stdout"].splitlines()), sorted(log["stderr"].splitlines())), (["from python 1", "out 1"], ["err 1", "oh"]))


def changed_files_of_calls_are_named(folder):
    """Of a call that was made before, with the same inputs: the file that the function reads by itself."""
    folder.write("model.df", """
        import files;
        @param int n = 1;
        @memo (string s) text(string path) { s = read(input(path)); }
        @memo app (file o) copy(int i) { "cat" "./data.txt" @stdout=o }
        @result string r = text("data.txt") + read(copy(n));
        """)
    folder.write("data.txt", "one")
    folder.run("run model.df")
    folder.run("sweep model.df -p n=1,2")
    swept = run_id(folder, -1)
    folder.write("data.txt", "two")
    folder.run("run model.df")
    told = folder.run("why").stdout
    expect_in(f'text(path = "data.txt"): run: run {swept} made the same call, as task 1/', told)
    expect_in(", but `data.txt` is not what it was then\n", told)
    expect_in(", but `./data.txt` is not what it was then\n", told)
    folder.run("sweep --no-cache model.df -p n=1,2")
    folder.run("run --no-cache model.df")
    expect_in(", but its result is not kept, or --no-cache was said", folder.run("why").stdout)


def tasks_of_points_are_recorded(folder):
    folder.write("model.df", """
        @param int n = 1;
        app (file o) double(int i) { "sh" "-c" "echo $0 $0; test -e go || exit 1" i @stdout=o }
        @retry=1 app (void v) say(int i) { "sh" "-c" "echo out $0; test $0 -lt 3" i }
        @memo (int r) square(int x) { r = x * x; }
        file f<"out/f"+n> = double(n);
        say(n);
        @result int s = square(n);
        """)
    folder.write("go", "")
    folder.run("sweep model.df -p n=1:3 -j2", code=4)
    log = json.loads(folder.run("runs logs /2 --json").stdout)["log"]
    tasks = {task["parameters"]["task"]: task for task in log["tasks"]}
    expect([(task["point"], task["outcome"], task["stdout"], task["results"]["at"]) for task in (tasks["double"], tasks["say"], tasks["square"])],
           [(2, "ok", "2 2\n", "model.df:6:29"), (2, "ok", "out 2\n", "model.df:7:9"), (2, "ok", "", "model.df:8:25")])
    expect(log["stdout"], "out 2\n")
    tried = json.loads(folder.run("runs logs /3 --json").stdout)["log"]["tasks"]
    expect([(task["attempt"], task["is_last"], task["exit_code"]) for task in tried if task["parameters"]["task"] == "say"],
           [(1, False, 1), (2, True, 1)])
    number = tasks["double"]["task"]
    text = folder.run(f"runs logs /2/{number}").stdout
    expect_in(f"task 2/{number} double: sh -c 'echo $0 $0; test -e go || exit 1' 2 > out/f2: ok", text)
    expect_in("\n--- stdout\n2 2\n", text)
    expect_in(f"\n  task 2/{number} double: ", folder.run("runs logs /2").stdout)
    why = folder.run(f"why /2/{number}").stdout
    expect_in(f"task 2/{number} double: sh -c 'echo $0 $0; test -e go || exit 1' 2 > out/f2: run: programs are always run\n", why)
    first = run_id(folder, -1)
    folder.run("sweep --no-cache model.df -p n=2")
    reasons = [json.loads(folder.run(f"why /1/{task} --json").stdout)["tasks"][0] for task in (1, 2, 3)]
    expect({(reason["point"], reason["earlier_run"], reason["earlier_point"]) for reason in reasons}, {(1, first, 2)})
    expect([reason["state"] for reason in reasons], ["run", "run", "run"])
    call = next(reason["because"] for reason in reasons if reason["parameters"]["task"] == "square")
    expect_in(f"run {first} made the same call, as task 2/", call)
    expect_in(", but its result is not kept, or --no-cache was said", call)
    folder.run("why /1/9", code=2, err="has no task 1/9")
    folder.run(f"runs rm {run_id(folder, -1)}")
    folder.run("runs logs /2/77", code=1, err="has not run task 2/77")
    folder.run("runs logs /2/x", code=2, err="is no RUN, RUN/POINT or RUN/POINT/TASK")
    expect_in("\n  3 points: 2 ok, 1 failed", folder.run("runs show").stdout)
    expect_in(" tasks of its points: ", folder.run("runs show").stdout)
    events = json.loads(folder.run("trace").stdout)["traceEvents"]
    expect(sorted(event["args"]["point"] for event in events if event["name"] == "double"), [1, 2, 3])
    folder.write("late.df", '@param int n = 0; app (void v) nap(int k) { "sleep" (k*1000) } nap(n);')
    folder.run("sweep late.df -p n=0,1 --timeout 2 -k", code=4)  # programs of a point that is late end with it
    expect_in("\n  2 tasks of its points: 1 ok, 0 failed, 1 ended with their points\n", folder.run("runs show").stdout)
    expect_in("task 2/1 nap: sleep 1000: interrupted, called at late.df:1:64: ended with the run, ", folder.run("runs logs /2").stdout)


def killed_point_leaves_its_tasks(folder):
    folder.write("model.df", """
        @param int n = 1;
        app (void v) first(int i) { "true" i }
        app (void v) second(int i) { "sleep" (1000+i) }
        first(n) => second(n) => trace(n);
        @result int m = n;
        """)
    process = subprocess.Popen([folder.raddle, "sweep", "model.df", "-p", "n=7", "--progress=none"], cwd=folder.path,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: tells(folder, "runs logs /1", "task 1/1 first: true 7: ok"), "the first task's row")
    process.kill()
    process.wait()
    done = folder.run("runs logs /1", err="has not ended point 1; of its tasks:")
    expect(done.stdout.count("\n"), 1)
    whole = folder.run("runs logs", err="has not ended these points; of their tasks:")
    expect(whole.stdout, done.stdout)
    log = json.loads(folder.run("runs logs --json", err="of their tasks:").stdout)["log"]
    expect((log["point"], log["task"], log["parameters"]["task"]), (1, 1, "first"))
    expect_in("\n  1 task of its points: 1 ok, 0 failed\n", folder.run("runs show").stdout)


def logs_have_each_task_once(folder):
    """With the points that have ended, and then of those that were killed, or tried again and then killed."""
    folder.write("model.df", """
        @param int n = 1;
        app (void v) first(int i) { "true" i }
        app (void v) second(int i) { "sh" "-c" "test $0 -lt 3 || { test ! -e tried && touch tried && exit 1; sleep 1000; }" i }
        first(n) => second(n) => trace(n);
        @result int m = n;
        """)
    process = subprocess.Popen([folder.raddle, "sweep", "model.df", "-p", "n=1:3", "-j1", "--retries=1", "--progress=none"], cwd=folder.path,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: tells(folder, "runs logs /3", "\ntask 3/1 first: true 3: ok"), "the first task of the second attempt")
    process.kill()
    process.wait()
    done = folder.run("runs logs", err="has not ended these points; of their tasks:")
    expect([line.split()[1] for line in done.stdout.splitlines() if "first: true" in line], ["1/1", "2/1", "3/1", "3/1"])
    expect_in("\n  task 2/1 first: true 2: ok", done.stdout)
    expect_in("\ntask 3/1 first: true 3: ok", done.stdout)
    run = json.loads(folder.run("runs show --json").stdout)["run"]
    expect((run["tasks"], run["failed_tasks"]), (7, 1))


def ends_of_outputs_are_kept(folder):
    """Also where programs print to raddle's own streams; there it comes as they write it, on a terminal to a terminal."""
    folder.write("say.df", """
        app (void v) say(string s) { "sh" "-c" "echo out $0; echo err $0 >&2; test -t 1 && echo terminal; exit 0" s }
        say("a");
        """)
    done = folder.run("run say.df", out="out a\n")
    expect(done.stderr, "err a\n")
    log = json.loads(folder.run("runs logs --json").stdout)["log"]
    expect((log["stdout"], log["stderr"], log["stdout_size"]), ("out a\n", "err a\n", 6))
    with PtySession([folder.raddle, "run", "say.df"], folder=folder.path) as session:
        session.wait_for_end()
        expect(session.raw, "out a\r\nerr a\r\nterminal\r\n")
    log = json.loads(folder.run("runs logs --json").stdout)["log"]
    expect((log["stdout"], log["stderr"]), ("out a\nerr a\nterminal\n", ""))
    folder.write("yes.df", 'app (void v) yes() { "yes" } yes();')
    with subprocess.Popen([folder.raddle, "run", "yes.df"], cwd=folder.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        expect(process.stdout.readline(), "y\n")
        process.stdout.close()
        expect((process.wait(timeout=60), process.stderr.read()), (141, ""))


def programs_have_no_terminal(folder):
    """What is typed there is for whoever waits for the run: a program neither reads it nor gets signals of its keys."""
    folder.write("terminal.df", """
        app (void v) ask() { "sh" "-c" "exec 2> /dev/null; if (: < /dev/tty); then echo asked; else echo alone; fi" }
        app (void v) group() { "sh" "-c" "read -r pid name state parent group rest < /proc/$$/stat; test $group = $$ && echo leads" }
        ask() => group();
        """)
    for options in ["--no-record", "--workers=1"]:
        with PtySession([folder.raddle, "run", options, "terminal.df"], folder=folder.path) as session:
            expect((session.wait_for_end(), session.raw), (0, "alone\r\nleads\r\n"))
    folder.run("run --no-record terminal.df", out="alone\nleads\n")


def runs_that_nobody_reads_end_in_order(folder):
    """Whatever has printed: programs are ended, temporary files removed, nothing is said."""
    folder.write("values.df", """
        import files;
        import io;
        app (file o) number(int i) { "echo" i @stdout=o }
        file all[];
        foreach i in [1:20] { all[i] = number(i); }
        wait deep (all) { foreach i in [1:1000000] { printf("%i %s", i, read(all[1 + i %% 20])); } }
        """)
    folder.write("programs.df", """
        import files;
        import io;
        app (file o) number(int i) { "sh" "-c" "echo $0; sleep $(( ($0 - 1) * 100 ))" i @stdout=o }
        foreach i in [1:3] { file f = number(i); foreach k in [1:1000000] { printf("%i %s", k, read(f)); } }
        """)
    folder.write("of_c.df", """
        import assert;
        import files;
        app (file o) number(int i) { "echo" i @stdout=o }
        @library="libc.so.6" (int n) puts(string s);
        file f = number(1);
        foreach i in [1:1000000] { assert(puts(read(f)) > 0, "it is said"); }
        """)
    folder.write("stays_in_c.df", """
        import files;
        import io;
        app (file o) number(int i) { "echo" i @stdout=o }
        @library="libc.so.6" (int left) sleep(int seconds);
        file f = number(1);
        printf("%s", read(f)) => sleep(1000);
        foreach i in [1:1000000] { printf("%s %i", read(f), i); }
        """)
    temporaries = folder.path / "temporaries"
    temporaries.mkdir()
    for script, options in (("values.df", ("--workers=2", "--no-record")), ("programs.df", ("--workers=2", "--no-record")),
                            ("of_c.df", ("--workers=2", "--no-record")), ("stays_in_c.df", ("--workers=2",))):
        for option in options:
            with subprocess.Popen([folder.raddle, "run", option, script], cwd=folder.path, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "SWIFT_TMP": str(temporaries)}) as process:
                process.stdout.readline()
                expect(any(temporaries.iterdir()), True)
                process.stdout.close()
                expect((process.wait(timeout=60), process.stderr.read()), (141, ""))
            expect(list(temporaries.iterdir()), [])
    states = {run["state"] for run in json.loads(folder.run("runs list --json").stdout)["runs"]}
    expect(states - {"stopped", "killed"}, set())  # killed is one that could not write so any more


def failed_calls_are_told(folder):
    folder.write("fail.df", """
        import assert;
        @memo (int r) half(int n) { assert(n %% 2 == 0, "odd") => r = n %/ 2; }
        @memo (int r) quarter(int n) { r = half(half(n)); }
        trace(quarter(6));
        """)
    for options in ("", "-k "):
        folder.run(f"run {options}fail.df", code=1, err="odd")
        logs = [json.loads(line)["log"] for line in folder.run("runs logs --json").stdout.splitlines()]
        expect(sorted((log["parameters"]["work"], log["outcome"], log.get("detail", "")) for log in logs if log["outcome"] != "ok"),
               [("half(n = 3)", "failed", "Assertion failed!: odd"), ("quarter(n = 6)", "failed", "Assertion failed!: odd")])
        expect_in(" 2 failed", folder.run("runs show").stdout)
        expect("ended with the run" in folder.run("runs show").stdout, False)


def what_had_ended_is_kept(folder):
    """A run that is stopped ends what runs; programs that had ended by then have their outputs and count as such."""
    folder.write("many.df", """
        app (file o) make(int i) { "sh" "-c" "echo $0" i @stdout=o }
        app (void v) fail() { "sh" "-c" "sleep 0.15; exit 1" }
        fail();
        foreach i in [1:100000] { file f<"out/" + fromint(i)> = make(i); }
        """)
    for _ in range(5):
        shutil.rmtree(folder.path / "out", ignore_errors=True)
        folder.run("run --processes=2 many.df", code=1, err="ended with exit code 1")
        logs = [json.loads(line)["log"] for line in folder.run("runs logs --json").stdout.splitlines()]
        made = [log for log in logs if log["parameters"]["task"] == "make"]
        outcomes = collections.Counter(log["outcome"] for log in made)
        expect((set(outcomes) - {"interrupted"}, outcomes["interrupted"] <= 2), ({"ok"}, True))
        expect(sorted(str(path.relative_to(folder.path)) for path in (folder.path / "out").iterdir()),
               sorted(name for log in made if log["outcome"] == "ok" for name in log["results"]["outputs"]))


# What makes a record one of an earlier version.
BACKWARDS = {7: "DROP TABLE device; PRAGMA user_version = 7;",
             6: "ALTER TABLE block RENAME TO batch; DROP INDEX block_by_run; CREATE INDEX batch_by_run ON batch (run); PRAGMA user_version = 6;",
             5: "DROP TABLE taken; PRAGMA user_version = 5;",
             4: "".join(f"ALTER TABLE {table} DROP COLUMN digest;" for table in ("run", "point", "task", "batch")) +
                "ALTER TABLE batch DROP COLUMN content_digest; PRAGMA user_version = 4;",
             3: "DROP TABLE task; PRAGMA user_version = 3;",
             2: "ALTER TABLE point DROP COLUMN worker; ALTER TABLE point DROP COLUMN inputs; ALTER TABLE batch DROP COLUMN worker; PRAGMA user_version = 2;"}


def blocked_output_keeps_nothing_from_ending(folder):
    folder.write("much.df", 'app (void v) much() { "seq" 1 1000000 } much();')
    for signal_number, code in ((signal.SIGTERM, 75), (signal.SIGINT, 130)):
        reader, writer = os.pipe()
        process = subprocess.Popen([folder.raddle, "run", "much.df"], cwd=folder.path, stdout=writer, stderr=subprocess.DEVNULL)
        os.close(writer)
        try:
            wait_for(lambda: tells(folder, "runs", "running"), "the record")
            process.send_signal(signal_number)
            expect(process.wait(timeout=60), code)
        finally:
            process.kill()
            os.close(reader)
        folder.run("runs rm " + run_id(folder, -1))
    for line, message in (("run much.df > /dev/full", "standard output could not be written"),
                          ("run much.df >&-", "standard output could not be written")):
        done = subprocess.run(["sh", "-c", f"{shlex.quote(str(folder.raddle))} {line}"], cwd=folder.path, capture_output=True, text=True, check=False)
        expect((done.returncode, done.stderr), (1, f"raddle: {message}\n"))


def record_of_another_user_is_read(folder):
    """Also one of an earlier version, as it is. As root there is no such user: then nothing is shown."""
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        return "not run: root without setpriv"
    folder.run("sweep -p a=1,2 -- echo {a}")
    told = read_by_another(folder)
    for version, script in BACKWARDS.items():
        if told is None:
            with contextlib.closing(sqlite3.connect(folder.path / ".raddle/runs.db")) as record:
                record.executescript(script)
            told = read_by_another(folder)
            with contextlib.closing(sqlite3.connect(folder.path / ".raddle/runs.db")) as record:
                expect(record.execute("PRAGMA user_version").fetchone(), (version,))
    return told


def read_by_another(folder):
    """Returns why it can not be shown."""
    expected = list_by_copy(folder)
    modes = {folder.path: 0o555, folder.path / ".raddle": 0o555, folder.path / ".raddle" / "runs.db": 0o444}
    for path, mode in modes.items():
        path.chmod(mode)
    as_other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    try:
        if subprocess.run([*as_other, folder.raddle, "--version"], cwd=folder.path, capture_output=True, check=False).returncode != 0:
            return "not run: another user can not run raddle from its folder"
        for words in (["runs"], ["runs", "show"], ["runs", "logs"], ["runs", "table"], ["why"], ["why", "/2"], ["report"], ["trace"]):
            done = subprocess.run([*as_other, folder.raddle, *words], cwd=folder.path, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=60, check=False, text=True)
            expect((done.returncode, done.stderr), (0, ""))
            expect(words != ["runs"] or done.stdout == expected, True)
        done = subprocess.run([*as_other, folder.raddle, "sweep", "--resume"], cwd=folder.path, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, check=False, text=True)
        expect((done.returncode, "internal error" in done.stderr), (1, False))
    finally:
        for path in modes:
            path.chmod(0o755)
    return None


def list_by_copy(folder):
    """What `raddle runs` tells of the folder's record, which stays of the version that it is."""
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(folder.path / ".raddle", f"{copy}/.raddle")
        return subprocess.run([folder.raddle, "runs"], cwd=copy, capture_output=True, check=True, text=True).stdout


def tells(folder, line, text):
    """While the record is made there may be none yet."""
    done = subprocess.run([folder.raddle, *line.split()], cwd=folder.path, capture_output=True, check=False, text=True)
    return text in done.stdout


def killed_script_leaves_its_tasks(folder):
    folder.write("long.df", """
        app (void v) first() { "sh" "-c" "echo done" }
        app (void v) second() { "sleep" "1000" }
        first() => { second(); second(); }
        """)
    process = subprocess.Popen([folder.raddle, "run", "--processes=1", "long.df"], cwd=folder.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: tells(folder, "runs", "1 ok"), "its first task")
    expect_in("running", folder.run("runs").stdout)
    process.kill()
    process.wait()
    expect_in("killed", folder.run("runs").stdout)
    expect_in("task 1 first: sh -c 'echo done': ok", folder.run("runs logs").stdout)
    for sent, state in ((signal.SIGINT, "interrupted"), (signal.SIGTERM, "stopped")):
        process = subprocess.Popen([folder.raddle, "run", "--processes=1", "long.df"], cwd=folder.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: tells(folder, "runs", "running") and tells(folder, "runs show", "1 ok"), "its first task")
        for _ in range(2):  # as timeout(1) does: to the process, and to its group
            process.send_signal(sent)
        process.wait(timeout=60)
        shown = folder.run("runs show").stdout
        expect_in(f"  {state} after ", shown)
        expect_in("  3 tasks: 1 ok, 0 failed, 2 ended with the run\n", shown)
        logs = [json.loads(line)["log"] for line in folder.run("runs logs --json").stdout.splitlines()]
        expect([(log["parameters"]["task"], log["outcome"], log.get("detail")) for log in logs],
               [("first", "ok", None), ("second", "interrupted", "ended with the run")])  # the third had no turn
        folder.run("report -o report.html")
        expect("<h2>Failures" in folder.read("report.html"), False)


def ctrl_backslash_tells_what_runs(folder):
    folder.write("long.df", 'app (void v) nap(int k) { "sleep" (1000+k) } foreach k in [1:5] { nap(k); }')
    for line, programs in (("run --processes=2 long.df", "2 programs run, 3 wait"),
                           ("sweep -j2 --progress=none -p k=1:5 -- sleep 100{k}", "2 programs run, 0 wait")):
        with open(folder.path / "told", "w", encoding="utf-8") as told:
            process = subprocess.Popen([folder.raddle, *shlex.split(line)], cwd=folder.path, stdout=subprocess.DEVNULL, stderr=told)
        wait_for(lambda: tells(folder, "runs", "running"), f"the record of {line}")  # before, it might not hear signals

        def asked():
            process.send_signal(signal.SIGQUIT)
            return programs in folder.read("told")
        wait_for(lambda: process.poll() is not None or asked(), f"what {line} runs")
        expect_in(f"raddle: {programs}\n", folder.read("told"))
        expect_in(": sleep 100", folder.read("told"))
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)


def what_can_not_be_recorded_is_told(folder):
    folder.write("one.df", 'app (void v) hello() { "echo" "hello" } hello();')
    folder.write(".raddle", "a file")
    done = folder.run("run one.df", out="hello\n")
    expect(done.stderr.startswith("raddle: warning: what was run is not recorded: "), True)


TESTS = [script_runs_are_recorded, programs_have_no_terminal, tasks_are_told_apart, programs_of_points_print_into_the_record,
         failed_calls_are_told, blocked_output_keeps_nothing_from_ending, changed_files_of_calls_are_named, tasks_of_points_are_recorded,
         killed_point_leaves_its_tasks, logs_have_each_task_once, ends_of_outputs_are_kept,
         runs_that_nobody_reads_end_in_order, what_had_ended_is_kept, record_of_another_user_is_read, killed_script_leaves_its_tasks,
         ctrl_backslash_tells_what_runs, what_can_not_be_recorded_is_told]


if __name__ == "__main__":
    main("tasks", "Tests the record of runs of scripts.", TESTS, SweepFolder)
