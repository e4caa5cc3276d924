#!/usr/bin/env python3
"""What `raddle run` says beside the output of the script. Each test has a folder of its own.

    check_run.py [--raddle PATH] [FILTER]
"""

import json
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import time

from folder_tests import Folder, expect, expect_in, main, wait_for

PROGRAMS = """
app (file o) write(string text) { "echo" text @stdout=o }
app (void v) ends(string code) { "sh" "-c" ("exit " + code) }
file o<"out dir/a b.txt"> = write("it's");
o => ends("0");
"""


def verbose_tells_programs(folder):
    """Each line, but for its sign, does in a shell what the program did."""
    folder.write("programs.df", PROGRAMS)
    lines = folder.run("run -v programs.df", out="").stderr.splitlines()
    expect([line[0] for line in lines], ["+", "-", "+", "-"])
    expect([line[2:] for line in lines[::2]], [line[2:].partition("  # ")[0] for line in lines[1::2]])
    for line in lines[1::2]:
        expect(bool(re.fullmatch(r"  # exit code 0, \d+\.\d\d s", "  # " + line.partition("  # ")[2])), True)
    (folder.path / "out dir" / "a b.txt").unlink()
    for line in lines:
        expect(subprocess.run(["sh", "-c", line[2:]], cwd=folder.path, timeout=20, check=False).returncode, 0)
    expect(folder.read("out dir/a b.txt"), "it's\n")
    expect(folder.run("run programs.df").stderr, "")


def verbose_tells_failures(folder):
    folder.write("fails.df", 'app (void v) ends() { "sh" "-c" "exit 3" }\nends();\n')
    told = folder.run("run --verbose fails.df", code=1, env={"TURBINE_APP_RETRIES_LOCAL": "1", "TURBINE_APP_BACKOFF": "0"}).stderr
    expect([line.rpartition(", ")[0] for line in told.splitlines()[:4]],
           ["", "- sh -c 'exit 3'  # `sh` ended with exit code 3, is tried again", "", "- sh -c 'exit 3'  # `sh` ended with exit code 3"])
    folder.write("absent.df", 'app (void v) runs() { "./nowhere" }\nruns();\n')
    expect_in("- ./nowhere  # ", folder.run("run -v absent.df", code=1).stderr)
    # as they start, not as they are waited for
    folder.write("one.df", 'app (void v) stops(int i) { "sleep" "0.5" }\nforeach i in [1:3] { stops(i); }\n')
    for option in ("--workers=2", "--no-record"):
        signs = "".join(line[0] for line in folder.run(f"run -v {option} --processes 1 one.df").stderr.splitlines())
        expect((sorted(signs), signs.rindex("+") > signs.index("-")), (sorted("+++---"), True))


def temporaries_end_with_the_run(folder):
    """Those that are held to the end, in variables and in arrays, too."""
    folder.write("held.df", "import files;\nimport io;\nfile one = write(\"1\");\nfile many[];\n"
                 "foreach i in [1:20] { many[i] = write(\"2\"); }\nprintf(\"%s%s\", read(one), read(many[20]));\n")
    (folder.path / "kept").mkdir()
    folder.run("run held.df", out="12\n", env={"SWIFT_TMP": "kept"})
    expect(list((folder.path / "kept").iterdir()), [])
    folder.run("run held.df", out="12\n", env={"SWIFT_TMP": "kept", "SWIFT_TMP_AUTODELETE": "0"})
    expect(len(list((folder.path / "kept").iterdir())), 21)


def quiet_tells_errors_only(folder):
    folder.write("warned.df", "@param int n = 1;\nint unread = 3;\ntrace(12 %/ n);\n")
    expect_in("unread", folder.run("run warned.df", out="trace: 12\n").stderr)
    expect(folder.run("run -q warned.df", out="trace: 12\n").stderr, "")
    expect(folder.run("-q warned.df", out="trace: 12\n").stderr, "")
    expect(folder.run("run --quiet -I nowhere warned.df word", out="trace: 12\n", env={"RADDLE_WROKERS": "2"}).stderr, "")
    told = folder.run("run -q warned.df --n=0", code=1).stderr
    expect(("unread" in told, "division by zero" in told), (False, True))
    folder.run("run -q -W error warned.df", code=3, err="unread")
    folder.run("run -q warned.df --m=0", code=2, err="no parameter `m`")
    folder.run("run -q -v warned.df", code=2, err="--quiet excludes --verbose")


def json_is_all(folder):
    """One line, whatever the script and its programs print; findings are in it, not on standard error."""
    def told(line, code=0, err=""):
        done = folder.run(line, code=code)
        expect((len(done.stdout.splitlines()), done.stderr), (1, err))
        found = json.loads(done.stdout)
        expect((found["schema"], found["exit_code"]), (1, code))
        return found

    folder.write("all.df", "import io;\n@param int n = 1;\n@result int y = 12 %/ n;\n@result string s = \"7\";\n@result boolean b = true;\n"
                 "@result float f = 0.5;\napp (void v) says() { \"echo\" \"program\" }\nint unread = 3;\nsays() => printf(\"%i\", y);\n")
    found = told("run --json all.df")
    expect(found["results"], {"y": 12, "s": "7", "b": True, "f": 0.5})
    expect(found["output"], "program\n12\n")
    expect([(one["code"], one["line"]) for one in found["diagnostics"]], [("unused_variable", 8)])
    found = told("run --json all.df --n=0", code=1)
    expect([one["severity"] for one in found["diagnostics"]], ["error", "warning"])
    expect(found["results"], {})
    folder.write("wrong.df", "trace(unknown);\n")
    expect([one["code"] for one in told("run --json wrong.df", code=3)["diagnostics"]], ["unknown_variable"])
    expect(told("run --json -W error all.df", code=3)["output"], "")
    folder.run("run --json all.df --m=3", code=2, out="", err="no parameter `m`")
    folder.run("run --json --emit=ir all.df", code=2, out="", err="excludes")


