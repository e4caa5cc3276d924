#!/usr/bin/env python3
"""What `raddle sweep` does with an external program. Each test has a folder of its own.

    check_swept_programs.py [--raddle PATH] [FILTER]
"""

import json
import os
import re
import shlex
import signal
import subprocess
import time

from folder_tests import expect, expect_in, main, processor_s, wait_for
from sweep_folder import SweepFolder, run_id


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
    folder.run("sweep -p a=1,2 --group-by a -- echo text {a}", err="no value of `stdout` is a number: its statistics are empty")
    done = folder.run("sweep -p a=1,2 --group-by a -- sh -c 'test {a} -eq 1 || echo {a}'")
    expect("warning" in done.stderr, False)


def a_zero_byte_ends_no_line(folder):
    expect(folder.column("sweep -p a=1 --collect 'regex:E=([0-9]+)' -- printf 'x\\0 E={a}7\\n'", "E"), ["17"])


def bytes_that_are_no_text_in_json(folder):
    """A member that is no UTF-8 loses none of the others."""
    (folder.path / "j").write_bytes(b'{"a": 1, "z": "caf\351"}')
    folder.write("cat.sh", "cat j\n")
    folder.run("sweep -q -p i=1 --collect json: -o t.csv -- sh cat.sh {i}")
    expect(folder.read("t.csv").splitlines()[1].split(",")[:3], ["1", "1", "caf\ufffd"])


def numbers_that_json_has_not(folder):
    """NaN and infinities, as Python writes them into its JSON: the record has them, JSON lines have null in columns of numbers."""
    def strict(line):
        return json.loads(line, parse_constant=lambda text: expect(text, "no constant"))

    folder.write("nan.py", 'import json, sys\nv = float(sys.argv[1])\nprint(json.dumps({"v": v, "kind": "inf" if v > 9 else "low"}))\n')
    command = "-p x=nan,inf,-inf,2.5 --collect json: -- python3 nan.py {x}"
    expect(folder.column(f"sweep -o - {command}", "v", "kind"), ["NaN low", "Infinity inf", "-Infinity low", "2.5 low"])
    folder.run(f"sweep -o x.jsonl {command}", err="4 from the record")
    rows = [strict(line) for line in folder.read("x.jsonl").splitlines()]
    expect([(row["x"], row["v"], row["kind"]) for row in rows], [(None, None, "low"), (None, None, "inf"), (None, None, "low"), (2.5, 2.5, "low")])
    expect([float(strict(line)["log"]["results"]["v"]) > 0 for line in sorted(folder.run(f"runs logs {run_id(folder, 0)} --json").stdout.splitlines(), key=lambda line: strict(line)["log"]["point"])],
           [False, True, False, True])
    folder.run("sweep -q -p x=1 --collect json: -o big.jsonl -- printf '{{\"a\": 9223372036854775808, \"b\": -99999999999999999999999, \"c\": 9223372036854775807, \"d\": \"9223372036854775808\"}}' {x}")
    big = strict(folder.read("big.jsonl"))
    expect([big[name] for name in "abcd"], [9223372036854775808, -99999999999999999999999, 9223372036854775807, "9223372036854775808"])
    folder.write("log.df", "import math;\n@param float x = 0.0;\n@result float y = log(x);\n")
    expect(strict(folder.run("run --json log.df").stdout)["results"], {"y": "-Inf"})
    folder.run("sweep log.df -p x=0.0,1 -o y.jsonl")
    expect([strict(line)["y"] for line in folder.read("y.jsonl").splitlines()], [None, 0])
    expect(folder.column("sweep log.df -p x=0.0,1 -o -", "y"), ["-Inf", "0.0"])


def paths_of_any_bytes(folder):
    """A file whose name is no UTF-8 is an input as others are."""
    name = os.fsdecode(b"caf\xe9.txt")
    line = f"sweep -p a=1,2 -- sh -c 'cat \"$0\"; echo {{a}}' {name}"
    (folder.path / name).write_text("first\n", encoding="utf-8")
    folder.run(line, err="2 points, ")
    folder.run(line, err="2 points, 2 from the record")
    expect_in("\"inputs\":{\"$'caf\\\\xe9.txt'\":", folder.run("runs logs --json").stdout + folder.run(f"runs logs {run_id(folder, 0)} --json").stdout)
    (folder.path / name).write_text("second\n", encoding="utf-8")
    folder.run(line, err="`$'caf\\xe9.txt'` has changed: points that have read it are run again")


def closed_streams(folder):
    """Nothing ends for want of a place to tell of it; no file takes the place of a closed stream."""
    def run(command, closed):
        return subprocess.run(["sh", "-c", f'exec "$0" {command} {closed}', folder.raddle], cwd=folder.path,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False, text=True)

    # the second command lasts long enough for a line of progress
    for command in ("echo out; echo err >&2", "sleep 1.1"):
        done = run(f"sweep --progress plain -v -p a=1,2 -j1 -o x.csv -- sh -c '{command}; exit {{a}}'", "2>&-")
        expect((done.returncode, [row.split(",")[2] for row in folder.read("x.csv").splitlines()[1:]]), (4, ["exit code"] * 2))
    expect(run("-e 'trace(x);'", "2>&-").returncode, 3)
    expect(run("nothing.df", "2>&-").returncode, 2)
    expect(run("rerun --failed", "2>&-").returncode, 4)
    done = run("runs list", ">&-")
    expect((done.returncode, done.stderr), (1, "raddle: standard output could not be written\n"))
    expect(run("-", "<&-").returncode, 0)


def absent_program(folder):
    """One error, and nothing is recorded; what the record has needs no program."""
    done = folder.run("sweep -p i=1:100 -- nosuchprog {i}", code=2)
    expect(done.stderr, "raddle: `nosuchprog`: no such file or directory\n")
    expect((folder.path / ".raddle").exists(), False)
    folder.run("sweep -p i=1:100 -- ./folder/nosuchprog {i}", code=2, err="`./folder/nosuchprog`: no such file or directory")
    folder.run("sweep -p i=1 -- ./ {i}", code=2, err="`./`: permission denied")
    folder.write("here.sh", "#!/bin/sh\necho $1\n")
    (folder.path / "here.sh").chmod(0o755)
    expect(folder.column("sweep -p i=1,2 -- ./here.sh {i}", "stdout"), ["1", "2"])
    (folder.path / "here.sh").rename(folder.path / "away.sh")
    folder.run("sweep -p i=1,2,3 -- ./here.sh {i}", code=2, err="raddle: `./here.sh`: no such file or directory\n")
    expect(folder.run("sweep -n -p i=1:3 -- nosuchprog {i}").stdout, "nosuchprog 1\nnosuchprog 2\nnosuchprog 3\n")


