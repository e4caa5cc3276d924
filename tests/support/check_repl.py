#!/usr/bin/env python3
"""`raddle` on a terminal: what a person sees.

    check_repl.py [--raddle PATH] [--update-golden] [FILTER]

tests/golden/repl/NAME.session is what stands on the screen at the end. Lines after a prompt, `3> ` or ` . `, are typed;
each when all before it is there. Other tests press single keys.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import termios
import time

from folder_tests import Fault
from pty_session import PtySession

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/golden/repl"
PROMPT = re.compile(r"^(\d+> | +\. )(.*)$")
ENDLESS = "(int r) endless(int n) { if (n < 2) { r = n; } else { r = endless(n - 1) + endless(n - 2); } }\r"
CTRL_C, CTRL_D, TAB = "\x03", "\x04", "\t"


class Place:
    """A folder of its own, and an own home."""

    def __init__(self, raddle):
        self.raddle = str(raddle)
        self.keeper = tempfile.TemporaryDirectory(prefix="raddle_repl_")
        self.folder = pathlib.Path(self.keeper.name)
        self.environment = {"XDG_STATE_HOME": str(self.folder / "state"), "XDG_CACHE_HOME": str(self.folder / "cache"),
                            "HOME": str(self.folder), "NO_COLOR": "1"}

    def session(self, *arguments, colour=False, **size):
        environment = dict(self.environment)
        if colour:
            del environment["NO_COLOR"]
        return PtySession([self.raddle, *(arguments or ["--workers=2"])], folder=self.folder, environment=environment,
                          **size)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def read(self, name):
        return (self.folder / name).read_text(encoding="utf-8")


def expect(found, expected, what):
    if found != expected:
        raise Fault(f"{what}: expected\n{expected}\nfound\n{found}")


def expect_in(part, whole, what):
    if part not in whole:
        raise Fault(f"{what}: expected {part!r} in\n{whole}")


# ---------------------------------------------------------------- transcripts

def settle(session, quiet=0.5):
    """Until nothing has come for a while."""
    last, since = session.screen.text(), time.monotonic()
    while time.monotonic() - since < quiet:
        session.read(0.05)
        if session.screen.text() != last:
            last, since = session.screen.text(), time.monotonic()


def play(place, path, update):
    expected = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    # however slow the machine is, only what waits for something is to be in the background
    with place.session("repl", "--workers=2", "--patience=20000", columns=100, rows=40) as session:
        if not update:
            session.wait_for_prompt()
        else:
            settle(session)
        first = session.screen.text().split("\n")[0]  # names the version and the number of workers
        for number, line in enumerate(expected):
            typed = PROMPT.match(line)
            if not typed:
                continue
            if update:
                settle(session)
            else:
                before = [first, *expected[:number], typed[1].rstrip()]
                try:
                    session.wait_for(lambda b="\n".join(before).rstrip(): session.screen.text() == b, "what is expected")
                except AssertionError as fault:
                    raise Fault(f"{fault}\nexpected:\n" + "\n".join(before)) from fault
            session.send(typed[2].strip() if typed[1].strip() == "." else typed[2])
            session.send("\r")
        last = [line for line in expected[-1:] if PROMPT.match(line + " ")]
        if not last:
            raise Fault("the last line of a transcript is a prompt")
        if update:
            settle(session)
            path.write_text("\n".join(session.screen.text().split("\n")[1:]) + "\n", encoding="utf-8")
            return
        whole = "\n".join([first, *expected])
        session.wait_for(lambda: session.screen.text() == whole, "the end of the transcript:\n" + whole)


# ---------------------------------------------------------------- keys

def ctrl_d_leaves(place):
    with place.session() as session:
        session.wait_for_prompt()
        session.send(CTRL_D)
        expect(session.wait_for_end(), 0, "exit code")


def ctrl_c_clears_the_line(place):
    with place.session() as session:
        session.wait_for_prompt()
        session.send("int x = 5" + CTRL_C + "6 * 7\r")
        session.wait_for_text("42")
        expect_in("1> 6 * 7\n42", session.screen.text(), "the line that was cleared")


def ctrl_c_ends_what_runs(place):
    with place.session() as session:
        session.wait_for_prompt()
        for line in ("import sys;", "float y = 1.0; (float r) late(float t) { sleep(t) => r = t; }", "x = late(600.0);"):
            session.send(line + "\r")
            session.wait_for_prompt()
        session.wait_for_text("x : float, running")
        session.send(CTRL_C)
        session.wait_for_text("stopped: x")
        session.send("x\r")
        session.wait_for_text("failed: stopped by Ctrl-C")
        session.send("y + 1\r")
        session.wait_for_text("2.0")


def ctrl_c_ends_endless_output(place):
    with place.session() as session:
        session.wait_for_prompt()
        session.send("foreach i in [0:1000000000] { trace(i); }\r")
        session.wait_for_text("trace: 1000\n")
        session.send(CTRL_C)
        session.wait_for_text("\nstopped\n")
        session.send("6 * 7\r")
        session.wait_for_text("\n42\n")


def ctrl_c_ends_a_program(place):
    with place.session() as session:
        session.wait_for_prompt()
        session.send("app (void v) nap() { \"sleep\" \"1234\" }\r")
        session.wait_for_text("2>")
        session.send("v = nap();\r")
        session.wait_for_text("v : void, running")
        session.send(CTRL_C)
        session.wait_for_text("stopped: v")
        own = subprocess.run(["pgrep", "-x", "-P", str(session.process), "sleep"], capture_output=True, text=True, check=False)
        expect(own.stdout, "", "programs that are left")


def programs_do_not_take_what_is_typed(place):
    with place.session() as session:
        session.wait_for_prompt()
        session.send("app (void v) reads() { \"cat\" }\r")
        session.wait_for_text("2>")
        session.send("v = reads();\r")
        session.wait_for_text("3>")
        session.send("v => trace(\"read\");\r")
        session.wait_for_text("trace: read")


def a_module_is_read_again_until_it_is_right(place):
    place.write("shared.df", "int base = ;\n")
    with place.session() as session:
        session.wait_for_prompt()
        session.send("import shared;\r")
        session.wait_for_text("shared.df:1:12: error")
        place.write("shared.df", "int base = 40;\n(int r) up(int n) { r = base + n; }\ntrace(\"once\");\n")
        session.send("import shared;\r")
        session.wait_for_text("trace: once")
        session.send("up(2)\r")
        session.wait_for_text("\n42\n")
        expect(session.screen.text().count("trace: once"), 1, "runs of the module's statements")


def memory_is_bounded(place):
    with place.session("repl", "--call-memory", "30") as session:
        session.wait_for_prompt()
        session.send("(int r) endless(int n) { r = endless(n + 1) + n; }\r")
        session.wait_for_text("2>")
        session.send("x = endless(0);\r")
        session.wait_for_text("does the recursion end?", 60)
        session.send("x\r")
        session.wait_for_text(" : int, failed: stopped", 60)  # with it what was entered till then
        session.send("1 + 1\r")
        session.wait_for_text("\n2\n")


def ctrl_c_ends_native_code(place):
    """A long computation of machine code can not be interrupted: the prompt comes back all the same."""
    with place.session() as session:
        session.wait_for_prompt()
        session.send("(int r) f(int n) { if (n < 2) { r = n; } else { r = f(n - 1) + f(n - 2); } }\r")
        session.wait_for_text("2>")
        session.send("x = f(60);\r")
        session.wait_for_text("x : int, running")
        session.send(CTRL_C)
        session.wait_for_text("stopped: x")
        session.send("1 + 1\r")
        session.wait_for_text("\n2\n")
        session.send(CTRL_D)
        expect(session.wait_for_end(), 0, "exit code")


def background_output_leaves_the_prompt_whole(place):
    with place.session() as session:
        session.wait_for_prompt()
        for line in ("import sys; import io;", "(void v) late(float t) { sleep(t) => v = printf(\"late output\"); }",
                     "v = late(0.8);"):
            session.send(line + "\r")
            session.wait_for_prompt()
        session.send("1 + 2 * 3")
        session.wait_for_text("\nlate output\n")
        session.wait_for_text("v is set")
        session.wait_for_text("\n4> 1 + 2 * 3")
        expect(session.screen.text().split("\n")[-1], "4> 1 + 2 * 3", "the line that is being typed")
        session.send("\r")
        session.wait_for_text("\n7\n")


def lines_of_a_program_stay_whole_above_the_prompt(place):
    with place.session() as session:
        session.wait_for_prompt()
        session.send('app (void v) counts() { "sh" "-c" "sleep 0.4; seq 100001 130000; printf whole; sleep 0.3; echo line" }\r')
        session.wait_for_text("2>")
        session.send("v = counts();\r")
        session.wait_for(lambda: "v is set" in session.raw, "the end")
        expect("wholeline" in session.raw, True, "a line in two pieces")
        session.send('app (void v) asks() { "sh" "-c" "sleep 0.3; printf begins; sleep 60" }\r')
        session.wait_for_text("4>")
        session.send("w = asks();\r")
        session.wait_for_text("\nbegins\n")
        text = re.sub(r"\x1b\[[^A-Za-z]*[A-Za-z]", "", session.raw)
        cut = [line for line in text.replace("\r", "").split("\n") if line.isdigit() and len(line) != 6]
        expect(cut, [], "lines that were cut in two")


def entries_go_on_over_lines(place):
    with place.session() as session:
        session.wait_for_prompt()
        session.send("(int r) twice(int n) {\r")
        session.wait_for_text("\n .")
        session.send("r = 2 * n;\r}\r")
        session.wait_for_text("4>")
        session.send("twice(21)\r")
        session.wait_for_text("42")
        expect_in("1> (int r) twice(int n) {\n .   r = 2 * n;\n . }\n4> twice(21)", session.screen.text(), "lines")


def pasted_lines_are_one_entry(place):
    with place.session() as session:
        session.wait_for_prompt()
        session.send("\x1b[200~int a = 1;\nint b = 2;\x1b[201~")
        session.wait_for_text(". int b = 2;")
        session.send("\r")
        session.wait_for_text("3>")
        session.send("a + b\r")
        session.wait_for_text("\n3\n")


def history_stays(place):
    with place.session() as session:
        session.wait_for_prompt()
        session.send("111 + 222\r")
        session.wait_for_text("333")
        session.send("if (true) {\rtrace(1);\r}\r")
        session.wait_for_text("trace: 1")
        session.send(CTRL_D)
        session.wait_for_end()
    with place.session() as session:
        session.wait_for_prompt()
        session.send("\x1b[A")
        session.wait_for_text(". }")
        session.send("\x1b[A\x1b[A\x1b[A")
        session.wait_for_text("1> 111 + 222")
        session.send(CTRL_C + "\x12tra")
        session.wait_for_text("search `tra`: if (true)")
        session.send("\r")
        session.wait_for_text("trace: 1")
    mode = os.stat(place.folder / "state/raddle/history").st_mode & 0o777
    expect(mode, 0o600, "mode of the history")


def tab_completes(place):
    place.write("some_script.df", "int loaded = 5;\n")
    with place.session() as session:
        session.wait_for_prompt()
        session.send("int alpha_beta = 3;\r")
        session.wait_for_text("2>")
        session.send("alph" + TAB + " + 1\r")
        session.wait_for_text("2> alpha_beta + 1\n4")
        session.send(":lo" + TAB + " some" + TAB + "\r")
        session.wait_for_text(":load some_script.df\n")
        session.send("load" + TAB + "\r")
        session.wait_for_text("4> loaded\n5")
        session.send("import sta" + TAB + ";\r")
        session.wait_for_text("5> import stats;\n6>")
        session.send("import arrays;\r")
        session.wait_for_text("7>")
        session.send("argso" + TAB + "([3, 1])[0]\r")  # none of the module's own names, as argsort_
        session.wait_for_text("7> argsort([3, 1])[0]\n1")
        session.send("linsp" + TAB + "(0.0, 1.0, 2)\r")
        session.wait_for_text("8> linspace(0.0, 1.0, 2)\n[0.0, 1.0]")
        session.send("fo" + TAB + TAB)
        session.wait_for_text("foreach")


def colours(place):
    with place.session(colour=True) as session:
        session.wait_for_prompt()
        session.send("int x = 4; // four")
        session.wait_for_text("// four")
        for part in ("\x1b[36mint", "\x1b[33m4", "\x1b[90m// four"):
            expect_in(part, session.raw, "colours")


def wide_characters_and_wrapping(place):
    with place.session(columns=20) as session:
        session.wait_for_prompt()
        session.send("strcat(\"abcdefgh\", \"ijklmnop\")")
        session.wait_for_text("klmnop")
        expect(session.screen.text().split("\n")[-2:], ["1> strcat(\"abcdefgh\"", ", \"ijklmnop\")"], "rows")
        session.send("\x01\x1b[C\x1b[C\x0b")  # begin of the line, two to the right, the rest away
        session.wait_for(lambda: session.screen.text().endswith("1> st"), "a short line")
        session.send(CTRL_C + "\"\u00e4\u00f6\"\r")
        session.wait_for_text("\n\"\u00e4\u00f6\"")


def size_changes(place):
    with place.session(columns=60) as session:
        session.wait_for_prompt()
        session.send("1 + 1")
        session.wait_for_text("1 + 1")
        session.resize(30, 10)
        session.send(" + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1\r")
        session.wait_for_text("\n10\n")


def what_does_not_come_back_keeps_no_session(place):
    """Ctrl-C takes its variable from it, and the session can be left, also without that."""
    os.mkfifo(place.folder / "pipe")

    def begin(session):
        session.wait_for_prompt()
        session.send('import files; string x = read(input("pipe"));\r')
        session.wait_for_text("x : string, running")

    with place.session() as session:
        begin(session)
        session.send(CTRL_C)
        session.wait_for_text("stopped: x")
        session.send("6 * 7\r")
        session.wait_for_text("42")
        session.send(CTRL_D)
        expect(session.wait_for_end(), 0, "exit code after Ctrl-C")
    with place.session() as session:
        begin(session)
        session.send(CTRL_D)
        session.wait_for_text("something still runs")
        session.send(CTRL_D)
        expect(session.wait_for_end(), 0, "exit code")
    with place.session() as session:
        begin(session)
        os.kill(session.process, signal.SIGTERM)
        expect((session.wait_for_end(), echoes(session)), (75, True), "exit code, and the terminal")


def sigterm_leaves_the_terminal_as_it_was(place):
    with place.session() as session:
        session.wait_for_prompt()
        os.kill(session.process, signal.SIGTERM)
        expect(session.wait_for_end(), 75, "exit code")
        expect_in("\x1b[?2004l", session.raw, "the mode of pastes")


def echoes(session):
    return termios.tcgetattr(session.terminal)[3] & (termios.ECHO | termios.ICANON) == termios.ECHO | termios.ICANON


def the_terminal_is_left_as_it_was_at_any_end(place):
    for end in (signal.SIGSEGV, signal.SIGABRT, signal.SIGQUIT):
        with place.session() as session:
            session.wait_for_prompt()
            expect(echoes(session), False, "raw")
            os.kill(session.process, end)
            expect((session.wait_for_end(), echoes(session)), (-end, True), "exit code, and the terminal")
    with place.session() as session:  # a second signal, while a computation keeps the first from being the end
        session.wait_for_prompt()
        session.send(ENDLESS + "x = endless(90);\r")
        session.wait_for_text("running")
        os.kill(session.process, signal.SIGTERM)
        time.sleep(0.2)
        os.kill(session.process, signal.SIGTERM)
        expect((session.wait_for_end(), echoes(session)), (75, True), "exit code, and the terminal")


def a_paste_without_end_ends(place):
    with place.session() as session:
        session.wait_for_prompt()
        session.send("\x1b[200~6 * ")
        session.wait_for_text("1> 6 *")
        session.send("7\r")
        session.wait_for_text("42")


def a_reset_after_an_endless_computation(place):
    with place.session() as session:
        session.wait_for_prompt()
        session.send(ENDLESS + "x = endless(90);\r")
        session.wait_for_text("running")
        session.send(CTRL_C)
        session.wait_for_text("stopped: x")
        session.send(":reset\r6 * 7\r")
        session.wait_for_text("42")
        session.send(CTRL_D)
        expect(session.wait_for_end(), 0, "exit code")


def saved_and_loaded(place):
    with place.session() as session:
        session.wait_for_prompt()
        for line in ("int k = 3;", "(int r) f(int n) { r = n * k; }", "f(2)", "int k = 4;", ":save out.df"):
            session.send(line + "\r")
            session.wait_for_prompt()
        session.wait_for_text("written to out.df")
        session.send(":reset\rk\r")
        session.wait_for_text("unknown variable")
        session.send(":load out.df\rf(5)\r")
        session.wait_for_text("\n20\n")
    expect(place.read("out.df"), "int k_1 = 3;\n(int r) f(int n) { r = n * k; }\n// f(2)\nint k = 4;\n", "the script")


SESSION = """
x = 3;
y = x * 2;
x = 10; trace(x, y);
x += 5;
x
int k = 2;
(int r) f(int n) { r = n * k; }
a = f(10);
int k = 4;
b = f(10);
x = x + x; w = x;
(int r) f(int n) { r = n + k; }
c = f(10);
x * 2
v = ans + 1;
type p { int x; }
p m; m.x = x;
t = m.x + x;
type p { float x; }
s = "a";
s += "b";
x -= 1;
float A[2] = [1.0, 2.0];
A *= 2.0;
(int q, int r) parts(int n, int by) { q = n %/ by; r = n %% by; }
(x, r) = parts(x, by=4);
if (x > 3) { trace("large", x); }
import io;
printf("%i %i %i %i %i %i %i %i %s", x, y, a, b, c, w, v, t, s + A);
"""
SAVED = """x_1 = 3;
y = x_1 * 2;
x_2 = 10; trace(x_2, y);
x_3 = x_2 + (5);
// x
int k_1 = 2;
// (int r) f(int n) { r = n * k; }
(int r) f_1(int n) { r = n * k_1; }
a = f_1(10);
int k = 4;
(int r) f_2(int n) { r = n * k; }
b = f_2(10);
x_4 = x_3 + x_3; w = x_4;
(int r) f(int n) { r = n + k; }
c = f(10);
ans = x_4 * 2;
v = ans + 1;
// type p { int x; }
type p_1 { int x; }
p_1 m; m.x = x_4;
t = m.x + x_4;
type p { float x; }
s_1 = "a";
s = s_1 + ("b");
x_5 = x_4 - (1);
float A_1[2] = [1.0, 2.0];
A = A_1 * (2.0);
(int q, int r) parts(int n, int by) { q = n %/ by; r = n %% by; }
(x, r) = parts(x_5, by=4);
if (x > 3) { trace("large", x); }
import io;
printf("%i %i %i %i %i %i %i %i %s", x, y, a, b, c, w, v, t, s + A);
"""


def what_was_made_anew_is_saved_by_names_of_its_own(place):
    environment = {**os.environ, **place.environment}

    def run(*words, **how):
        return subprocess.run([place.raddle, *words], capture_output=True, text=True, cwd=place.folder, env=environment,
                              timeout=60, check=False, **how)

    session = run("repl", input=SESSION.lstrip() + ":save anew.df\n")
    expect(session.returncode, 0, f"exit code, with errors {session.stderr!r}")
    last = "7 6 20 40 14 30 61 60 ab[2.0, 4.0]\n"
    expect_in(last, session.stdout, "the session")
    expect_in("`x` of line 1 is `x_1` there, ", session.stdout, "the session")
    expect(place.read("anew.df"), SAVED, "the script")
    script = run("anew.df")
    expect((sorted(script.stdout.splitlines()), script.returncode),
           (sorted(["trace: 10,6", "trace: large,7", last.strip()]), 0), f"the script, with errors {script.stderr!r}")


def tasks_that_have_set_their_variables_do_not_run(place):
    with place.session() as session:
        session.wait_for_prompt()
        for line in ("import sys;", "v = sleep(30.0);", "x = 3;", ":tasks"):
            session.send(line + "\r")
            session.wait_for_prompt()
        session.wait_for(lambda: re.search(r"line 2 +runs +v = sleep", session.screen.text()) and
                         re.search(r"line 3 +has set all its variables +x = 3;", session.screen.text()), "the tasks")
        session.send(CTRL_C)
        session.wait_for_text("stopped: v")


def a_script_is_loaded_first(place):
    place.write("first.df", "int early = 41;\n")
    with place.session("repl", "--load", "first.df") as session:
        session.wait_for_prompt()
        session.send("early + 1\r")
        session.wait_for_text("1> early + 1\n42")


def time_is_told(place):
    with place.session() as session:
        session.wait_for_prompt()
        session.send("import sys;\r:time v = sleep(0.4);\r")
        session.wait_for(lambda: re.search(r"0\.[45]\d\d s", session.screen.text()), "a time")


def a_pipe_is_a_script(place):
    for command in ([], ["-"]):
        done = subprocess.run([place.raddle, *command], input="trace(6 * 7);\n", capture_output=True, text=True,
                              cwd=place.folder, check=False, timeout=30)
        expect((done.stdout, done.returncode), ("trace: 42\n", 0), f"raddle {command} behind a pipe")


# what comes through a pipe, what is printed, what stands in errors in this order, exit code
PIPED = [
    ("trace(6 * 7);\n", "trace: 42\n", [], 0),
    ("", "", [], 0),
    ("int x = 3;\nx\n1 + 2 * x", "3\n7\n", [], 0),
    ("(int r) twice(int n) {\n  r = 2 * n;\n}\n\ntwice(\n  21)\n", "42\n", [], 0),
    ("int x = 3;\n:type x\n:vars\n:quit\nx\n", "int\nx : int = 3\n", [], 0),
    # an error is one of its entry; the others go on
    ("foo(1);\n1 + 1\nbar(2)\n2 + 2\n", "2\n4\n", ["repl:1:1: error: unknown function `foo`", "repl:3:1: error: unknown function `bar`"], 1),
    ("import assert; assert(false, \"no\");\n1 + 1\n", "2\n", ["repl:1:16: error: Assertion failed!: no"], 1),
    ("twice(\n", "", ["error"], 1),
    (":typ 3\n:reset\n4\n", "there is no command :typ; did you mean :type?\n4\n", [], 1),
    (":type zz\n", "", ["unknown variable `zz`"], 1),
    (":load none.df\n", "can not read `none.df`: no such file or directory\n", [], 1),
    # what takes long is waited for, before the next entry and at the end
    ("import sys;\n(void v) late() { sleep(0.4) => v = trace(\"late\"); }\nlate();\ntrace(\"next\");\nlate();\n",
     "trace: late\ntrace: next\ntrace: late\n", [], 0),
    ("float y;\nz = y * 2.0;\ny = 3.0;\n", "z : float, waiting for y (line 1)\nz = 6.0\n", [], 0),
    ("float y;\nz = y * 2.0;\n1 + 1\n", "z : float, waiting for y (line 1)\n2\n", ["repl:1:7: error: `y` is waited for, but nothing sets it"], 5),
    # programs do not take what is to come
    ("app (void v) reads() { \"cat\" }\nv = reads();\n1 + 1\n", "2\n", [], 0)]


def entries_come_through_a_pipe(place):
    for text, printed, errors, code in PIPED:
        done = subprocess.run([place.raddle, "repl", "--workers=2"], input=text, capture_output=True, text=True,
                              cwd=place.folder, env={**os.environ, **place.environment}, check=False, timeout=60)
        expect((done.stdout, done.returncode), (printed, code), f"{text!r}, with errors {done.stderr!r}")
        at = 0
        for error in errors:
            expect_in(error, done.stderr[at:], repr(text))
            at = done.stderr.find(error, at) + 1
        expect(done.stderr == "", not errors, f"errors of {text!r}: {done.stderr!r}")


def a_pipe_is_left_at_signals(place):
    for sent, code in ((signal.SIGINT, 130), (signal.SIGTERM, 75)):
        with subprocess.Popen([place.raddle, "repl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              cwd=place.folder, env={**os.environ, **place.environment}) as session:
            session.stdin.write("6 * 7\n")
            session.stdin.flush()
            expect(session.stdout.readline(), "42\n", "the answer while the pipe is open")
            session.send_signal(sent)
            expect(session.wait(20), code, f"exit code after {sent}")


TESTS = [ctrl_d_leaves, ctrl_c_clears_the_line, ctrl_c_ends_what_runs, ctrl_c_ends_endless_output,
         ctrl_c_ends_a_program, ctrl_c_ends_native_code,
         programs_do_not_take_what_is_typed, a_module_is_read_again_until_it_is_right, memory_is_bounded,
         background_output_leaves_the_prompt_whole, lines_of_a_program_stay_whole_above_the_prompt, entries_go_on_over_lines, pasted_lines_are_one_entry, history_stays,
         tab_completes, colours, wide_characters_and_wrapping, size_changes, what_does_not_come_back_keeps_no_session, sigterm_leaves_the_terminal_as_it_was,
         the_terminal_is_left_as_it_was_at_any_end, a_paste_without_end_ends, a_reset_after_an_endless_computation,
         saved_and_loaded, what_was_made_anew_is_saved_by_names_of_its_own,
         tasks_that_have_set_their_variables_do_not_run, a_script_is_loaded_first, time_is_told, a_pipe_is_a_script,
         entries_come_through_a_pipe, a_pipe_is_left_at_signals]


def main():
    parser = argparse.ArgumentParser(description="Tests the interactive session.")
    parser.add_argument("--raddle", default=ROOT / "build/raddle")
    parser.add_argument("--update-golden", action="store_true")
    parser.add_argument("filter", nargs="?", default="")
    arguments = parser.parse_args()
    failed = 0
    transcripts = [(path.stem, lambda place, p=path: play(place, p, arguments.update_golden))
                   for path in sorted(GOLDEN.glob("*.session"))]
    tests = transcripts + ([] if arguments.update_golden else [(test.__name__, test) for test in TESTS])
    tests = [(name, test) for name, test in tests if arguments.filter in name]
    for name, test in tests:
        try:
            test(Place(pathlib.Path(arguments.raddle).resolve()))
        except (Fault, AssertionError) as fault:
            failed += 1
            print(f"repl: {name}: {fault}")
    print(f"repl: {len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