def json_has_the_end_of_what_is_printed(folder):
    """Its size, too, where that is not all."""
    folder.write("prints.df", 'app (void v) prints(int n) { "sh" "-c" "head -c $0 /dev/zero | tr \'\\\\0\' x" n }\n@param int n = 0;\nprints(n);\n')
    limit = 16 << 20
    for size in (limit, limit + 1):
        found = json.loads(folder.run(f"run --json prints.df --n={size}").stdout)
        expect((found["output"] == "x" * limit, found.get("output_bytes")), (True, None if size == limit else size))


def timeout_ends_the_run(folder):
    """As SIGTERM would: programs are ended, files half written are not left behind."""
    folder.write("long.df", 'app (file o) slow() { "sh" "-c" "echo half; sleep 60" @stdout=o }\nfile o<"out.txt"> = slow();\n'
                 'trace("at once");\n')
    begun = time.monotonic()
    folder.run("run --timeout 4 long.df", code=124, out="trace: at once\n", err="raddle: the 4.0 s of --timeout are up; ending what runs\n")
    expect((time.monotonic() - begun < 30, (folder.path / "out.txt").exists()), (True, False))
    expect_in("stopped", folder.run("runs").stdout)
    folder.run("run --timeout 1m -e trace(1);", out="trace: 1\n")
    folder.run("run --timeout soon long.df", code=2, err="`soon` is no time")
    expect(json.loads(folder.run("run --json --timeout 0.5 long.df", code=124).stdout)["exit_code"], 124)


def json_is_told_of_what_does_not_come_back(folder):
    """A function of a library that nothing can end: the process leaves without it, but not without its line."""
    folder.write("stuck.df", 'import io;\n@library="libc.so.6" (int left) sleep(int seconds);\nprintf("begun");\ntrace(sleep(600));\n')
    found = json.loads(folder.run("run --json --timeout 0.5 stuck.df", code=124).stdout)
    expect((found["exit_code"], found["output"], found["results"]), (124, "begun\n", {}))


NEVER_COME_BACK = {
    "read": 'trace(read(input("pipe")));',
    "write": 'file out<"pipe"> = write("text");',
    "glob": 'trace(size(glob("' + "{a,b}" * 28 + '")));',
    "call": '@library="libc.so.6" (int left) sleep(int seconds);\ntrace(sleep(600));',
    "isolated": '@isolate @library="libc.so.6" (int left) sleep(int seconds);\ntrace(sleep(600));',
}