def failures(folder):
    bad = "sh -c 'echo at {a} bad >&2; exit $(({a} %% 2))'".replace("%%", "%")
    done = folder.run(f"sweep -p a=1:4 -j1 -o x.csv -- {bad}", code=4, err="2 failed: exit code 1; at 1 bad")
    expect_in("as point 1: sh -c 'echo at 1 bad >&2; exit $((1 % 2))'", done.stderr)
    expect([line.split(",")[2] for line in folder.read("x.csv").splitlines()[1:]], ["exit code", "ok", "exit code", "ok"])
    folder.run("rerun --failed", code=4, err="2 points, 2 failed")
    expect(len(folder.read("x.csv").splitlines()), 5)  # the whole table
    folder.run("sweep --resume", code=4, err="2 from the record, 2 failed")
    folder.run("sweep -p a=1:40 -- false", code=75, err="stopped early: the first 10 runs to end have all failed; -k goes on\n")
    folder.run("sweep -p a=1:40 -k -- false", code=4, err="40 failed")
    folder.run("sweep -p a=1:40 -j1 --max-fails 2 -o y.csv -- sh -c 'exit {a}'", code=75, err="3 of 40 points, 3 failed")
    expect((folder.path / "y.csv").exists(), False)
    folder.run("sweep -p a=1:40 -j1 --max-fails 50% -- sh -c 'test {a} -gt 5'", err="5 failed", code=4)
    folder.run("sweep -p a=1 -- nowhere_to_be_found", code=2, err="raddle: `nowhere_to_be_found`: no such file or directory\n")
    folder.write("model.sh", "#!/bin/sh\n")
    folder.run("sweep -p a=1 -- model.sh {a}", code=2, err="no such file or directory; the one in this folder is `./model.sh`")
    folder.run("sweep -p a=1 -- ./model.sh {a}", code=2, err="permission denied; `chmod +x ./model.sh` lets it be run")
    folder.write("my model.sh", "#!/bin/sh\n")
    folder.run("sweep -p a=1 -- './my model.sh' {a}", code=2, err="`chmod +x './my model.sh'` lets it be run")
    folder.run("sweep -p a=1 -- 'echo {a}'", code=4, err="not started: `echo 1`: no such file or directory; the words of a command stand each by itself")
    folder.run("sweep -p a=model,mdel -- './{a}.sh'", code=4, err="not started: `./mdel.sh`: no such file or directory")
    folder.run("sweep -p a=1 --timeout 0.1 -- sleep 20", code=4, err="ended by --timeout")
    folder.run("sweep -p a=1 --timeout 1m -- true", err="1 point, ")
    folder.run("sweep -p m=iron,zinc -p a=-1.5,2 -j1 -- sh -c 'echo no such material: {m} at {a} >&2; exit 1'", code=4,
               err="4 failed: exit code 1; no such material: iron at -1.5")
    limited = f"ulimit -n 64; exec {folder.raddle} sweep -p a=1:9"
    done = subprocess.run(["sh", "-c", f"{limited} -j 200 -- true"], cwd=folder.path, capture_output=True, check=False, text=True)
    expect(done.returncode, 1)
    expect_in("raddle: -j 200: each run at a time needs 2 open files, and no more than 64 are allowed (ulimit -n)", done.stderr)
    jobs = done.stderr.split("= help: ")[1].split(",")[0]
    subprocess.run(["sh", "-c", f"{limited} {jobs} -- sh -c '(sleep 0.1; echo late) & echo {{a}}'"], cwd=folder.path, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    folder.run("sweep -p a=1 -- sh -c 'kill -SEGV $$'", code=4, err="signal 11 (Segmentation fault)")
    folder.run("sweep -p a=1 --retries 3 -- sh -c 'echo x >> tries; test $(wc -l < tries) -gt 2'", err="2 retries")


def output_is_bounded_and_its_own(folder):
    folder.run("sweep -p a=1 -- sh -c 'yes | head -c 100000; echo end'")
    log = json.loads(folder.run("runs logs --json").stdout)
    expect((log["schema"], log["log"]["stdout_size"], len(log["log"]["stdout"])), (1, 100004, 4096))
    rows = folder.column("sweep -p a=1:20 -j1 -- sh -c 'echo {a}; (sleep 0.05; echo late) &'", "stdout")
    expect(rows, [str(i) for i in range(1, 21)])


def inputs_of(folder, point):
    return json.loads(folder.run(f"runs logs /{point} --json").stdout.splitlines()[-1])["log"].get("inputs", {})


def changed_files_are_noticed(folder):
    """Points are run again for the program, for files that words name, for those of --input; not for what is written."""
    folder.write("model.sh", "read n < $1; read k < constant; echo $((n + k)); echo done >> log\n")
    folder.write("constant", "10\n")
    for n in (1, 2, 3):
        folder.write(f"{n}.txt", f"{n}\n")
    folder.write("log", "")
    command = "sweep -j1 -p n=1:3 --input constant -- sh model.sh {n}.txt --to=log"
    expect(folder.column(command, "stdout"), ["11", "12", "13"])
    expect(inputs_of(folder, 1)["log"], "changed meanwhile")  # by the point, or edited: it is the first time
    expect(sorted(inputs_of(folder, 2)), ["2.txt", "constant", "model.sh"])
    folder.run(command, err="2 from the record")
    folder.run(command, err="3 from the record")
    folder.write("2.txt", "5\n")
    done = folder.run(command, err="raddle: `2.txt` has changed: points that have read it are run again\n")
    expect_in("3 points, 2 from the record", done.stderr)
    expect(folder.column("sweep --resume", "stdout"), ["11", "15", "13"])
    folder.write("constant", "20\n")
    expect(folder.column(command, "stdout"), ["21", "25", "23"])
    expect_in("has it, but `constant` is not what it was then", folder.run("why /2").stdout)
    folder.write("model.sh", "echo new $1\n")
    expect(folder.column(command, "stdout"), ["new 1.txt", "new 2.txt", "new 3.txt"])
    folder.write("model.sh", "read n < $1; read k < constant; echo $((n + k)); echo done >> log\n")
    expect(folder.column(command, "stdout"), ["21", "25", "23"])  # as a run before the last has it
    folder.run(command, err="3 from the record")
    os.remove(folder.path / "3.txt")
    done = folder.run(command, err="has changed: points that have read it are run again")
    expect_in("3 points, 2 from the record", done.stderr)
    folder.run("sweep -p n=1 --input nowhere -- true {n}", code=2, err="raddle: --input: there is no such file")
    folder.run("sweep -p n=1 --input {m}.txt -- true {n}", code=2, err="raddle: --input: there is no parameter `m`")


def lost_outputs_are_made_again(folder):
    """Files that a script has written at a point, or that --collect has read of it, are there or the point is run again."""
    def lose(command, path, point):
        folder.run(command, err="3 from the record")
        (folder.path / path).unlink()
        done = folder.run(command, err=f"raddle: `{path}` is not there any more: points whose output is missing are run again\n")
        expect_in("3 points, 2 from the record", done.stderr)
        expect((folder.path / path).exists(), True)
        expect_in(f"has it, but `{path}`, which it had written, was not there any more", folder.run(f"why /{point}").stdout)
        folder.run(command, err="3 from the record")

    write = "sh -c 'echo {{\\\"y\\\": {n}}} > out{n}.json'"
    command = f"sweep -p n=1:3 --collect json:out{{n}}.json -- {write}"
    expect(folder.column(command, "y"), ["1", "2", "3"])
    lose(command, "out2.json", 2)
    folder.write("out2.json", "edited by hand")  # what it says does not matter
    folder.run(command, err="3 from the record")
    folder.write("outputs.df", """
        import files;
        @param int n = 1;
        app (file o) make(int n) { "echo" n @stdout=o }
        app (file o) same(file i) { "cp" i o }
        app (void v) forget(string path) { "rm" path }
        file made<"made%i" % n> = make(n);
        file text<"text%i" % n> = write("some");
        file copy<"copy%i" % n> = made;
        file unnamed = make(n);
        file last<"last%i" % n> = same(unnamed);
        file gone<"gone%i" % n> = make(n);
        gone => forget(filename(gone));
        @result string name = filename(last);
        """)
    command = "sweep outputs.df -p n=1:3"
    expect(folder.column(command, "name"), ["last1", "last2", "last3"])
    for path, point in (("made1", 1), ("text2", 2), ("copy3", 3), ("last2", 2)):
        lose(command, path, point)
    (folder.path / "made1").unlink()
    folder.run("rerun", err="points whose output is missing are run again")
    (folder.path / "made1").unlink()
    folder.run("rerun --where 'n == 2'", err="raddle: `made1` was removed since run")
    log = json.loads(folder.run("runs logs /2 --json").stdout.splitlines()[-1])["log"]
    expect((log["outputs"], log.get("inputs")), (["copy2", "last2", "made2", "text2"], None))
    expect(json.loads(folder.run(f"runs diff {run_id(folder, 0)} {run_id(folder, 1)} --json").stdout)["diff"]["inputs"], [])
    # what several points write one after the other is none of them's own
    shared = "sweep -j1 -p n=1:3 --collect json:shared.json -- sh -c 'echo {{\\\"y\\\": {n}}} > shared.json'"
    folder.run(shared)
    (folder.path / "shared.json").unlink()
    folder.run(shared, err="3 from the record")


def programs_of_scripts_are_noticed(folder):
    """The same for a script's programs, their scripts and what their words name; not for what points make themselves."""
    folder.write("model.sh", "read k < $2; echo $(($1 * k))\n")
    folder.write("factor", "2\n")
    folder.write("3.in", "5\n")
    folder.write("m.df", """
        import files; import string;
        @param int n = 1;
        app (file o) model(int n) { "sh" "model.sh" n "factor" @stdout=o }
        app (file o) same(file i, file also) { "cat" i also @stdout=o }
        file kept<"kept" + n> = model(n);
        file given = input(n + ".in");
        @result string m = replace_all(trim(read(same(kept, given))), "\\n", " ", 0);
        """)
    for n in (1, 2):
        folder.write(f"{n}.in", "5\n")
    command = "sweep m.df -p n=1:3"
    expect(folder.column(command, "m"), ["2 5", "4 5", "6 5"])
    expect(sorted(inputs_of(folder, 2)), ["2.in", "factor", "model.sh"])
    folder.run(command, err="3 from the record")
    folder.write("2.in", "7\n")
    expect_in("3 points, 2 from the record", folder.run(command, err="`2.in` has changed").stderr)
    folder.write("factor", "3\n")
    expect(folder.column(command, "m"), ["3 5", "6 7", "9 5"])
    expect_in("has it, but `factor` is not what it was then", folder.run("why /2").stdout)
    folder.write("model.sh", "echo new\n")
    folder.run("rerun", err="`model.sh` has changed: points that have read it are run again")
    expect(folder.column("sweep --resume", "m"), ["new 5", "new 7", "new 5"])
    folder.write("two.df", """
        import files; import string;
        @param int n = 1;
        app (void v) make(int n) { "sh" "-c" "echo $0 > mesh" n }
        app (file o) solve(void v) { "cat" "mesh" "factor" @stdout=o }
        @result string m = replace_all(trim(read(solve(make(n)))), "\\n", " ", 0);
        """)
    command = "sweep two.df -j 1 -p n=1:3"
    expect(folder.column(command, "m"), ["1 3", "2 3", "3 3"])
    expect(sorted(inputs_of(folder, 2)), ["factor"])
    done = folder.run(command, err="3 from the record")
    expect("has changed" in done.stderr, False)


def files_that_scripts_read_are_noticed(folder):
    """By whatever name they read them, in functions, too, or find them; also what was declared, for points that are
    computed by thousands; not what a point makes, later than in the tick of the file system's clock in which it begins."""
    folder.write("m.df", """
        import files; import string; import stats;
        @param int n = 1;
        @param string name = "a";
        (string s) content(string name) { s = read(input(name)); }
        app (void v) make(int n) { "sh" "-c" "sleep 0.02; echo $0 > made$0" n }
        @result string named = trim(read(input(name + ".csv")));
        @result string formatted = trim(content("in%i.txt" % n));
        @result int found = size(glob("in*.txt"));
        @result boolean is_there = file_exists("extra");
        make(n) => @result string own = trim(read(input("made%i" % n)));
        """)
    for name in ("a.csv", "in1.txt", "in2.txt"):
        folder.write(name, "1\n")
    command = "sweep m.df -p n=1,2"

    def rows():
        done = folder.run(f"{command} -o -")
        return [",".join(row.split(",")[1:6]) for row in done.stdout.splitlines()[1:]], done.stderr

    expect(rows()[0], ["1,1,2,false,1", "1,1,2,false,2"])
    expect(sorted(inputs_of(folder, 2)), ["a.csv", "extra", "in*.txt", "in1.txt", "in2.txt"])
    expect_in("2 from the record", rows()[1])
    for name, text, right in (("in2.txt", "3\n", ["1,1,2,false,1", "1,3,2,false,2"]),
                              ("a.csv", "4\n", ["4,1,2,false,1", "4,3,2,false,2"]),
                              ("in3.txt", "", ["4,1,3,false,1", "4,3,3,false,2"]),
                              ("extra", "", ["4,1,3,true,1", "4,3,3,true,2"])):
        folder.write(name, text)
        expect(rows()[0], right)
        why = folder.run("why /2").stdout
        expect_in("has it, but ", why)
        expect_in(name if name != "in3.txt" else "in*.txt", why)
    folder.write("declared.df", "@param int n = 1;\n@result int m = n * 2;\n")
    command = "sweep declared.df -p n=1:3 --input a.csv"
    folder.run("sweep declared.df -p n=1:3")
    told = folder.run(command).stderr
    expect("from the record" in told, False)  # whether they have read it is not known
    folder.run(command, err="3 from the record")
    folder.write("a.csv", "5\n")
    expect("from the record" in folder.run(command, err="`a.csv` has changed").stderr, False)


def what_is_edited_before_it_is_read_is_noticed(folder):
    """A file that is new to the point, before any program of it has run: nobody but a user has written it. Also its time."""
    folder.write("m.df", """
        import files; import string; import sys;
        @param int n = 1;
        app (file o) show(string name) { "cat" name @stdout=o }
        sleep(1) => @result string own = trim(read(input("a.csv")));
        @result string shown;
        wait (own) { shown = trim(read(show("b.csv"))); }
        """)
    folder.write("a.csv", "1\n")
    folder.write("b.csv", "1\n")
    first = folder.start("sweep m.df -p n=1")
    wait_for((folder.path / ".raddle" / "claims").exists, "the point's beginning")
    time.sleep(0.5)
    folder.write("a.csv", "2\n")
    folder.write("b.csv", "2\n")
    expect(first.wait(timeout=60), 0)
    first.communicate()
    expect(sorted(inputs_of(folder, 1)), ["a.csv", "b.csv"])
    expect(folder.column("sweep m.df -p n=1", "own", "shown"), ["2 2"])
    folder.run("sweep m.df -p n=1", err="1 from the record")
    for name, right in (("a.csv", "3 2"), ("b.csv", "3 3")):
        folder.write(name, "3\n")
        expect(folder.column("sweep m.df -p n=1", "own", "shown"), [right])


def times_of_files_are_noticed(folder):
    folder.write("m.df", "import files;\n@param int n = 1;\n@result int written = file_mtime(\"t.csv\");\n@result boolean there = file_exists(\"t.csv\");\n")
    folder.write("t.csv", "")
    for time_s in (1500, 1700):
        os.utime(folder.path / "t.csv", (time_s, time_s))
        expect(folder.column("sweep m.df -p n=1,2", "written", "there"), [f"{time_s} true"] * 2)
    folder.run("sweep m.df -p n=1,2", err="2 from the record")


def only_points_that_search_are_run_again(folder):
    folder.write("m.df", """
        import files; import stats;
        @param int n = 1;
        @result int found;
        if (n > 1) { found = size(glob("in*.txt")); } else { found = 0; }
        """)
    folder.write("in1.txt", "")
    expect(folder.column("sweep m.df -p n=1:3", "found"), ["0", "1", "1"])
    folder.write("in2.txt", "")
    expect_in("1 from the record", folder.run("sweep m.df -p n=1:3").stderr)
    expect(folder.column("sweep m.df -p n=1:3", "found"), ["0", "2", "2"])


def files_of_commands_are_noticed(folder):
    folder.write("model.sh", "exit 2\n")
    folder.write("m.df", 'import sys;\n@param int n = 1;\n@result int c;\n(text, c) = system(["sh", "model.sh", "" + n]);\n')
    expect(folder.column("sweep m.df -p n=1,2", "c"), ["2", "2"])
    folder.run("sweep m.df -p n=1,2", err="2 from the record")
    folder.write("model.sh", "exit 3\n")
    expect(folder.column("sweep m.df -p n=1,2", "c"), ["3", "3"])
    expect_in("has it, but `model.sh` is not what it was then", folder.run("why /2").stdout)


def libraries_are_noticed(folder):
    def build(value):
        folder.write("lib.c", f"#include <stdint.h>\nint64_t f(int64_t x) {{ return x * {value}; }}\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "new.so", "lib.c"], cwd=folder.path, check=True)
        os.replace(folder.path / "new.so", folder.path / "lib.so")

    build(2)
    folder.write("m.df", '@library="./lib.so" (int y) f(int x);\n@param int n = 1;\n@result int y = f(n);\n')
    expect(folder.column("sweep m.df -p n=1:3", "y"), ["2", "4", "6"])
    folder.run("sweep m.df -p n=1:3", err="3 from the record")
    build(3)
    expect(folder.column("sweep m.df -p n=1:3", "y"), ["3", "6", "9"])


def edited_inputs_are_read_again(folder):
    """A file that was edited while a point ran is none that its result is kept for, neither as it was nor as it is."""
    for line in ("--input in.txt -- sh -c 'touch begun; while ! test -e go; do sleep 0.01; done; cat in.txt' {a}", "m.df"):
        folder.write("m.df", """
            import files; import string;
            @param int a = 1;
            app (void v) waits(string s) { "sh" "-c" "touch begun; while ! test -e go; do sleep 0.01; done" s }
            (string s) content(void v) { wait (v) { s = trim(read(input("in.txt"))); } }
            @result string text = content(waits(content(make_void())));
            """ if line == "m.df" else "")
        for name in ("begun", "go"):
            (folder.path / name).unlink(missing_ok=True)
        folder.write("in.txt", "old\n")
        command = f"sweep {line.replace('--input', '-p a=1 --input')}" if line != "m.df" else "sweep m.df -p a=1"
        time.sleep(0.01)
        run = subprocess.Popen([folder.raddle, *shlex.split(command)], cwd=folder.path, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
        wait_for((folder.path / "begun").exists, "the point's start")
        folder.write("in.txt", "new\n")
        folder.write("go", "")
        told = run.communicate(timeout=60)[1]
        expect_in("`in.txt` has changed while points ran: the same line runs those again", told)
        folder.write("in.txt", "old\n")
        expect(folder.column(command, "text" if line == "m.df" else "stdout"), ["old"])
        folder.run(command, err="1 from the record")


def sweep_while(folder, line, *edits):
    """A sweep whose points say `begun` and wait for `go`, with edits in the meantime."""
    for name in ("begun", "go"):
        (folder.path / name).unlink(missing_ok=True)
    run = folder.start(line)
    wait_for((folder.path / "begun").exists, "the point's start")
    for edit in edits:
        time.sleep(0.02)
        edit()
    folder.write("go", "")
    run.communicate(timeout=60)
    expect(run.returncode, 0)


def inputs_of_apps_that_are_edited(folder):
    """A file that is a value of the script is an input, also when it is edited while the first points run."""
    folder.write("s.df", """
        import files; import string;
        @param int a = 1;
        app (file o) slow(file i) { "sh" "-c" "touch begun; while ! test -e go; do sleep 0.01; done; cat $0" i @stdout=o }
        file i = input("in.txt");
        file r<"r%i.txt" % a> = slow(i);
        @result string d = trim(read(r));
        """)
    folder.write("in.txt", "1\n")
    sweep_while(folder, "sweep -q -p a=1,2 -j2 s.df", lambda: folder.write("in.txt", "2\n"))
    folder.write("in.txt", "3\n")
    expect(folder.column("sweep -q -p a=1,2 -o - s.df", "d"), ["3", "3"])
    folder.run("sweep -p a=1,2 s.df", err="2 from the record")


def what_is_put_back_was_edited(folder):
    """An input that was edited, and put back before the point has ended: nobody knows which content it has read."""
    wait = "touch begun; while ! test -e go; do sleep 0.01; done; cat"
    folder.write("s.df", f"""
        import files; import string;
        @param int a = 1;
        app (file o) slow(file i) {{ "sh" "-c" "{wait} $0" i @stdout=o }}
        file r<"r.txt"> = slow(input("in.txt"));
        @result string text = trim(read(r));
        """)

    def moved_back():
        (folder.path / "in.txt").rename(folder.path / "aside")
        folder.write("in.txt", "2\n")

    def put_back():
        (folder.path / "aside").rename(folder.path / "in.txt")
    for edits in ((lambda: folder.write("in.txt", "2\n"), lambda: folder.write("in.txt", "1\n")), (moved_back, put_back)):
        for line in ("s.df", f"--input in.txt -- sh -c '{wait} in.txt'", f"-- sh -c '{wait} $0' in.txt"):
            subprocess.run(["rm", "-rf", ".raddle"], cwd=folder.path, check=True)
            folder.write("in.txt", "1\n")
            line = f"sweep -p a=1 {line}"
            sweep_while(folder, line, *edits)
            expect(folder.run(line).stderr.count("from the record"), 0)
            folder.run(line, err="1 from the record")


def what_only_a_word_names_was_edited(folder):
    """And put back later: the point is run again, unless a later one has written to the file, too."""
    folder.write("in.txt", "old\n")
    line = "sweep -p a=1 -- sh -c 'touch begun; while ! test -e go; do sleep 0.01; done; cat $0' in.txt {a}"
    sweep_while(folder, line, lambda: folder.write("in.txt", "new\n"))
    expect(inputs_of(folder, 1), {"in.txt": "changed meanwhile"})
    folder.write("in.txt", "old\n")
    expect(folder.column(line, "stdout"), ["old"])
    folder.run(line, err="1 from the record")
    twice = "sweep -j1 -p a=1,2 -- sh -c 'date +%N > $0' in.txt {a}"
    for err in ("it counts as written by them", "1 from the record", "2 from the record"):
        folder.run(twice, err=err)


def where_links_lead_is_noticed(folder):
    """A script that asks for the full path of a link is run again when it leads elsewhere."""
    folder.write("one", "same")
    folder.write("two", "same")
    folder.write("s.df", """
        import files; @param int a = 1;
        @result string p = realpath_string("link");
        @result string q = filename(realpath(input("link")));
        """)
    for target in ("one", "two", "one"):
        (folder.path / "link").unlink(missing_ok=True)
        (folder.path / "link").symlink_to(target)
        path = f"{os.path.realpath(folder.path)}/{target}"
        expect(folder.column("sweep -q -p a=1 -o - s.df", "p", "q"), [f"{path} {path}"])


def large_outputs_are_told(folder):
    """What was cut is said; files that are collected are not read without end."""
    blanks = "head -c 2000000 /dev/zero | tr \"\\0\" \"\\n\""
    folder.run(f"sweep -q -p i=1 -- sh -c 'echo 42; {blanks}'", code=4, err="bytes of standard output are blank")
    long = "head -c 70000000 /dev/zero | tr \"\\0\" a"
    folder.run(f"sweep -q -p i=1 --collect json: -- sh -c '{long}'", code=4, err="no JSON object in the last 67,108,864 bytes of standard output")
    folder.run(f"sweep -q -p i=1 --collect csv:f -- sh -c '{long} > f'", code=4, err="it has 70,000,000 bytes, more than 67,108,864")
    folder.run(f"sweep -q -p i=1 --collect json:f -- sh -c '{long} > f'", code=4, err="no JSON object in the last 67,108,864 bytes of `f`")
    expect(folder.column(f"sweep -q -p i=1 --collect 'regex(f):v=(.*)' -o - -- sh -c '({long}; echo; echo v=4) > f'", "v"), ["4"])


def collected_files_have_an_end(folder):
    """A pipe that nobody writes to, and a device without an end, are no results: no limit would end their reading."""
    os.mkfifo(folder.path / "pipe")
    for collect in ("json:pipe", "csv:pipe", "'regex(pipe):x=(.*)'", "json:/dev/zero"):
        folder.run(f"sweep -q --timeout 1 --collect {collect} -p a=1 -- echo {{a}}", code=4, err="it is no regular file")
    (folder.path / "folder").mkdir()
    folder.run("sweep -q --collect json:folder -p a=1 -- echo {a}", code=4, err="can not read `folder`: it is a folder")
    folder.run("sweep -q --collect json:none -p a=1 -- echo {a}", code=4, err="can not read `none`: no such file or directory")


def files_that_change_meanwhile(folder):
    """What the points themselves change is no input; what was one at another point, or is the program, stays one."""
    folder.write("log", "0\n")
    for err in ("`log` has changed while points ran: it counts as written by them; if they read it, --input FILE\n", "1 from the record", "2 from the record"):
        folder.run("sweep -j1 -p a=1,2 -- sed -i '$a{a}' log", err=err)
        folder.write("log", "0\n")
    folder.write("table", "old\n")
    edits = "sweep -j1 -p a=1,2 -- sh -c 'cat $1; test $2 -ne 2 || echo new > $1' x table {a}"
    expect(folder.column(edits, "stdout"), ["old", "old"])
    folder.write("table", "old\n")
    folder.run(edits.replace("{a}", "{a} again"), err="`table` has changed while points ran: the same line runs those again that have read it before or meanwhile")
    expect(folder.column(edits, "stdout"), ["new", "new"])
    expect(sorted(inputs_of(folder, 2)), ["table"])
    folder.write("new", "1\n")
    folder.run("sweep -p a=1,2 -- echo {a}")
    told = folder.run("sweep -p a=1,2 --input new -- echo {a}")
    expect("from the record" in told.stderr, False)  # whether they have read it is not known
    folder.run("sweep -p a=1,2 --input new -- echo {a}", err="2 from the record")
    folder.write("model.sh", "echo old\ntest -e once || { touch once; sed -i s/old/new/ model.sh; }\n")
    command = "sweep -p a=1 -- sh -e ./model.sh {a}"
    expect(folder.column(command, "stdout"), ["old"])
    expect(folder.column(command, "stdout"), ["new"])
    folder.run(command, err="1 from the record")
    folder.run("sweep -p a=1 --input {run.dir}/x -- true {a}", code=2, err="what is read is no file of the run's own")


def failed_points_are_run_again_alone(folder):
    """Also by a program that was mended."""
    folder.write("model.sh", "test $1 -ne 2 && echo old $1\n")
    folder.run("sweep -p n=1:3 -- sh model.sh {n}", code=4, err="1 failed")
    folder.write("model.sh", "echo new $1\n")
    folder.run("rerun --failed -o x.csv", err="raddle: `model.sh` has changed since run ")
    expect([line.split(",")[1] for line in folder.read("x.csv").splitlines()], ["stdout", "old 1", "new 2", "old 3"])


def what_was_mended_is_not_run_once_more(folder):
    folder.write("model.sh", "#!/bin/sh\necho $1 >> log\ntest -e mended || test $1 -lt 7\n")
    folder.run("sweep -p n=1:8 -- sh model.sh {n}", code=4, err="2 failed")
    run = run_id(folder, 0)
    folder.write("mended", "")
    folder.run(f"rerun {run} --failed", err="2 points, 0.")
    folder.run(f"rerun {run} --failed", err="2 points, 2 from the record")
    expect(sorted(folder.read("log").split()), sorted("12345678" + "78"))
    folder.run(f"rerun {run} --failed --no-cache", err="2 points, 0.")
    expect(folder.read("log").count("8"), 3)


def an_interrupt_is_for_those_that_run_only_by_us(folder):
    """Ctrl-C reaches the whole group of a terminal: no program that is just being started takes it for its own."""
    for _ in range(3):
        folder.write("log", "")
        sweep = subprocess.Popen([folder.raddle, "sweep", "-j", "100", "-p", "n=1:100000", "--", "sh", "-c", "echo >> log; sleep 0.01"],
                                 cwd=folder.path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
        wait_for(lambda: len(folder.read("log")) > 300, "300 points")
        os.killpg(sweep.pid, signal.SIGINT)
        said = sweep.communicate(timeout=60)[1]
        expect((sweep.returncode, "signal" in said, "Ctrl-C again" in said), (130, False, True))


def some_points_are_run_again(folder):
    folder.run("sweep -j1 -p a=1:5 -p b=x,y --where 'a != 2' -o x.csv -- sh -c 'echo {a}{b} >> log; test {a} -ne 4'", code=4)
    folder.write("log", "")
    folder.run("rerun --where 'a > 3 && b == \"x\"'", code=4, err="2 points, 1 failed")
    expect(folder.read("log").split(), ["4x", "5x"])
    expect(len(folder.read("x.csv").splitlines()), 9)  # the whole table
    expect_in("the run was to run only some of ", folder.run("why /1").stdout)
    expect_in("has it, but this one was to run some of ", folder.run("why /9").stdout)
    expect_in("(reruns some of ", folder.run("runs list").stdout)
    folder.write("log", "")
    folder.run("rerun --failed --where 'b == \"y\"'", err="raddle: --where leaves none of the points")
    expect(folder.read("log"), "")
    folder.run(f"rerun {run_id(folder, 0)} --failed --where 'b == \"y\"'", code=4, err="1 point, 1 failed")
    expect(folder.read("log").split(), ["4y"])
    folder.run("rerun --where 'a == 2'", err="raddle: --where leaves none of the points\n")
    folder.run("rerun --where 'c == 2'", code=2, err="unknown variable `c`")
    folder.run("rerun --all --where 'a == 3'", code=2, err="--all excludes --where")


def runs_have_folders_and_slots(folder):
    write = "sh -c 'n=$(ls -A {run.dir} | wc -l); echo ${{n}}{a} > {run.dir}/out; echo {run.dir}'"
    command = f"sweep -p a=1,2 --collect 'regex({{run.dir}}/out):([0-9]+)' -- {write}"
    folder.run(command)
    first = run_id(folder, -1)
    expect(folder.read(f".raddle/runs/{first}/2/out"), "02\n")
    folder.run(command, err="2 from the record")
    folder.run("rerun --all")
    expect(folder.read(f".raddle/runs/{run_id(folder, -1)}/1/out"), "01\n")
    again = "sh -c 'echo >> tries; ls -A {run.dir}; touch {run.dir}/mine; test $(wc -l < tries) -gt 1'"
    expect(folder.column(f"sweep -p a=1 --retries 1 -- {again}", "stdout"), [""])  # each attempt begins with nothing
    folder.run(f"runs rm --force {first}")
    expect((folder.path / ".raddle/runs" / first).exists(), False)
    done = folder.run("sweep -p a=1 -- sh -c 'echo no > {run.dir}/x; exit 1'", code=4)
    expect_in(f"as point 1: sh -c 'echo no > .raddle/runs/{run_id(folder, -1)}/1/x; exit 1'", done.stderr)
    slots = folder.column("sweep -p a=1:40 -j3 -- echo {%}", "stdout")
    expect(set(slots) <= {"1", "2", "3"} and len(set(slots)) > 1, True)
    logs = [json.loads(line)["log"] for line in folder.run("runs logs --json").stdout.splitlines()]
    expect([str(log["worker"]) for log in sorted(logs, key=lambda log: log["point"])], slots)
    folder.run("sweep -p a=1 --print-script -- echo {run.dir} {a}", code=1, err="not supported yet: a script with {run.dir}")
    folder.write("m.df", 'import io;\n@param int a = 1;\nprintf("%i", a);\n')
    folder.run("sweep m.df -p a=1 --collect json:{run.dir}/x", code=2, err="a script has no {run.dir}, no {%} and no formats")


def values_are_formatted(folder):
    command = "echo {x:.3f} {n:04d} {n:.1f} {s:>4} {#:03d} {n:x}"
    expect(folder.column(f"sweep -p x=0.5,1e-3 -p n=7,11 -p s=a --zip x,n -- {command}", "stdout"),
           ["0.500 0007 7.0    a 001 7", "0.001 0011 11.0    a 002 b"])
    folder.run("sweep -p x=a,b -- echo {x:.3f}", code=2, err="`.3f` is no format of a text\n  {x:.3f}\n  ^^^^^^^\n")
    folder.run("sweep -p x=0.5 -- echo {x:d}", code=2, err="`d` is no format of a number")
    folder.run("sweep -p x=0.5 -- echo {x:}", err="1 point")
    folder.run("sweep -p x=0.5 -- echo {y:.3f}", code=2, err="there is no parameter `y`")
    folder.run("sweep -p x=0.5 -- echo {run.dirs}", code=2, err="did you mean `{run.dir}`?")


def a_line_without_end_is_cut(folder):
    """In the record, too; what --collect takes out of it is kept whole or not at all."""
    zeros = "head -c 3000000 /dev/zero"
    cut = " .. (cut: a line of more than 4096 bytes)"
    expect(folder.column(f"sweep -p a=1 -- sh -c '{zeros} | tr \"\\0\" {{a}}'", "stdout"), ["1" * 4096 + cut])
    folder.run(f"sweep -p a=1 -o zeros.csv -- sh -c '{zeros}; : {{a}}'")
    expect(folder.column("sweep -p a=1 -- sh -c 'printf a; yes é | head -5000 | tr -d \"\\n\"; : {a}'", "stdout"),
           ["a" + "é" * 2047 + cut])
    longest = 1 << 20
    long = f"sh -c 'printf E=; head -c {{a}} /dev/zero | tr \"\\0\" x'"
    folder.run(f"sweep -p a={longest},{longest + 1} --collect 'regex:E=(.*)' -o long.csv -- {long}", code=4,
               err="no result: `E` has 1,048,577 bytes, a result has 1,048,576 at most")
    expect([len(line.split(",")[1]) for line in folder.read("long.csv").splitlines()[1:]], [longest, 0])
    folder.write("prints.df", 'import io;\nimport string;\n@param int n = 0;\n(string o) f(string s, int n) '
                 '{ if (n == 0) { o = s; } else { o = f(s + s, n - 1); } }\nprintf("%s", f("x", n));\n')
    expect(folder.column("sweep prints.df -p n=12,22", "stdout"), ["x" * 4096, "x" * 4096 + cut])
    folder.write("has.df", (folder.path / "prints.df").read_text(encoding="utf-8").replace('printf("%s", f("x", n));',
                                                                                          '@result string r = f("x", n);'))
    folder.run("sweep has.df -p n=20,21", code=4, err="`r` has 2,097,152 bytes, a result has 1,048,576 at most")
    expect((folder.path / ".raddle/runs.db").stat().st_size < 4 << 20, True)


def one_file_for_many_points(folder):
    """Of a file that points which run at once would share nobody knows whose it is: refused. One after the other, each point must write it."""
    folder.write("w.sh", 'sleep 0.02; if [ "$1" != "$2" ]; then echo "{\\"v\\": $1}" > "$3"; fi\n')
    (folder.path / "one").mkdir()
    (folder.path / "link").symlink_to("one")
    folder.write("first.json", "")
    (folder.path / "second.json").hardlink_to(folder.path / "first.json")
    script = "sh w.sh {i} 3"
    for option, more, line in (("json:out.json", "-p i=1:4", f"{script} out.json"),
                               ("json:out_{g}.json", "-p g=1,2 -p i=1:4", f"{script} out_{{g}}.json"),
                               ("json:{r:.0f}.json", "-p r=1.1:1.4:0.1 -p i=1", f"{script} {{r:.0f}}.json"),
                               ("json:a{%}.json --collect json:out.json", "-p i=1:4", f"{script} out.json"),
                               ("json:a{i}.json --collect json:b{j}.json --collect json:a{j}.json", "--zip i,j -p i=2,1,3 -p j=1,2,4", f"{script} out.json"),
                               ("json:{d}/out.json", "-p d=one,./one -p i=1", f"{script} {{d}}/out.json"),
                               (f"json:{{d}}/out.json", f"-p d=one,{folder.path}/one -p i=1", f"{script} {{d}}/out.json"),
                               ("json:{d}/out.json", "-p d=one,link -p i=1", f"{script} {{d}}/out.json"),
                               ("json:{d}.json", "-p d=first,second -p i=1", f"{script} {{d}}.json")):
        told = folder.run(f"sweep -j4 {more} --collect {option} -- {line}", code=2, err="points 1 and 2 run at once, and would both write `").stderr
        expect("as in out_{" in told and "{run.dir}/" in told and "-j 1" in told, True)
    for shard, option in (("1/2", "json:out.json"), ("2/2", "json:out.json"), ("2/2", "json:{%}.json")):
        told = folder.run(f"sweep --shard {shard} -j1 -p i=1:4 --collect {option} -- {script} out.json", code=2,
                          err="points 1 and 2 of several shards may run at once, and would both write `").stderr
        expect("as in out_{i}.txt" in told and "-j 1\n" not in told, True)
    folder.run("runs list", code=1)  # nothing was run
    expect(folder.column(f"sweep --shard 2/2 -j1 -p i=1,4 --collect json:out_{{i}}.json -o - -- {script} out_{{i}}.json", "i", "v"), ["4 4"])
    folder.write("m.df", 'app (void v) w(int i) { "sh" "w.sh" i 3 "out.json" }\n@param int i = 1;\nw(i);\n')
    folder.run("sweep m.df -j4 -p i=1:4 --collect json:out.json", code=2, err="points 1 and 2 run at once")
    for option, more, line in (("json:{run.dir}/out.json", "", f"{script} {{run.dir}}/out.json"),
                               ("json:out_{i}.json", "", f"{script} out_{{i}}.json"), ("json:{%}.json", "", f"{script} {{%}}.json"),
                               ("json:out.json", "-j1", f"{script} out.json")):
        folder.write("out_3.json", '{"v": 7}') if "{i}" in option else None
        rows = folder.column(f"sweep -j4 -p i=1:5 {more} --collect {option} -o - -- {line}", "i", "v", "outcome", code=4)
        expect(rows, ["1 1 ok", "2 2 ok", "3  no result", "4 4 ok", "5 5 ok"])
    folder.run("sweep -j1 -p i=3,1 --collect json:out.json -- sh w.sh {i} 3 out.json", code=4,
               err="`out.json` was there before: this point has not written it")
    folder.run("sweep -j1 m.df -p i=3,1 --collect json:out.json", code=4, err="`out.json` was there before")


def only_what_a_point_has_written_is_its_result(folder):
    """A file that was there before is none, and is left as it is; one that is written again, by whichever means, is."""
    line = "sweep -q --no-cache -p i=1 --collect json:s{{i}}.json -o - -- sh -c '{}' {{i}}"
    folder.write("s1.json", '{"v": 1}')
    os.utime(folder.path / "s1.json", (1e9, 1e9))

    def times():
        status = (folder.path / "s1.json").stat()
        return status.st_mtime_ns, status.st_ctime_ns
    before = times()
    for nothing in ("true", "cat s$0.json"):
        expect(folder.column(line.format(nothing), "outcome", code=4), ["no result"])
        expect(times(), before)
    for writes in ("cp s$0.json t; cat t > s$0.json", "cp -p s$0.json t; mv t s$0.json", "cp s$0.json t; cp -p t s$0.json",
                   "cp -p s$0.json t; rm s$0.json; cp -p t s$0.json"):
        expect(folder.column(line.format(writes), "v", "outcome"), ["1 ok"])
    folder.write("w.sh", 'echo "{\\"v\\": $1}" > one.json\n')
    fast = "sweep -q -j1 -p i=1:50 --collect json:one.json -o - -- sh w.sh {i}"
    expect(folder.column(fast, "v"), [str(i) for i in range(1, 51)])  # several within one tick of the clock of files


def sweeps_that_run_at_once_do_not_mix_results(folder):
    """Whose points would write a file that another sweep's point is writing wait; what they find is their own."""
    folder.write("w.sh", 'echo "{\\"v\\": $1}" > "$2"; sleep 0.1\n')
    for name in ("out.json", "{%}.json", "./out.json"):
        sweeps = [folder.start(f"sweep -q --no-cache -j1 -p i={first}:{first + 4} --collect json:{name} -o - -- sh w.sh {{i}} {name}") for first in (10, 20)]
        for sweep, first in zip(sweeps, (10, 20)):
            out = sweep.communicate(timeout=60)[0]
            expect([row.split(",")[:2] for row in out.splitlines()[1:]], [[str(i), str(i)] for i in range(first, first + 5)])
            expect(sweep.returncode, 0)


def who_waits_for_another_run_uses_no_processor(folder):
    """The points of another sweep are waited for asleep, and taken when they are there."""
    folder.write("work.sh", "#!/bin/sh\ntouch begun$1\nwhile [ ! -e go ]; do sleep 0.05; done\necho $1 >> runs\necho $1\n")
    (folder.path / "work.sh").chmod(0o755)
    line = "sweep -j 2 -p i=1,2 --progress none -o {} -- ./work.sh {{i}}"
    first = folder.start(line.format("a.csv"))
    wait_for(lambda: (folder.path / "begun1").exists() and (folder.path / "begun2").exists(), "the first sweep's points")
    second = folder.start(line.format("b.csv"))
    expect_in("which another run in this folder is running", second.stderr.readline())
    before = processor_s(second.pid)
    time.sleep(1.5)  # in which a thread that asks again and again would use as much
    expect(processor_s(second.pid) - before < 0.5, True)
    folder.write("go", "")
    for sweep in (first, second):
        sweep.communicate(timeout=30)
        expect(sweep.returncode, 0)
    expect(sorted(folder.read("runs").split()), ["1", "2"])
    expect([row.split(",")[:2] for row in folder.read("b.csv").splitlines()[1:]], [["1", "1"], ["2", "2"]])


TESTS = [only_what_a_point_has_written_is_its_result, sweeps_that_run_at_once_do_not_mix_results, inputs_of_apps_that_are_edited, what_is_put_back_was_edited, what_only_a_word_names_was_edited, where_links_lead_is_noticed, large_outputs_are_told, collected_files_have_an_end, who_waits_for_another_run_uses_no_processor, absent_program, one_file_for_many_points, a_line_without_end_is_cut, files_of_commands_are_noticed, what_is_edited_before_it_is_read_is_noticed,
         times_of_files_are_noticed, only_points_that_search_are_run_again, files_that_scripts_read_are_noticed, libraries_are_noticed, edited_inputs_are_read_again, bytes_that_are_no_text_in_json, numbers_that_json_has_not, paths_of_any_bytes, closed_streams, files_that_change_meanwhile, some_points_are_run_again, results_are_collected, a_zero_byte_ends_no_line, failures, output_is_bounded_and_its_own, changed_files_are_noticed,
         lost_outputs_are_made_again, programs_of_scripts_are_noticed,
         failed_points_are_run_again_alone, what_was_mended_is_not_run_once_more, an_interrupt_is_for_those_that_run_only_by_us, runs_have_folders_and_slots, values_are_formatted]


if __name__ == "__main__":
    main("swept-programs", "Tests `raddle sweep` over programs.", TESTS, SweepFolder)
