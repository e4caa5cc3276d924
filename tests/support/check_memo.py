#!/usr/bin/env python3
"""What is kept of `@memo` functions from one run to the next. Each test has a folder of its own.

    check_memo.py [--raddle PATH] [FILTER]
"""

import json
import os
import random
import signal
import sqlite3
import subprocess
import time

from folder_tests import Fault, Folder, expect, expect_in, main, wait_for

SQUARE = "@memo (int o) square(int i) { o = i * i; }\n"


class MemoFolder(Folder):
    def counts(self, line="script.df", code=0):
        """Calls taken from the record, calls run, and what was printed."""
        done = self.run(f"run --stats {line}", code)
        found = {words[0]: int(words[1]) for words in
                 (text.rsplit(" ", 1) for text in done.stderr.splitlines() if text.startswith("memo calls"))}
        return found.get("memo calls, from the record", 0), found.get("memo calls, run", 0), done.stdout  # none is no line


def second_run_computes_nothing(folder):
    folder.write("script.df", SQUARE + "foreach i in [1:5] { trace(square(i)); }\n")
    taken, run, _ = folder.counts()
    expect((taken, run), (0, 5))
    taken, run, printed = folder.counts()
    expect((taken, run), (5, 0))
    expect(sorted(printed.split()), sorted("trace: 1 trace: 4 trace: 9 trace: 16 trace: 25".split()))
    folder.write("script.df", SQUARE + "foreach i in [1:7] { trace(square(i)); }\n")
    expect(folder.counts()[:2], (5, 2))
    expect(folder.counts("-O0 script.df")[:2], (7, 0))


def code_decides(folder):
    text = "(int o) inner(int i) { o = i + 1; }\n@memo (int o) outer(int i) { o = inner(i) * 2; }\ntrace(outer(3));\n"
    folder.write("script.df", text)
    expect(folder.counts(), (0, 1, "trace: 8\n"))
    # text that means the same, other functions, other calls
    folder.write("script.df", "// a comment\nimport io;\n(int o) other(int i) { o = i; }\n" + text.replace("i + 1", "i  +  1"))
    expect(folder.counts(), (1, 0, "trace: 8\n"))
    # what the function calls
    folder.write("script.df", text.replace("i + 1", "i + 2"))
    expect(folder.counts(), (0, 1, "trace: 10\n"))
    folder.write("script.df", text)
    expect(folder.counts(), (1, 0, "trace: 8\n"))


def types_decide(folder):
    folder.write("script.df", "@memo (float o) f(float x) { o = x; }\ntrace(f(0.0), f(-0.0), f(1));\n")
    expect(folder.counts()[:2], (0, 3))
    folder.write("script.df", "type pair { int a; int b; }\n@memo (pair o) f(int x) { o = pair(x, 1); }\ntrace(f(1).b);\n")
    expect(folder.counts()[:2], (0, 1))
    folder.write("script.df", "type pair { int b; int a; }\n@memo (pair o) f(int x) { o = pair(x, 1); }\ntrace(f(1).b);\n")
    expect(folder.counts(), (0, 1, "trace: 1\n"))


def contents_of_inputs_decide(folder):
    folder.write("script.df", 'import files;\nimport string;\n@memo app (file o) count(file i) { "wc" "-c" @stdin=i @stdout=o }\n'
                              'file f = input("in.txt");\nfile out <"folder/out.txt"> = count(f);\ntrace(trim(read(out)));\n')
    folder.write("in.txt", "12345")
    expect(folder.counts(), (0, 1, "trace: 5\n"))
    expect(folder.counts(), (1, 0, "trace: 5\n"))
    folder.write("in.txt", "123456")
    expect(folder.counts(), (0, 1, "trace: 6\n"))
    folder.write("in.txt", "12345")
    (folder.path / "folder/out.txt").unlink()
    expect(folder.counts(), (1, 0, "trace: 5\n"))
    expect(folder.read("folder/out.txt"), "5\n")
    expect((folder.path / "folder/out.txt").stat().st_mode & 0o777, 0o666 & ~umask())
    before = (folder.path / "folder/out.txt").stat().st_mtime_ns
    expect(folder.counts()[0], 1)
    expect((folder.path / "folder/out.txt").stat().st_mtime_ns, before)  # it was right already


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def retries_and_limits_play_no_part(folder):
    script = '@memo @retry=2 app (file o) say(string s) { "echo" s @stdout=o }\nimport files;\ntrace(read(say("a")));\n'
    folder.write("script.df", script)
    expect(folder.counts()[:2], (0, 1))
    folder.write("script.df", script.replace("@retry=2", "@timeout=9.0"))
    expect(folder.counts()[:2], (1, 0))
    folder.write("script.df", script.replace('say("a"))', 'f)').replace("trace", 'file f = @timeout=5.0 say("a");\ntrace'))
    expect(folder.counts()[:2], (1, 0))
    folder.write("script.df", script.replace('"echo" s', '"echo" "-n" s'))
    expect(folder.counts()[:2], (0, 1))