def nothing_keeps_a_run_from_its_end(folder):
    """Not what it calls either: one signal, or the time limit."""
    ends = [(signal.SIGTERM, 75), (signal.SIGINT, 130), (signal.SIGHUP, 75), (None, 124)]
    runs = []
    for name, statement in NEVER_COME_BACK.items():
        for sent, code in ends:
            place = folder.path / f"{name}{code}{sent}"
            place.mkdir()
            os.mkfifo(place / "pipe")
            (place / "stuck.df").write_text(f'import files;\nfile begun<"begun"> = write("");\n{statement}\n', encoding="utf-8")
            options = ["--workers=2"] if sent else ["--workers=2", "--timeout=0.5"]
            run = subprocess.Popen([folder.raddle, "run", *options, "stuck.df"], cwd=place, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            runs.append((place, run, sent, code))
    for place, run, sent, code in runs:
        if sent:
            wait_for((place / "begun").exists, "the run to begin")
            run.send_signal(sent)
    for place, run, sent, code in runs:
        told = run.communicate(timeout=60)[1]
        expect((place.name, run.returncode), (place.name, code))
        expect_in("does not come back", told)


def code_in_tcl_ends_with_the_run(folder):
    """It has a process of its own, which needs no patience."""
    folder.write("a.df", '(int o) waits(int i) "turbine" "0.0" [ "after 600000; set <<o>> <<i>>" ];\ntrace(waits(1));')
    told = folder.run("run --workers=2 --timeout=0.5 a.df", code=124).stderr
    expect("does not come back" in told, False)
    folder.write("b.df", """import assert;
import files;
(string o) waits(string c, string e) "turbine" "0.1" [ "set <<o>> [ turbine::python 0 1 <<c>> <<e>> ]" ];
app (file f) ready() { "sh" "-c" "while ! test -e begun; do sleep 0.01; done" }
trace(waits("import time; open('begun', 'w').close(); time.sleep(600)", "'1'"));
file there = ready();
wait (there) { assert(false, "while Python works for Tcl"); }
""")
    told = folder.run("run --workers=2 b.df", code=1, err="while Python works for Tcl").stderr
    expect("does not end" in told, False)


def programs_end_with_a_run_that_does_not_come_back(folder):
    """Also those that have not begun, and what they have started."""
    folder.write("stuck.df", '@library="libc.so.6" (int left) sleep(int seconds);\n'
                 'app (void v) runs(int i) { "sh" "-c" "echo $$ >> ids; sleep 600; echo late" }\n'
                 "foreach i in [1:9] { runs(i); }\ntrace(sleep(600));\n")
    folder.run("run --workers=2 --timeout=1 stuck.df", code=124, err="does not come back")
    groups = [int(line) for line in folder.read("ids").split()]
    expect(len(groups), 2)

    def have_ended():
        for group in groups:
            try:
                os.killpg(group, 0)
                return False
            except ProcessLookupError:
                pass
        return True
    wait_for(have_ended, "the programs' end")


TOO_MUCH = {
    "recursion": "import io;\n(int o) f(int n) { o = f(n + 1) + f(n + 2); }\nprintf(\"%i\", f(0));\n",
    "array": "int a[];\nforeach i in [0:100000000] { a[i * 7] = i; }\ntrace(size(a));\n",
    "keys": "import string;\nstring a[string];\nforeach i in [0:100000000] { a[\"key\" + fromint(i)] = \"value\"; }\ntrace(size(a));\n",
    "text": "import string;\n(string o) f(string s, int n) { if (n == 0) { o = s; } else { o = f(s + s, n - 1); } }\n"
            "trace(strlen(f(\"abc\", 40)));\n",
    "rows": "int a[][];\nforeach i in [0:1000000] { foreach j in [0:1000] { a[i][j] = i + j; } }\ntrace(size(a));\n",
}


def too_little_memory_is_told(folder):
    """Whoever asks for it, on whichever thread, also for the first thread."""
    for name, text in TOO_MUCH.items():
        folder.write(f"{name}.df", text)
        for mebibytes in (250, 400):
            for workers in (1, 2, 8):
                def limited(bytes_=mebibytes << 20):
                    resource.setrlimit(resource.RLIMIT_AS, (bytes_, bytes_))
                done = subprocess.run([folder.raddle, "run", f"--workers={workers}", f"{name}.df"], cwd=folder.path, timeout=60,
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, preexec_fn=limited)
                expect((name, mebibytes, workers, done.returncode), (name, mebibytes, workers, 1))
                expect((done.stderr, "out of memory" in done.stderr or "(see --call-memory)" in done.stderr), (done.stderr, True))
    told = subprocess.run(["sh", "-c", 'ulimit -v 250000; exec "$0" run --workers=1 text.df', folder.raddle], cwd=folder.path,
                          timeout=60, capture_output=True, text=True, check=False).stderr
    expect(told, "raddle: out of memory: a recursion without end, or too much data at a time\n"
           "raddle: it was asked for at text.df:2:69\n")


def strings_have_a_longest(folder):
    """It is told where one is longer, whoever makes it."""
    doubled = [f"string v{i} = v{i - 1} + v{i - 1};\n" for i in range(1, 41)]
    first = 'import string;\n@param string v0 = "";\n'
    for name, text, told in (
            ("plus", "".join(doubled) + "trace(strlen(v40));\n", "1074790400"),
            ("path", "".join(doubled[:19]) + "string w = v19 / v19;\ntrace(strlen(w));\n", "1074790401"),
            ("strcat", "".join(doubled[:19]) + "string w = strcat(v19, v19);\ntrace(strlen(w));\n", "1074790400")):
        folder.write(f"{name}.df", first + text)
        for level in ("-O0", "-O2"):
            error = folder.run(f"run {level} {name}.df --v0={'x' * 1025}", code=1, out="").stderr
            expect_in(f"a string of {told} bytes is longer than 1 GiB, the most that there can be", error)
            expect_in(f"{name}.df:22:", error)


def too_few_threads_are_no_fault(folder):
    """It does with fewer, or says so."""
    is_root = os.geteuid() == 0  # whom the limit does not hold for: another user is taken
    folder.path.chmod(0o777)
    raddle = shutil.copy(folder.raddle, folder.path)
    folder.write("loop.df", "int a[];\nforeach i in [1:1000] { a[i] = i; }\ntrace(size(a));\n")
    folder.write("app.df", 'app (void v) says(int i) { "echo" i }\nforeach i in [1:20] { says(i); }\n')
    folder.write("state.df", """import python;
python_persist("n=1") => foreach i in [0:9] { trace(python_persist("import time; time.sleep(0.1)", "str(n)")); }
""")
    told = folder.run("run -j 2 --keep-going state.df", code=1).stderr
    expect_in("NameError: name 'n' is not defined", told)
    expect_in("each of 2 workers has a process of its own for python_persist: `@location` before both calls takes one", told)
    folder.run("run -j 1 state.df", out="trace: 1\n" * 10)
    folder.write("swept.df", "@param int n = 0;\n@result int y = 2 * n;\n")
    commands = [["run", "-j4", "loop.df"], ["run", "-j4", "--timeout=1m", "loop.df"], ["run", "-j4", "app.df"],
                ["sweep", "-j4", "swept.df", "-p", "n=1:4"], ["sweep", "-j4", "--timeout=1m", "swept.df", "-p", "n=1:4"],
                ["sweep", "-j4", "-p", "n=1:4", "--", "echo", "{n}"]]
    for threads in range(1, 9) if is_root else [1]:
        for command in commands:
            done = subprocess.run([raddle, *command], cwd=folder.path, timeout=60, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, check=False, **({"user": 65534, "group": 65534, "extra_groups": []} if is_root else {}),
                                  env={**os.environ, "HOME": str(folder.path)},
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (threads, threads)))
            told = done.stderr.lower()
            is_told = "no thread" in told or "resource temporarily unavailable" in told
            expect((threads, command, told, done.returncode in (0, 1, 4)), (threads, command, told, True))
            expect((threads, command, told, done.returncode == 0 or is_told), (threads, command, told, True))
            expect("internal error" in told, False)


