#!/usr/bin/env python3
"""Functions in R that a script declares: sweeps, sessions, folders, ends. Only where there is an Rscript.

    check_r.py [--raddle PATH] [FILTER]
"""

import pathlib
import shutil
import signal
import subprocess

from folder_tests import Fault, Folder, expect, expect_in, main, wait_for

MODES = ("", "-O0 ", "--interpret ", "--workers=1 ", "--workers=8 ", "--gpus=simulated:whole ", "--memory=64M ")
MODEL = """twice <- function(x) 2 * x
inverse <- function(x) if (x == 0) stop("no inverse") else 1 / x
say <- function(text) cat(text, "\\n", sep = "")
wait <- function(path) { cat(Sys.getpid(), file = path); Sys.sleep(600) }
close_all <- function() { closeAllConnections(); 1 }
"""
ARRAYS = """import arrays;
@r="model.R:twice" (float y[n, m]) twice(float x[n, m]);
float x[:, :] = reshape(linspace(0.0, 1.0, 60000), 200, 300);
float y[:, :] = twice(twice(x));
trace(all(y == 4.0 * x), shape(y), sum(y) == 4.0 * sum(x));
"""
TWICE = '@r="model.R:twice" (float y) twice(float x);\n'


class RFolder(Folder):
    def __init__(self, raddle, path):
        super().__init__(raddle, path)
        self.write("model.R", MODEL)


def without_r(folder):
    folder.write("a.df", TWICE + 'trace("before", twice(2.5));\ntrace("other");\n')
    told = folder.run("run --keep-going a.df", 1, "trace: other\n", env={"PATH": "/nowhere"}).stderr
    expect_in("a.df:1:30: error: `twice`: `Rscript` could not be started", told)
    expect_in("is R (Debian: r-base-core) installed?", told)


def arrays_in_all_modes(folder):
    folder.write("a.df", ARRAYS)
    for mode in MODES:
        folder.run(f"run {mode}a.df", 0, "trace: 1,[200, 300],1\n")


def texts_without_a_locale(folder):
    folder.write("a.df", '@r="model.R:say" say(string text);\nsay("é");\n')
    folder.run("run a.df", 0, "é\n", env={"LC_ALL": "C"})


def files_lie_beside_the_script(folder):
    """Wherever the run is, and each beside the file that declares it."""
    folder.write("parts/other.R", 'source("shared.R", local = TRUE)\nhalf <- function(x) x / two\n')
    folder.write("parts/shared.R", "two <- 2\n")
    folder.write("parts/model.R", "twice <- function(x) 3 * x\n")
    folder.write("parts/b.df", '@r="other.R:half" (float y) half(float x);\n@r="model.R:twice" (float y) twice_of_b(float x);\n')
    folder.write("a.df", TWICE + 'import "parts/b";\ntrace(twice(1.0), half(1.0), twice_of_b(1.0));\n')
    folder.run("run --workers=1 a.df", 0, "trace: 2.0,0.5,3.0\n")
    folder.write("parts/c.df", TWICE + "trace(twice(1.0));\n")
    folder.run("run parts/c.df", 0, "trace: 3.0\n")
    folder.write("d.df", f'@r="{folder.path}/model.R:twice" (float y) twice(float x);\ntrace(twice(1.0));\n')
    folder.run("run d.df", 0, "trace: 2.0\n")


def edited_file_runs_points_again(folder):
    folder.write("a.df", "@param float x = 1.0;\n" + TWICE + "@result float r = twice(x);\n")
    expect(folder.run("sweep -q -p x=1:3 -o -  a.df").stdout.splitlines()[1][:9], "1,2.0,ok,")
    folder.write("model.R", MODEL.replace("2 * x", "5 * x"))
    expect(folder.run("sweep -q -p x=1:3 -o -  a.df").stdout.splitlines()[1][:9], "1,5.0,ok,")


def failed_points_of_a_sweep(folder):
    folder.write("a.df", '@param float x = 1.0;\n@r="model.R:inverse" (float y) inverse(float x);\n@result float r = inverse(x);\n')
    rows = folder.run("sweep -q -p x=-1:1 -o - a.df", 4).stdout.splitlines()
    expect([row.split(",")[:3] for row in rows[1:]], [["-1", "-1.0", "ok"], ["0", "", "failed"], ["1", "1.0", "ok"]])
    expect_in("no inverse", rows[2])


def edited_file_is_computed_again(folder):
    folder.write("a.df", TWICE + "@memo (float y) kept(float x) { y = twice(x); }\ntrace(kept(2.0));\n")
    told = folder.run("run a.df", 0, "trace: 4.0\n", "[memo_effect]").stderr
    expect_in("`twice` runs code of which only the text is known", told)
    folder.run("run a.df", 0, "trace: 4.0\n")
    folder.write("model.R", MODEL.replace("2 * x", "5 * x"))
    folder.run("run a.df", 0, "trace: 10.0\n")


def session_calls_r(folder):
    lines = [TWICE.strip(), "trace(twice(3.0));", "import arrays;", '@r="model.R:twice" (float y[n]) twice_all(float x[n]);',
             "trace(sum(twice_all(full(1.5, 20000))));"]
    done = subprocess.run([folder.raddle], cwd=folder.path, input="\n".join(lines) + "\n", text=True, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    for shown in ("6.0", "60000.0"):
        expect_in(shown, done.stdout)


def connections_that_the_function_closes(folder):
    """Those of the process are among them."""
    folder.write("a.df", '@r="model.R:close_all" (float y) close_all();\ntrace(close_all());\n')
    expect_in("`close_all`: Rscript: it ended with exit code 1", folder.run("run a.df", 1, "").stderr)


def interrupt_ends_the_process(folder):
    folder.write("a.df", '@r="model.R:wait" (void v) wait_for(string path);\nwait_for("here");\n')
    run = folder.start("run a.df")
    there = folder.path / "here"
    wait_for(lambda: there.exists() and there.read_text(encoding="ascii"), "the call")
    pid = int(there.read_text(encoding="ascii"))
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=20)
    if run.returncode == 0:
        raise Fault("the run has ended well")
    wait_for(lambda: not pathlib.Path(f"/proc/{pid}").exists() or "Z" in pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").split()[2],
             "the end of the process")


WITH_R = [
    arrays_in_all_modes,
    texts_without_a_locale,
    files_lie_beside_the_script,
    edited_file_runs_points_again,
    failed_points_of_a_sweep,
    edited_file_is_computed_again,
    session_calls_r,
    connections_that_the_function_closes,
    interrupt_ends_the_process,
]


if __name__ == "__main__":
    main("r", "Tests functions in R that a script declares.", [without_r, *(WITH_R if shutil.which("Rscript") else [])], RFolder)