def no_cache_computes_once(folder):
    folder.write("script.df", SQUARE + "foreach i in [1:5] { trace(square(3)); }\n")
    expect(folder.counts()[:2], (4, 1))
    expect(folder.counts()[:2], (5, 0))
    expect(folder.counts("--no-cache script.df")[:2], (4, 1))
    expect(folder.counts()[:2], (5, 0))


def damaged_records_count_as_absent(folder):
    folder.write("script.df", 'import files;\n@memo app (file o) say(string s) { "echo" s @stdout=o }\n' + SQUARE +
                 'trace(square(3), read(say("x")));\n')
    expected = "trace: 9,x\n\n"
    expect(folder.counts(), (0, 2, expected))
    content, = (folder.path / ".raddle/memo").iterdir()
    content.write_text("y\n")  # as long as it was
    expect(folder.counts(), (1, 1, expected))
    expect(folder.counts(), (2, 0, expected))
    next((folder.path / ".raddle/memo").iterdir()).unlink()
    expect(folder.counts(), (1, 1, expected))
    database = folder.path / ".raddle/memo.db"
    with sqlite3.connect(database) as rows:
        rows.execute("UPDATE entry SET results = x'00112233' WHERE function = 'square'")
    expect(folder.counts(), (1, 1, expected))
    with sqlite3.connect(database) as rows:
        rows.execute("PRAGMA user_version = 77")
    expect(folder.counts(), (0, 2, expected))
    expect(folder.counts(), (2, 0, expected))
    whole = database.read_bytes()
    for size in (0, 10, 100, 5000, len(whole) - 700):
        database.write_bytes(whole[:size])
        expect(folder.counts()[2], expected)
    database.write_bytes(b"no database at all" * 1000)
    expect(folder.counts(), (0, 2, expected))
    expect(folder.counts(), (2, 0, expected))
    noise = random.Random(1)
    for _ in range(10):
        bad = bytearray(whole)
        for _ in range(30):
            bad[noise.randrange(100, len(bad))] = noise.randrange(256)
        database.write_bytes(bytes(bad))
        expect(folder.counts()[2], expected)


def folder_that_can_not_be_written(folder):
    folder.write("script.df", SQUARE + "trace(square(3));\n")
    folder.write(".raddle", "a file where the folder should be")
    done = folder.run("run script.df", err="warning: results of `@memo` functions may not be kept: ")
    expect(done.stdout, "trace: 9\n")


def failures_are_not_kept(folder):
    folder.write("script.df", '@memo app (file o) try(int i) { "sh" "-c" "cat data" @stdout=o }\nfile f = try(1);\n'
                              'import files;\ntrace(read(f));\n')
    folder.run("run script.df", code=1)
    folder.write("data", "now")
    expect(folder.counts(), (0, 1, "trace: now\n"))
    expect(folder.counts()[:2], (1, 0))


def two_runs_at_once(folder):
    folder.write("script.df", 'import files;\nimport string;\n@memo app (file o) say(int s) { "echo" s @stdout=o }\n'
                              'int n[];\nforeach i in [1:40] { n[i] = toint(trim(read(say(i)))); }\n'
                              'import stats;\ntrace(sum(n));\n')
    both = [subprocess.Popen([folder.raddle, "run", "script.df"], cwd=folder.path, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True) for _ in range(3)]
    for each in both:
        printed, told = each.communicate(timeout=60)
        expect((each.returncode, printed, told), (0, "trace: 820\n", ""))
    expect(folder.counts(), (40, 0, "trace: 820\n"))