def a_crash_in_c_is_told(folder):
    """With the function, the library and what helps; not that of a process of its own, which is an error of the call."""
    crash = '@library="libc.so.6" (int n) atoi(int text);\n'
    folder.write("crash.df", 'import io;\n' + crash + 'printf("before") => trace(atoi(8));\n')
    told = folder.run("run crash.df", code=-11, out="before\n").stderr
    expect(bool(re.fullmatch(r"crash\.df:2:30: error: `atoi` of `libc\.so\.6` has ended the run: Segmentation fault \[run_time\]\n  = help: .*`@isolate`.*\n", told)), True)
    folder.write("many.df", "import stats;\n" + crash + "int a[];\nforeach i in [0:99999] { a[i] = atoi(8 + i); }\ntrace(sum(a));\n")
    folder.run("run many.df", code=-11, out="", err="many.df:2:30: error: `atoi` of `libc.so.6` has ended the run: Segmentation fault")
    folder.write("apart.df", "@isolate " + crash + "trace(atoi(8));\n")
    told = folder.run("run apart.df", code=1, out="").stderr
    expect(("`atoi` was ended by signal 11" in told, "raddle: " in told), (True, False))


def calls_that_share_nothing_need_no_frames(folder):
    """However many workers look for work: interpreted leaf functions run in registers, those that fork may be shared."""
    folder.write("calls.df", """
        (int y) step(int x) { y = x + 1; }
        (int x) chain(int count) { for (int i = 0, x = 0; i < count; i = i + 1, x = step(x)) {} }
        (int n) down(int depth) { if (depth == 0) { n = 0; } else { n = 1 + down(depth - 1); } }
        foreach i in [1:200] { trace(step(i) + chain(i)); }
        trace(chain(20000) + down(1000));
        """)
    for workers in (1, 2, 8):
        told = folder.run(f"run --interpret --stats --workers={workers} calls.df").stderr
        counts = dict(line.rsplit(" ", 1) for line in told.splitlines())
        expect((int(counts["leaf calls, interpreted"]), int(counts["frames"]) <= 200), (402, True))  # iterations have frames


def long_calls_do_not_wait_for_each_other(folder):
    """Each end of a FIFO opens when the other one does. What calls take is not known before the first has returned."""
    for name in ("a", "b", "c"):
        os.mkfifo(folder.path / name)
    folder.write("ends.df", '@library="libc.so.6" (int descriptor) open(string path, int flags);\n'
                 "(boolean is_open) opens(string path, int flags) { is_open = open(path, flags) > 2; }\n"
                 'trace(opens("a", 0), opens("a", 1), opens("b", 0), opens("b", 1), opens("c", 0), opens("c", 1));\n')
    for options in ("--workers=6", "--workers=8 --scheduler=tree", "--workers=8 --scheduler=tree-fifo"):
        folder.run(f"run {options} ends.df", out="trace: 1,1,1,1,1,1\n")


def short_calls_are_not_shared(folder):
    """Some are, before it is known that they are short; else each would be a task."""
    folder.write("texts.df", "import string;\n(string s) greet(int i) { s = strcat(\"hello \", fromint(i)); }\n"
                 "string a[];\nforeach i in [0:299999] { a[i] = greet(i); }\ntrace(size(a));\n")
    for workers in (1, 2, 8):
        told = folder.run(f"run --stats --workers={workers} texts.df", out="trace: 300000\n").stderr
        expect(int(dict(line.rsplit(" ", 1) for line in told.splitlines())["tasks"]) < 150000, True)


def interpreted_loops_are_told(folder):
    folder.write("loops.df", "import arrays;\nimport string;\nfloat out[100];\nforeach i in [0:99] {\n  x = random(50);\n"
                 "  out[i] = sum(x) + itof(strlen(repr(x)));\n}\n"
                 "float sums[100];\nforeach i in [0:99] { sums[i] = sum(sort(random(50))); }\ntrace(sum(sums) + sum(out) > 0.0);\n")
    told = folder.run("run --stats loops.df", out="trace: 1\n").stderr
    expect([line for line in told.splitlines() if line.startswith("loop at")],
           ["loop at loops.df:4:1, interpreted: loops.df:6:33 can be no part of a kernel: "
            "it calls a function of the library that kernels do not have"])
    folder.write("nests.df", "import arrays;\n@param int n = 60;\na = reshape((7 * arange(n * n)) %% 31, n, n);\nint p[n, n];\nint q[n - 2, n - 2];\n"
                 "foreach i in [0:n-1], j in [0:n-1] { p[i, j] = sum(a[i, :] * a[:, j]); }\n"
                 "foreach i in [0:n-3], j in [0:n-3] { q[i, j] = max(a[i:i+2, j:j+2]); }\ntrace(sum(p), sum(q));\n")
    told = folder.run("run --stats nests.df", out="trace: 48571478,94066\n").stderr
    expect([line for line in told.splitlines() if line.startswith("loop at")], [])
    expect(int(dict(line.rsplit(" ", 1) for line in told.splitlines())["launches"]) < 10, True)