def killed_runs_leave_whole_results(folder):
    """What was computed a moment before the end is kept, and nothing is half there."""
    folder.write("script.df", 'import files;\nimport string;\nimport stats;\n'
                              '@memo app (file o) say(int s) { "sh" "-c" "sleep 0.01; echo $0 >> log; seq $0 2000" s @stdout=o }\n'
                              'int n[];\nforeach i in [1:200] { n[i] = size(file_lines(say(i))); }\ntrace(sum(n));\n')
    kept = 0
    for turn in range(6):
        process = subprocess.Popen([folder.raddle, "run", "-j2", "script.df"], cwd=folder.path, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(0.1 + 0.07 * turn)
        process.send_signal(signal.SIGKILL)
        process.wait()
        time.sleep(0.1)  # programs that outlive it
    started = len(folder.read("log").split())
    taken, run, printed = folder.counts()
    expect(printed, f"trace: {sum(2001 - i for i in range(1, 201))}\n")
    expect(taken + run, 200)
    if taken == 0 or started - taken > 6 * 6:
        raise Fault(f"{started} programs were started, and the results of {taken} are kept")
    expect(folder.counts()[:2], (200, 0))


def runs_do_not_mix_their_outputs(folder):
    """Runs that write one file leave that of one of them, whole; what is kept of each is its own."""
    folder.write("script.df", """
        import io; import files;
        @param string who = "a";
        @memo app (file o) line(string who, int n) {
          "sh" "-c" "for i in 0 1 2 3 4 5 6 7 8 9; do echo $0$1; done; sleep 0.01; echo end" who n @stdout=o
        }
        @memo app (file o) word(string who, int n) {
          "sh" "-c" "for i in 0 1 2 3 4 5 6 7 8 9; do echo $0$1; done > $2; sleep 0.01; echo end >> $2" who n o
        }
        foreach i in [1:10] {
          file f<"out/line%i" % i> = line(who, i);
          file g<"out/word%i" % i> = word(who, i);
        }
        """)
    right = {who: {f"{kind}{n}": f"{who}{n}\n" * 10 + "end\n" for kind in ("line", "word") for n in range(1, 11)} for who in "ab"}
    for _ in range(3):
        subprocess.run(["rm", "-rf", ".raddle", "out"], cwd=folder.path, check=True)
        runs = [subprocess.Popen([folder.raddle, "run", "-q", "-j2", "--processes", "3", "script.df", f"--who={who}"],
                                 cwd=folder.path) for who in "aabb"]
        for run in runs:
            expect(run.wait(timeout=60), 0)
        for name in right["a"]:
            if folder.read(f"out/{name}") not in (right["a"][name], right["b"][name]):
                raise Fault(f"{name} is none of the runs': {folder.read(f'out/{name}')!r}")
        for who in "ab":
            folder.run(f"run -j2 script.df --who={who}")
            expect({name: folder.read(f"out/{name}") for name in right[who]}, right[who])
        expect(sorted(os.listdir(folder.path / "out")), sorted(right["a"]))


def a_killed_run_leaves_the_file_of_another(folder):
    folder.write("script.df", '@memo app (file o) slow() { "sh" "-c" "touch begun; echo head; sleep 0.5; echo tail" @stdout=o }\n'
                              'file r <"r.txt"> = slow();\n')
    first = subprocess.Popen([folder.raddle, "run", "script.df"], cwd=folder.path)
    wait_for((folder.path / "begun").exists, "the program's start")
    (folder.path / "begun").unlink()
    second = subprocess.Popen([folder.raddle, "run", "script.df"], cwd=folder.path)
    wait_for((folder.path / "begun").exists, "the program's start")
    second.kill()
    second.wait()
    expect(first.wait(timeout=60), 0)
    expect(folder.read("r.txt"), "head\ntail\n")
    (folder.path / "r.txt").unlink()
    expect(folder.counts()[:2], (1, 0))
    expect(folder.read("r.txt"), "head\ntail\n")
    folder.write("other.df", 'app (file o) say() { "echo" @stdout=o }\nfile r <"s.txt"> = say();\n')
    folder.run("run other.df")  # removes what the killed run has left
    expect(sorted(path.name for path in folder.path.iterdir()), [".raddle", "begun", "other.df", "r.txt", "s.txt", "script.df"])


def what_is_edited_meanwhile_is_not_kept(folder):
    """An input, also while the program still waits for its turn; a program's script; a file that the function reads."""
    folder.write("script.df", """
        import files; import string;
        @memo app (file o) first(file i) { "sh" "-c" "touch begun; while ! test -e go; do sleep 0.01; done; cat $0" i @stdout=o }
        @memo app (file o) second(file i) { "sh" "-c" "touch begun; while ! test -e go; do sleep 0.01; done; cat $0" i "2" @stdout=o }
        @memo app (file o) third() { "sh" "-c" "touch begun; while ! test -e go; do sleep 0.01; done; sh ./said.sh" "./said.sh" @stdout=o }
        @memo (string o) fourth(file waits) { o = read(input("data.txt")) + read(waits); }
        file i = input("in.txt");
        file one = first(i);
        file two = second(i);
        trace(trim(read(one)), trim(read(two)), trim(read(third())), trim(fourth(one)));
        """)

    def edit(text):
        folder.write("in.txt", text)
        folder.write("said.sh", f"echo {text}")

    edit("old")
    folder.write("data.txt", "data ")
    run = subprocess.Popen([folder.raddle, "run", "--processes", "1", "script.df"], cwd=folder.path, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    wait_for((folder.path / "begun").exists, "the program's start")
    edit("new")
    folder.write("go", "")
    printed, told = run.communicate(timeout=60)
    expect((run.returncode, printed), (0, "trace: new,new,new,data new\n"))
    expect_in("results of `@memo` functions may not be kept: ", told)
    expect_in("was changed while ", told)
    edit("old")
    expect(folder.counts("--processes 1 script.df"), (0, 4, "trace: old,old,old,data old\n"))
    expect(folder.counts(), (4, 0, "trace: old,old,old,data old\n"))


def what_is_put_back_was_edited(folder):
    """An input that has its old content again when the function has ended, however that came to be."""
    folder.write("script.df", """
        import files; import string;
        @memo app (file o) late(file i) { "sh" "-c" "touch begun; while ! test -e go; do sleep 0.01; done; cat $0" i @stdout=o }
        @memo (string o) both(string name) { o = read(input(name)) + read(late(input(name))); }
        trace(trim(both("in.txt")));
        """)

    def moved(new):
        (folder.path / "in.txt").rename(folder.path / "aside")
        folder.write("in.txt", new)
    for edits in (("new", "old"), (moved, lambda _: (folder.path / "aside").rename(folder.path / "in.txt"))):
        for name in ("begun", "go"):
            (folder.path / name).unlink(missing_ok=True)
        subprocess.run(["rm", "-rf", ".raddle"], cwd=folder.path, check=True)
        folder.write("in.txt", "old")
        run = folder.start("run script.df")
        wait_for((folder.path / "begun").exists, "the program's start")
        for edit in edits:
            time.sleep(0.02)
            folder.write("in.txt", edit) if isinstance(edit, str) else edit("new")
        folder.write("go", "")
        told = run.communicate(timeout=60)[1]
        expect_in("results of `@memo` functions may not be kept: ", told)
        expect(folder.counts(), (0, 2, "trace: oldold\n"))
        expect(folder.counts(), (1, 0, "trace: oldold\n"))


def programs_of_two_runs_write_a_file_in_turn(folder):
    """Where a program writes to the place itself, runs wait for each other: what each keeps is its own."""
    for name, lines in (("c", 8), ("d", 12)):
        folder.write(f"{name}.df", """
            import files;
            @memo app (file o) f(int v, int n) { "sh" "-c" "(for i in $(seq $2); do echo $1; sleep 0.02; done) > $0" (filename(o)) v n }
            file o<"%s"> = f(%d, %d);
            """ % ("outc.txt" if name == "c" else "link/outc.txt", 1 if name == "c" else 2, lines))
    (folder.path / "link").symlink_to(".")
    right = {"c": "1\n" * 8, "d": "2\n" * 12}
    for first, second in (("c", "d"), ("d", "c")):
        subprocess.run(["rm", "-rf", ".raddle"], cwd=folder.path, check=True)
        runs = [folder.start(f"run {first}.df")]
        time.sleep(0.08)
        runs.append(folder.start(f"run {second}.df"))
        for run in runs:
            run.communicate(timeout=60)
            expect(run.returncode, 0)
        expect(folder.read("outc.txt"), right[second])
        for name in (first, second):
            folder.run(f"run {name}.df")
            expect(folder.read("outc.txt"), right[name])
    folder.write("c.df", folder.read("c.df").replace("(1, 8)", "(1, 100)"))
    run = folder.start("run c.df")
    wait_for(lambda: folder.read("outc.txt") == "1\n" * 3, "the first lines")
    ended = folder.start("run --timeout 0.3 d.df")  # who waits can be ended, and has nothing there to remove
    ended.communicate(timeout=20)
    expect((ended.returncode, run.poll()), (124, None))
    run.communicate(timeout=60)
    expect(folder.read("outc.txt"), "1\n" * 100)


def where_links_lead_is_noticed(folder):
    """Which file a link leads to is not in what is in that file."""
    for name in ("one", "two"):
        folder.write(name, "same")
    folder.write("script.df", """
        import files;
        @memo (string o) f(string name) { o = realpath_string(name); }
        trace(f("link"));
        """)
    for target in ("one", "two"):
        (folder.path / "link").unlink(missing_ok=True)
        (folder.path / "link").symlink_to(target)
        said = f"trace: {os.path.realpath(folder.path)}/{target}\n"
        expect(folder.counts(), (0, 1, said))
        expect(folder.counts(), (1, 0, said))


def files_of_programs_are_noticed(folder):
    """As in sweeps: the program's own file, files that its words name, those that the function reads or finds."""
    folder.write("model.sh", "#!/bin/sh\ncat factor\n")
    (folder.path / "model.sh").chmod(0o755)
    folder.write("factor", "2")
    folder.write("a.csv", "1")
    folder.write("script.df", """
        import files; import string; import stats;
        app (file o) plain() { "./model.sh" "factor" @stdout=o }
        @memo app (file o) direct() { "./model.sh" @stdout=o }
        @memo app (file o) by_shell() { "sh" "model.sh" @stdout=o }
        @memo (string s) inside() { s = read(plain()); }
        @memo (string s) around() { s = inside(); }
        @memo (int n) found() { n = size(glob("*.csv")); }
        @memo (string s) content(string name) { s = read(input(name + ".csv")); }
        @memo (boolean b) is_there() { b = file_exists("b.csv"); }
        trace(trim(read(direct())), trim(read(by_shell())), trim(around()), found(), content("a"), is_there());
        """)
    line = "trace: %s,%s,%s,%i,%s,%i\n"
    expect(folder.counts(), (0, 7, line % (2, 2, 2, 1, 1, 0)))
    expect(folder.counts(), (6, 0, line % (2, 2, 2, 1, 1, 0)))
    folder.write("factor", "3")  # only a word of `plain` names it
    expect(folder.counts(), (5, 2, line % (2, 2, 3, 1, 1, 0)))
    folder.write("model.sh", "#!/bin/sh\necho 4\n")
    expect(folder.counts(), (3, 4, line % (4, 4, 4, 1, 1, 0)))
    folder.write("a.csv", "5")
    expect(folder.counts(), (4, 2, line % (4, 4, 4, 1, 5, 0)))
    folder.write("b.csv", "6")
    expect(folder.counts(), (4, 2, line % (4, 4, 4, 2, 5, 1)))
    expect(folder.counts(), (6, 0, line % (4, 4, 4, 2, 5, 1)))


def files_of_commands_are_noticed(folder):
    """Those that `system` and `launch` run."""
    folder.write("model.sh", "#!/bin/sh\nexit 2\n")
    (folder.path / "model.sh").chmod(0o755)
    folder.write("script.df", """
        import launch; import sys;
        @memo (int c) by_system() { (text, c) = system(["sh", "model.sh"]); }
        @memo (int c) by_launch() { c = launch("./model.sh", []); }
        trace(by_system(), by_launch());
        """)
    expect(folder.counts(), (0, 2, "trace: 2,2\n"))
    expect(folder.counts(), (2, 0, "trace: 2,2\n"))
    folder.write("model.sh", "#!/bin/sh\nexit 3\n")
    expect(folder.counts(), (0, 2, "trace: 3,3\n"))


def files_of_a_time_to_come_are_noticed(folder):
    """They are none that the call's programs have made: clocks of machines differ, and so do those of one machine."""
    def write(name, text):
        folder.write(name, text)
        os.utime(folder.path / name, (time.time() + 3600,) * 2)

    folder.write("script.df", """
        import files; import string; import sys;
        app (void done) first() { "true" }
        @memo (string s) f(void done) {
          int c; string text;
          wait (done) { (text, c) = system(["sh", "model.sh"]); }
          wait (c) { s = trim(text) + trim(read(input("term.txt"))); }
        }
        trace(f(first()));
        """)
    write("model.sh", "echo 2\n")
    write("term.txt", "1")
    expect(folder.counts(), (0, 1, "trace: 21\n"))
    expect(folder.counts(), (1, 0, "trace: 21\n"))
    write("model.sh", "echo 3\n")
    expect(folder.counts(), (0, 1, "trace: 31\n"))
    expect(folder.counts(), (1, 0, "trace: 31\n"))
    write("term.txt", "4")
    expect(folder.counts(), (0, 1, "trace: 34\n"))


def what_is_edited_before_it_is_read_is_noticed(folder):
    """Also the time of a file, where that is asked for; not what the call writes itself."""
    folder.write("script.df", """
        import files; import string; import sys;
        @memo (string s) slow() { sleep(1) => s = trim(read(input("data.txt"))); }
        @memo (int t) written() { t = file_mtime("t.txt"); }
        @memo (boolean b) makes() { file f<"made.txt"> = write("text"); wait (f) { b = file_exists("made.txt"); } }
        trace(slow(), written(), makes());
        """)
    folder.write("data.txt", "old")
    folder.write("t.txt", "")
    os.utime(folder.path / "t.txt", (1500, 1500))
    run = folder.start("run script.df")
    wait_for((folder.path / "made.txt").exists, "the calls' beginning")
    folder.write("data.txt", "new")
    expect((run.communicate(timeout=60)[0], run.returncode), ("trace: new,1500,1\n", 0))
    (folder.path / "made.txt").unlink()
    expect(folder.counts(), (3, 0, "trace: new,1500,1\n"))
    folder.write("data.txt", "later")
    os.utime(folder.path / "t.txt", (1700, 1700))
    expect(folder.counts(), (1, 2, "trace: later,1700,1\n"))


def libraries_are_noticed(folder):
    """What is in a shared library that the call may reach, of the script's folder."""
    def build(name, value):
        folder.write("lib.c", f"#include <stdint.h>\nint64_t {name}(int64_t x) {{ return x * {value}; }}\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", f"new{name}.so", "lib.c"], cwd=folder.path, check=True)
        os.replace(folder.path / f"new{name}.so", folder.path / f"{name}.so")

    build("f", 2)
    build("g", 2)
    folder.write("script.df", """
        @library="./f.so" (int y) f(int x);
        @library="./g.so" (int y) g(int x);
        @memo (int y) of_f(int x) { y = f(x); }
        @memo (int y) of_g(int x) { y = g(x); }
        trace(of_f(1), of_g(1));
        """)
    expect(folder.counts(), (0, 2, "trace: 2,2\n"))
    expect(folder.counts(), (2, 0, "trace: 2,2\n"))
    build("f", 3)
    expect(folder.counts(), (1, 1, "trace: 3,2\n"))


def lost_contents_are_made_anew(folder):
    """A call whose kept file is gone is as one that is not kept: what it has half written is removed."""
    folder.write("script.df", '@memo app (file o) say(int s) {\n  "sh" "-c" "echo half; touch begun; sleep $(cat wait); echo"'
                              ' @stdout=o\n}\nfile f <"out.txt"> = say(1);\n')
    folder.write("wait", "0")
    folder.run("run script.df")
    next((folder.path / ".raddle/memo").iterdir()).unlink()
    (folder.path / "out.txt").unlink()
    (folder.path / "begun").unlink()
    folder.write("wait", "60")
    process = subprocess.Popen([folder.raddle, "run", "script.df"], cwd=folder.path, stderr=subprocess.DEVNULL)
    wait_for((folder.path / "begun").exists, "the program's start")
    process.send_signal(signal.SIGTERM)
    expect(process.wait(timeout=60), 75)
    expect((folder.path / "out.txt").exists(), False)


def sweeps_share_the_record(folder):
    folder.write("script.df", SQUARE + "@param int i = 1;\n@param int j = 1;\n@result int o = square(i) + j;\n")
    folder.run("sweep script.df -p i=1,2,3 -p j=1,2,3,4 -j1")
    expect(folder.counts("script.df --i=3 --j=77")[:2], (1, 0))
    expect(folder.counts("script.df --i=4")[:2], (0, 1))


def listed_and_removed(folder):
    folder.run("cache", err="nothing is kept")
    folder.run("cache gc --all", err="removed 0 calls")
    folder.write("script.df", 'import files;\n@memo app (file o) say(int s) { "echo" s @stdout=o }\n' + SQUARE +
                 "foreach i in [1:3] { trace(square(i)); }\nfile f = say(1);\n")
    folder.run("run script.df")
    lines = folder.run("cache").stdout.splitlines()
    expect([line.split()[:3] for line in lines], [["say", "1", "call"], ["square", "3", "calls"]])
    listed = json.loads(folder.run("cache list --json").stdout)
    expect(listed["schema"], 1)
    expect([(each["function"], each["calls"]) for each in listed["functions"]], [("say", 1), ("square", 3)])
    folder.run("cache gc --older-than 1d", err="removed 0 calls")
    with sqlite3.connect(folder.path / ".raddle/memo.db") as rows:
        rows.execute("UPDATE entry SET used = used - 100000 WHERE function = 'say'")
    content, = (folder.path / ".raddle/memo").iterdir()
    os.utime(content, (0, 0))
    folder.run("cache gc --older-than 1d", err="removed 1 call")
    expect(list((folder.path / ".raddle/memo").iterdir()), [])
    expect(folder.counts()[:2], (3, 1))
    folder.run("cache gc --keep 1G", err="removed 0 calls")
    folder.run("cache gc --keep 70", err="removed 2 calls")
    expect(folder.run("cache gc --all --json").stdout, '{"schema":1,"removed":2}\n')
    expect(folder.counts()[:2], (0, 4))
    folder.run("cache gc", code=2, err="gc needs --older-than, --keep or --all")
    folder.run("cache gc --older-than soon", code=2, err="`soon` is no time")
    folder.run("cache gc --keep 3x", code=2, err="`3x` is no size")
    folder.run("cache gc --kep 3G", code=2, err="did you mean `--keep`?")
    folder.run("cache lst", code=2, err="did you mean `raddle cache list`?")


TESTS = [
    second_run_computes_nothing,
    code_decides,
    types_decide,
    contents_of_inputs_decide,
    retries_and_limits_play_no_part,
    no_cache_computes_once,
    damaged_records_count_as_absent,
    folder_that_can_not_be_written,
    failures_are_not_kept,
    two_runs_at_once,
    runs_do_not_mix_their_outputs,
    a_killed_run_leaves_the_file_of_another,
    what_is_edited_before_it_is_read_is_noticed,
    what_is_edited_meanwhile_is_not_kept,
    what_is_put_back_was_edited,
    programs_of_two_runs_write_a_file_in_turn,
    where_links_lead_is_noticed,
    files_of_programs_are_noticed,
    files_of_commands_are_noticed,
    files_of_a_time_to_come_are_noticed,
    libraries_are_noticed,
    lost_contents_are_made_anew,
    killed_runs_leave_whole_results,
    sweeps_share_the_record,
    listed_and_removed,
]


if __name__ == "__main__":
    main("memo", "Tests what is kept of @memo functions.", TESTS, MemoFolder)