def tcl_is_of_the_script(folder):
    """Where one stands is no place to look for Tcl in."""
    for name in ("lib/tcl8/8.6", "lib/tcl8.6", "own"):
        (folder.path / "scripts" / name if name == "own" else folder.path / name).mkdir(parents=True)
    touch = "close [open touched w]\n"
    for name in ("lib/pkgIndex.tcl", "lib/tclIndex", "lib/tcl8.6/init.tcl", "lib/tcl8.6/pkgIndex.tcl", "lib/tcl8/8.6/own-2.0.tm"):
        folder.write(name, touch)
    folder.write("scripts/own/pkgIndex.tcl", "package ifneeded own 1.0 {package provide own 1.0; proc twice {x} {return [expr {2 * $x}]}}\n")
    folder.write("scripts/script.df", '(int o) f(int i) "own" "1.0" [ "set <<o>> [ twice <<i>> ]" ];\n'
                 '(int o) g(int i) "turbine" "0.0" [ "catch {nowhere_defined}; set <<o>> <<i>>" ];\ntrace(f(4), g(5));\n')
    folder.run("run scripts/script.df", out="trace: 8,5\n")
    expect((folder.path / "touched").exists(), False)


def results_do_not_command_a_terminal(folder):
    """Values that --results prints are text; of a run that has failed there are none."""
    folder.write("r.df", '@result string s = "A\\x1b[31mB\\x07";\n')
    shown = subprocess.run(["script", "-qec", f"{folder.raddle} run --results r.df", "/dev/null"], cwd=folder.path,
                           stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=60, check=True).stdout
    expect(shown.strip(), b"s = AB\\x07")
    folder.run("run --results r.df", out="s = A\x1b[31mB\x07\n")
    folder.write("twice.df", "(int t) f(int n) { t = n; foreach i in [1:n] { t = i; } }\n@result int x = f(3);\n@result int y = 7;\n")
    failed = folder.run("run --results twice.df", code=1)
    expect(failed.stdout, "")  # whatever is there may be wrong


def stop_once_begun(folder):
    """Ends a run of stops.df, which makes the file `begun`."""
    run = subprocess.Popen([folder.raddle, "run", "stops.df"], cwd=folder.path, stderr=subprocess.DEVNULL)
    wait_for((folder.path / "begun").exists, "what is to be stopped")
    run.terminate()
    expect(run.wait(timeout=20), 75)


def outputs_are_whole_or_as_they_were(folder):
    """A program that fails, or is ended, leaves what an earlier run has made; what it makes beside its output comes along."""
    folder.write("ok.df", 'app (file o) make() { "sh" "-c" "echo whole > $0; echo beside > $0.log" o }\nfile f <"out/f.txt"> = make();\n')
    folder.run("run ok.df")
    expect((folder.read("out/f.txt"), folder.read("out/f.txt.log")), ("whole\n", "beside\n"))
    folder.write("fails.df", 'app (file o) make() { "sh" "-c" "echo half > $0; exit 3" o }\nfile f <"out/f.txt"> = make();\n')
    folder.run("run fails.df", code=1, err="sh -c 'echo half > $0; exit 3' out/f.txt")
    folder.write("stops.df", 'app (file o) make() { "sh" "-c" "echo half; touch begun; sleep 60" @stdout=o }\nfile f <"out/f.txt"> = make();\n')
    stop_once_begun(folder)
    expect(folder.read("out/f.txt"), "whole\n")
    expect(sorted(os.listdir(folder.path / "out")), ["f.txt", "f.txt.log"])
    # as a string the name is that of the place
    folder.write("named.df", 'app (file o) make() { "sh" "-c" "echo $0 > $0" (filename(o)) }\nfile f <"out/g.txt"> = make();\n')
    folder.run("run named.df")
    expect(folder.read("out/g.txt"), "out/g.txt\n")
    # and what a failed program has not touched there stays, what it has begun goes
    for command, left in (('"nosuchprog" ("x"+filename(o))', True), ('"false" ("x"+filename(o))', True),
                          ('"sh" "-c" ("echo half > " + filename(o) + "; false")', False)):
        folder.write("out/g.txt", "old\n")
        folder.write("named.df", f'app (file o) make() {{ {command} }}\nfile f <"out/g.txt"> = make();\n')
        folder.run("run named.df", code=1)
        expect((folder.path / "out/g.txt").exists(), left)


def outputs_of_tcl_are_whole_or_as_they_were(folder):
    """Written aside if the code names the output, which may lie in a folder that is not there yet."""
    def script(name, code, inputs="", values=""):
        folder.write(name, f'(file o) make({inputs}) "turbine" "0.0" [ "{code}" ];\nfile f <"out/f.txt"> = make({values});\n')

    begin = "set p [ turbine::local_file_path $<<o>> ]; set c [ open $p w ]; puts $c [ file tail $p ]; flush $c"
    script("ok.df", begin + "; close [ open $p.log w ]")
    folder.run("run ok.df")
    script("fails.df", begin + "; error late")
    folder.run("run fails.df", code=1, err="late")
    script("ends.df", begin + "; exec kill -9 [ pid ]")
    folder.run("run ends.df", code=1, err="`make` has ended the process of its rank: it was ended by signal 9 (Killed)")
    script("stops.df", begin + "; close [ open begun w ]; after 60000")
    stop_once_begun(folder)
    expect(folder.read("out/f.txt"), "f.txt\n")
    expect(sorted(os.listdir(folder.path / "out")), ["f.txt", "f.txt.log"])
    for code, left in (("error early", "f.txt\n"), ("close [ open <<p>> w ]", ""), ("close [ open <<p>> w ]; error late", None)):
        script("named.df", code, "string p", '"out/f.txt"')
        folder.run("run named.df", code=0 if left == "" else 1)
        expect(folder.read("out/f.txt") if (folder.path / "out/f.txt").exists() else None, left)
        if left == "":
            folder.write("out/f.txt", "old\n")


def programs_have_nothing_to_read(folder):
    """What raddle is given is not eaten: neither by apps nor by functions that run programs; a script that wants it says so."""
    folder.write("none.df", 'import sys;\napp (file o) eat() { "cat" @stdout=o }\nfile f <"f.txt"> = eat();\n'
                            '(o, c) = system(["cat"]);\nf => trace(o, c);\n')
    folder.write("some.df", 'app (file o) eat() { "cat" @stdin=(input("/dev/stdin")) @stdout=o }\nfile f <"f.txt"> = eat();\n')
    folder.write("list", "1\n2\n3\n")

    def shell(line):
        done = subprocess.run(["sh", "-c", line, folder.raddle], cwd=folder.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=60, check=False)
        expect((done.returncode, done.stderr), (0, ""))
        return done.stdout

    expect(shell('while read line; do "$0" run none.df; done < list'), "trace: ,0\n" * 3)
    expect(folder.read("f.txt"), "")
    folder.write("tcl.df", '(string o) eat(int i) "turbine" "0.0" [ "set p [ open |cat ]; set <<o>> [ exec cat ][ exec cat | cat ][ read $p ]; close $p" ];\n'
                           '(string o) given(int i) "turbine" "0.0" [ "exec sleep 0 &; set <<o>> [ exec cat << x ]" ];\ntrace(eat(1) + ".", given(2));\n')
    expect(shell('while read line; do "$0" run tcl.df; done < list'), "trace: .,x\n" * 3)
    folder.write("read.df", 'import string;\n(string o) eat(int i) "turbine" "0.0" [ "set <<o>> [ read stdin ][ gets stdin ][ eof stdin ]" ];\n'
                            'string all[]; foreach i in [0:3] { all[i] = eat(i); }\ntrace(join(all, " "));\n')
    expect(shell('while read line; do "$0" run read.df; done < list'), "trace: 1 1 1 1\n" * 3)
    # from where the one who reads it, too, has come to
    shell('{ read line; "$0" run some.df; } < list')
    expect(folder.read("f.txt"), "2\n3\n")
    shell('cat list | "$0" run some.df')
    expect(folder.read("f.txt"), "1\n2\n3\n")


def large_inputs_take_linear_time(folder):
    """What is quadratic in these takes minutes."""
    folder.write("big.json", "{" + ",".join(f'"k{i}":{i}' for i in range(300_000)) + "}")
    folder.write("json.df", 'import files; import json;\nstring s = read(input("big.json"));\n'
                            'trace(json_get(s, "k299999"), json_get(s, "k7"), json_type(s, ""));\n')
    folder.run("run json.df", out="trace: 299999,7,object\n")
    folder.write("calls.df", "import string;\n" + "\n".join(f'trace(strlen("{i}"));' for i in range(100_000)))
    expect(folder.run("run calls.df").stdout.count("\n"), 100_000)
    folder.write("elements.df", "int a[];\n" + "\n".join(f"a[{i}] = {i};" for i in range(100_000)) + "\ntrace(size(a));\n")
    folder.run("run elements.df", out="trace: 100000\n")
    folder.write("types.df", "\n".join(f"type t{i} {{ int a; }} t{i} y{i}; y{i}.a = 1; trace(y{i}.a);" for i in range(100_000)))
    expect(folder.run("run types.df").stdout.count("\n"), 100_000)
    folder.write("loops.df", "\n".join(f"int a{i}[]; foreach i in [0:2] {{ a{i}[i] = i; }} trace(size(a{i}));" for i in range(50_000)))
    expect(folder.run("run loops.df").stdout.count("\n"), 50_000)
    folder.write("pairs.df", "\n".join(f"int a{i}[]; foreach i in [0:2] {{ a{i}[i] = i; }} int b{i}[]; foreach i in [0:2] {{ b{i}[i] = a{i}[i] + 1; }} trace(size(b{i}));"
                                       for i in range(20_000)))
    expect(folder.run("run pairs.df").stdout.count("\n"), 20_000)
    folder.write("twice.df", "int a[];\nforeach i in [0:299999] { a[i] = i; }\nforeach i in [0:299999] { a[299999 - i] = 2 * i; }\ntrace(size(a));\n")
    folder.run("run -k twice.df", code=1, out="", err="299000 more errors are not shown: 1000 others are")


def links_of_others_are_not_followed(folder):
    """A link that another user has put into a folder where all may write leads nowhere."""
    if os.geteuid() != 0:
        return
    place = folder.path / "all"
    place.mkdir()
    os.chown(place, 1, 1)
    place.chmod(0o777)
    folder.write("mine", "old\n")
    for name in ("w.txt", "a.txt", "b.txt"):
        (place / name).symlink_to(folder.path / "mine")
        os.chown(place / name, 2, 2, follow_symlinks=False)
    folder.write("write.df", 'import files;\nfile f<"all/w.txt"> = write("new");\n')
    folder.write("app.df", 'app (file o) say() { "echo" "new" @stdout=o }\nfile f<"all/a.txt"> = say();\n')
    folder.write("place.df", 'import files;\napp (file o) say() { "sh" "-c" "echo new > $0" (filename(o)) }\nfile f<"all/b.txt"> = say();\n')
    for script in ("write", "app", "place"):
        folder.run(f"run {script}.df", code=1, err="ermission denied")
        expect(folder.read("mine"), "old\n")
    folder.write("sweep.df", "@param int n = 1;\n@result int m = n;\n")
    folder.run("sweep sweep.df -p n=1,2")
    for command in ("sweep sweep.df -p n=1,2 -o all/t.csv", "report -o all/t.csv", "trace -o all/t.csv", "graph sweep.df -o all/t.dot",
                    "run --trace=all/t.csv sweep.df"):
        link = place / ("t.dot" if "dot" in command else "t.csv")
        link.symlink_to(folder.path / "mine")
        os.chown(link, 2, 2, follow_symlinks=False)
        done = subprocess.run(f"{folder.raddle} {command}", shell=True, cwd=folder.path, capture_output=True, text=True, check=False)
        expect((command, done.returncode != 0, "ermission denied" in done.stderr, folder.read("mine")), (command, True, True, "old\n"))
        link.unlink()
    (place / "s.df").symlink_to(folder.path / "mine")
    os.chown(place / "s.df", 2, 2, follow_symlinks=False)
    done = subprocess.run([folder.raddle, "repl"], input="int x = 1;\n:save all/s.df\n", cwd=folder.path, capture_output=True, text=True, check=False)
    expect((done.stdout, done.returncode, folder.read("mine")), ("can not write `all/s.df`: permission denied\n", 1, "old\n"))
    for name in ("w.txt", "a.txt", "b.txt"):  # one of the folder's owner, or of ours, is followed
        os.chown(place / name, *((1, 1) if name == "w.txt" else (0, 0)), follow_symlinks=False)
    for script in ("write", "app", "place"):
        folder.write("mine", "old\n")
        folder.run(f"run {script}.df")
        expect(folder.read("mine").strip(), "new")


def nothing_outlives_a_kill(folder):
    """SIGKILL of raddle ends what its programs have started, too."""
    folder.write("script.df", """
        import python; import sys;
        app (void v) shell(int i) { "sh" "-c" ("sleep 61; echo " + i) }
        app (void v) limit(int i) { "timeout" "62" "sleep" "61" }
        foreach i in [1:2] {
          shell(i);
          limit(i);
          string s = python("import os, time; open('python%i', 'w').close(); time.sleep(61)" % i, "''");
        }
        (o, c) = system(["sh", "-c", "sleep 61; true"]);
        """)

    def left():
        """Processes whose folder is this one, but for those that have ended."""
        found = []
        for process in os.listdir("/proc"):
            try:
                if process.isdigit() and os.readlink(f"/proc/{process}/cwd") == str(folder.path.resolve()):
                    found.append(open(f"/proc/{process}/cmdline", encoding="utf-8").read().replace("\0", " "))
            except OSError:
                pass
        return found

    for turn in range(4):
        run = subprocess.Popen([folder.raddle, "run", "-j4", "--processes", "9", "script.df"], cwd=folder.path, stderr=subprocess.DEVNULL)
        if turn != 3:  # later, at some moment of its start
            wait_for(lambda: (folder.path / "python1").exists() and (folder.path / "python2").exists() and
                     sum("sleep 61" in each for each in left()) >= 5, "the programs")
        else:
            time.sleep(0.05)
        run.kill()
        run.wait()
        wait_for(lambda: not left(), f"the end of {left()}", seconds=10)
        for name in ("python1", "python2"):
            (folder.path / name).unlink(missing_ok=True)


def replaced_files_keep_permissions_and_streams_stay(folder):
    """A replaced file keeps who may read it; one of a program that fails is gone; a stream is written where it is."""
    folder.write("new.df", 'app (file o) w(string t) { "echo" t @stdout=o }\nfile a<"out.txt"> = w("new");\n')
    folder.write("out.txt", "old\n")
    for mode in (0o640, 0o600, 0o755):
        (folder.path / "out.txt").chmod(mode)
        folder.run("run new.df")
        expect((folder.read("out.txt"), (folder.path / "out.txt").stat().st_mode & 0o7777), ("new\n", mode))
    folder.write("half.df", 'app (file o) w() { "sh" "-c" "echo half > made.txt; exit 3" }\nfile a<"made.txt"> = w();\n')
    folder.run("run half.df", code=1, err="exit code 3")
    expect((folder.path / "made.txt").exists(), False)
    folder.write("stream.df", 'app (file o) w(string t) { "echo" t @stdout=o }\nfile a<"/dev/stdout"> = w("told");\n')
    folder.run("run stream.df", out="told\n")
    expected = "trace: before\ntold\n"
    for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"):  # a regular file goes on where it is
        folder.write("stream.df", 'app (file o) w(string t) { "echo" t @stdout=o }\n'
                     f'trace("before") => file a<"{name}"> = w("told") => trace("behind");\n')
        if name == "link":
            (folder.path / "link").symlink_to("/dev/stdout")
        for options in ("", "--no-record"):
            with open(folder.path / "printed.txt", "w", encoding="utf-8") as printed:
                subprocess.run([folder.raddle, "run", *options.split(), "stream.df"], cwd=folder.path, stdin=subprocess.DEVNULL, stdout=printed,
                               timeout=60, check=True)
            expect((name, folder.read("printed.txt")), (name, expected + "trace: behind\n"))
    folder.write("error.df", 'app (file o) w(string t) { "echo" t @stderr=o }\nfile a<"/dev/stderr"> = w("told");\n'
                 'app (file o) e(string t) { "sh" "-c" ("echo " + t + " >&2") @stderr=o }\na => file b<"/dev/fd/2"> = e("said");\n')
    with open(folder.path / "printed.txt", "w", encoding="utf-8") as printed:
        printed.write("before\n")
        printed.flush()
        subprocess.run([folder.raddle, "run", "-q", "error.df"], cwd=folder.path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=printed, timeout=60, check=True)
    expect(folder.read("printed.txt"), "before\nsaid\n")
    folder.write("input.df", 'app (file o) c(file i) { "cat" @stdin=i @stdout=o }\nfile i = input("/dev/fd/0");\n'
                 'file o<"copied.txt"> = c(i);\n')
    with open(folder.path / "printed.txt", "r", encoding="utf-8") as printed:
        os.lseek(printed.fileno(), 7, os.SEEK_SET)
        subprocess.run([folder.raddle, "run", "input.df"], cwd=folder.path, stdin=printed, timeout=60, check=True)
    expect(folder.read("copied.txt"), "said\n")
    folder.write("null.df", 'app (file o) w(string t) { "echo" t @stdout=o }\nfile a<"/dev/null"> = w("lost");\n')
    folder.run("run null.df", out="")
    expect(stat.S_ISCHR(os.stat("/dev/null").st_mode), True)


def chains_of_any_length(folder):
    """In order; what fails ends what follows; arrays and variables of the chain are those of the scope around it."""
    folder.write("long.df", " => ".join(f"trace({i})" for i in range(8000)) + ";\n")
    for level in ("-O0", "-O2"):
        folder.run(f"run {level} long.df", out="".join(f"trace: {i}\n" for i in range(8000)))
    links = [f"int x{i} = f({f'x{i - 1}' if i else 0}) => a[{i}] = x{i}" for i in range(150)]
    head = "(int o) f(int i) { wait (i) { o = i + 1; } }\nint a[];\n"
    folder.write("own.df", head + " => ".join(links) + " => { trace(x149, a[149]); }\nwait (a) { trace(size(a)); }\n")
    expect(sorted(folder.run("run own.df").stdout.splitlines()), ["trace: 150", "trace: 150,150"])
    folder.write("fails.df", 'import assert;\nint n = 3;\ntrace(0) => assert(n < 3, "too large") => ' + " => ".join(["trace(1)"] * 300) + ";\n")
    folder.run("run fails.df", code=1, out="trace: 0\n", err="too large")
    folder.run("run -k fails.df", code=1, out="trace: 0\n", err="too large")


TESTS = [large_inputs_take_linear_time, links_of_others_are_not_followed, chains_of_any_length, replaced_files_keep_permissions_and_streams_stay, tcl_is_of_the_script, results_do_not_command_a_terminal, outputs_are_whole_or_as_they_were, outputs_of_tcl_are_whole_or_as_they_were, programs_have_nothing_to_read, nothing_outlives_a_kill, short_calls_are_not_shared, interpreted_loops_are_told, long_calls_do_not_wait_for_each_other, a_crash_in_c_is_told, calls_that_share_nothing_need_no_frames, json_is_told_of_what_does_not_come_back, nothing_keeps_a_run_from_its_end, code_in_tcl_ends_with_the_run, too_little_memory_is_told, strings_have_a_longest, too_few_threads_are_no_fault,
         programs_end_with_a_run_that_does_not_come_back, verbose_tells_programs, verbose_tells_failures, temporaries_end_with_the_run, quiet_tells_errors_only, json_is_all, json_has_the_end_of_what_is_printed, timeout_ends_the_run]


if __name__ == "__main__":
    main("run", "Tests what raddle run says.", TESTS, Folder)
