#!/usr/bin/env python3
"""Settings: configuration files, profiles, RADDLE_* of the environment. Each test has a folder of its own.

    check_settings.py [--raddle PATH] [FILTER]
"""

import json
import os
import re

from folder_tests import Fault, expect, expect_in, main
from sweep_folder import SweepFolder

WORKERS = 'import sys;\ntrace(turbine_workers());\n'


class SettingsFolder(SweepFolder):
    """With a user's configuration of its own."""

    def __init__(self, raddle, path):
        super().__init__(raddle, path)
        self.write("workers.df", WORKERS)

    def run(self, line, code=0, out=None, err="", env=None):
        return super().run(line, code, out, err, {"XDG_CONFIG_HOME": str(self.path / "home"), **(env or {})})

    def write(self, name, text):
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        super().write(name, text)

    def user(self, text):
        self.write("home/raddle/config.toml", text)

    def project(self, text):
        self.write("raddle.toml", text)


def precedence(folder):
    """Flag, environment, profile, project, user."""
    cores = folder.run("run workers.df").stdout
    folder.user("workers = 7\n[profile.many.run]\nworkers = 4\n")
    folder.run("run workers.df", out="trace: 7\n")
    folder.run("workers.df", out="trace: 7\n")
    folder.project("workers = 6\n")
    folder.run("run workers.df", out="trace: 6\n")
    folder.project("workers = 6\n[run]\nworkers = 5\n[repl]\nworkers = 9\n")
    folder.run("run workers.df", out="trace: 5\n")
    folder.run("run --profile many workers.df", out="trace: 4\n")
    folder.run("run workers.df", out="trace: 4\n", env={"RADDLE_PROFILE": "many"})
    folder.run("run --profile many workers.df", out="trace: 3\n", env={"RADDLE_WORKERS": "3"})
    folder.run("run --profile many --workers 2 workers.df", out="trace: 2\n", env={"RADDLE_WORKERS": "3"})
    folder.run("--workers 2 run workers.df", out="trace: 2\n", env={"RADDLE_WORKERS": "3"})
    folder.run("run workers.df", out="trace: 5\n", env={"RADDLE_WORKERS": ""})
    folder.user("")
    folder.project("")
    folder.run("run workers.df", out=cores)


def nearest_project(folder):
    """raddle.toml of the nearest folder above; what it names lies beside it."""
    folder.write("lib/helper.df", "int N = 3;\n")
    folder.write("other/extra.df", "int M = 4;\n")
    folder.project('include = ["lib"]\n')
    folder.write("a/b/user.df", "import helper;\nimport extra;\ntrace(N, M);\n")
    inner = SettingsFolder(folder.raddle, folder.path / "a" / "b")
    for way in (["-I", "../../other"], ["--include", "../../other"]):
        inner.run(f"run {' '.join(way)} user.df", out="trace: 3,4\n")
    inner.run("run user.df", out="trace: 3,4\n", env={"RADDLE_INCLUDE": f"/nowhere:{folder.path}/other"}, err="/nowhere")
    inner.run("-I ../../other run user.df", out="trace: 3,4\n")
    inner.run("-I ../../other user.df", out="trace: 3,4\n")
    inner.run("check -I ../../other user.df")
    inner.run("graph -I ../../other user.df")
    inner.write("sweep.df", "import helper;\n@param int n = 1;\n@result int y = n * N;\n")
    expect(inner.column("sweep sweep.df -p n=1,2", "y"), ["3", "6"])
    inner.project("")
    inner.run("check -I ../../other user.df", code=3, err="helper")


def foreign_project_is_passed_over(folder):
    """One that somebody else has put where everybody may write, as into /tmp."""
    if os.getuid() != 0:
        return "needs root"
    folder.project("workers = 77\n")
    below = SettingsFolder(folder.raddle, folder.path / "below")
    line, path = f"run {folder.path}/below/workers.df", folder.path / "raddle.toml"

    def passes_over(place, what):
        expect(place.run(line, err=f"raddle: warning: `{path}` {what}: it is passed over\n").stdout
               == "trace: 77\n", False)

    below.run(line, out="trace: 77\n")
    path.chmod(0o666)
    passes_over(below, "may be written by everybody")
    path.chmod(0o644)
    os.chown(path, 12345, -1)
    folder.run(line, out="trace: 77\n")  # who works in his folder means it
    passes_over(below, "is of another user")
    (folder.path).chmod(0o1777)
    below.run("run --workers 77 workers.df", out="trace: 77\n")
    for place in (below, folder):  # below it, and in the folder itself
        passes_over(place, "is of another user")
    below.project("workers = 78\n")
    below.run(line, out="trace: 78\n")
    os.chown(below.path / "raddle.toml", 12345, -1)
    below.path.chmod(0o1777)
    passes_over_both = below.run(line).stderr
    expect(passes_over_both.count("is of another user: it is passed over"), 2)
    return None


def lists_and_flags(folder):
    folder.project("include = []\n")
    folder.run("run workers.df")
    folder.write("fails.df", "import sys;\ntrace(1 %/ argc());\nsleep(0.3) => trace(\"after\");\n")
    folder.run("run fails.df", code=1, out="")
    folder.project("keep-going = true\n")
    folder.run("run fails.df", code=1, out="trace: after\n")
    folder.run("run fails.df", code=1, out="", env={"RADDLE_KEEP_GOING": "0"})
    folder.user("keep-going = true\n")
    folder.project("keep-going = false\n")  # takes back what the user's file says
    folder.run("run fails.df", code=1, out="")
    folder.run("run fails.df", code=1, out="trace: after\n", env={"RADDLE_KEEP_GOING": "true"})
    folder.run("run fails.df", code=2, err="in the environment, `RADDLE_KEEP_GOING=perhaps`", env={"RADDLE_KEEP_GOING": "perhaps"})


def sweeps(folder):
    """A table for the verb; what a run was told by its command line counts when it is gone on with, not what settings say now."""
    folder.project('jobs = 3\n[sweep]\nmax-fails = 1\nprogress = "none"\nretries = 0\n[profile.strict]\nmax-fails = "0"\n')
    command = "-- sh -c 'exit {a}'"
    folder.run(f"sweep -j1 -p a=0,1,2,3 {command}", code=75, err="2 failed")
    folder.run(f"sweep -j1 -p a=0,1,2,3 --max-fails 9 {command}", code=4, err="3 failed")
    folder.run("rerun --failed", code=4, err="3 failed")
    folder.run(f"sweep -j1 -p a=0,1,2,3 --profile strict {command}", code=75, err="1 failed")
    folder.run("rerun --failed --all", code=2, err="excludes")
    folder.run("sweep --resume", code=75, err="1 failed")
    folder.run("rerun --profile strikt", code=2, err="no profile is called `strikt`; did you mean `strict`?")
    folder.run("sweep -p a=1 -- sleep 3", code=4, err="1 failed", env={"RADDLE_TIMEOUT": "0.1"})


def no_cache_is_recorded(folder):
    """A run that was to take nothing, by a setting, is gone on with from what it has done itself."""
    command = "-- sh -c 'echo {a} >> begun; test {a} -ne $(cat ends)'"
    folder.write("ends", "9")
    folder.run(f"sweep -p a=1:3 -j1 {command}")
    folder.write("ends", "2")
    folder.run(f"sweep -p a=1:3 -j1 --max-fails 0 {command}", code=75, env={"RADDLE_NO_CACHE": "1"})
    folder.write("ends", "9")
    folder.write("begun", "")
    folder.run("sweep --resume --max-fails 9", err="3 points, 1 from the record")
    expect(folder.read("begun").split(), ["2", "3"])
    folder.run("sweep --resume", err="3 points, 3 from the record", env={"RADDLE_NO_CACHE": "1"})
    folder.run(f"sweep -p a=1:3 -j1 {command}", err="3 points, 3 from the record", env={"RADDLE_NO_CACHE": "no"})


MISTAKES = [
    ("worker = 3\n", "raddle.toml:1:1: error: no setting is called `worker`\n  1 | worker = 3\n    | ^\n    = help: did you mean `workers`?\n"),
    ("\n[run]\nworkers = 'x'\n", "raddle.toml:3:11: error: `workers` takes a whole number\n  3 | workers = 'x'\n    |           ^\n"),
    ("workers = 0\n", "raddle.toml:1:11: error: Value 0 not in range 1 to 4096\n"),
    ("keep-going = 1\n", "raddle.toml:1:14: error: `keep-going` takes true or false\n"),
    ("workers = [1]\n", "raddle.toml:1:11: error: `workers` takes a whole number\n"),
    ("include = [1]\n", "raddle.toml:1:11: error: `include` takes a string in quotes, or a list"),
    ("scheduler = 'lifo'\n", "raddle.toml:1:13: error: "),
    ("seed = 3\n", "no setting is called `seed`\n  1 | seed = 3\n    | ^\n    = help: `raddle man` lists the settings; other options stand on"),
    ("[check]\nworkers = 3\n", "raddle.toml:2:1: error: `raddle check` has no option `--workers`"),
    ("[sweeps]\njobs = 3\n", "did you mean `sweep`?"),
    ("timeout = 3\n", "raddle.toml:1:1: error: `timeout` says something else to each verb\n  1 | timeout = 3\n    | ^\n    = help: it belongs into [run] or [sweep]"),
    ("[rerun]\njobs = 3\n", "it runs a sweep again, and goes by `[sweep]`"),
    ("[profile.a.run.b]\njobs = 3\n", "`b` is neither a verb"),
    ("profile = 'a'\n", "raddle.toml:1:1: error: a profile is a table"),
    ("[profile]\nslurm = 3\n", "raddle.toml:2:1: error: a profile is a table"),
    ("[profile.slurm]\njob = 3\n", "raddle.toml:2:1: error: no setting is called `job`\n  2 | job = 3\n    | ^\n    = help: did you mean `jobs`?"),
    ("jobs = 3\n# größer\n'größe' = \n", "raddle.toml:3:"),
    ("jobs = 3\njobs = 4\n", "raddle.toml:2:8: error: cannot redefine existing integer 'jobs'\n"),
]


def mistakes(folder):
    """All of them are errors of the command line, whatever verb is typed."""
    for text, expected in MISTAKES:
        folder.project(text)
        expect_in(expected, folder.run("run workers.df", code=2, out="").stderr)
    folder.project("jobs = 0\n")
    folder.run("run workers.df")  # of a verb that has no such option
    folder.run("sweep -p a=1 -- echo", code=2, err="raddle.toml:1:8: error: Value 0 not in range 1 to 100000")
    folder.run("sweep -j1 -p a=1 -- echo")
    folder.project("")
    folder.user("\n\nx = 1\n")
    folder.run("run workers.df", code=2, err=f"{folder.path}/home/raddle/config.toml:3:1: error: no setting is called `x`")
    folder.user("")
    folder.run("run workers.df", code=2, err="in the environment, `RADDLE_WORKERS=many`: ", env={"RADDLE_WORKERS": "many"})
    folder.run("run workers.df", err="sets nothing; did you mean `RADDLE_WORKERS`?", env={"RADDLE_WROKERS": "2"})
    folder.run("run workers.df", err="in the environment, `RADDLE_SEED` sets nothing: `--seed` stands on the command line only", env={"RADDLE_SEED": "2"})
    expect(folder.run("run workers.df", env={"RADDLE_HOME": "/opt/raddle"}).stderr, "")
    folder.run("run --profile slurm workers.df", code=2, err="no profile is called `slurm`\n  = help: it is a table [profile.slurm] in")
    folder.project("[profile.slurm]\n[profile.local]\n")
    folder.run("run --profile slrum workers.df", code=2, err="did you mean `slurm`?\n  = help: there are: slurm, local")
    folder.run("run workers.df", code=2, err="did you mean `slurm`?", env={"RADDLE_PROFILE": "slrum"})
    folder.run("run --profile slurm workers.df")


def doctor_tells(folder):
    def found(env=None, code=0):
        report = json.loads(folder.run("doctor --json", env=env, code=code).stdout)
        return next(one for one in report["findings"] if one["what"] == "settings")
    expect_in("none; not there: raddle.toml, ", found()["found"])
    expect_in(f"{folder.path}/home/raddle/config.toml, /etc/raddle/config.toml", found()["found"])
    folder.project("")
    expect_in("RADDLE_JOBS=4, raddle.toml; not there: ", found({"RADDLE_JOBS": "4"})["found"])
    folder.project("jbs = 3\n")
    expect((found(code=1)["health"], found(code=1)["found"]), ("warning", "raddle.toml:1:1: error: no setting is called `jbs`"))


def manual_is_true(folder):
    """Each verb has the options that the manual says are its settings."""
    page = folder.run("man").stdout.replace("\\-", "-").split(".SH SETTINGS\n")[1].split(".SH ")[0]
    entries = re.findall(r"\\fB--([a-z-]+)\\fR: (.*)", page)
    if len(entries) < 10:
        raise Fault(f"{len(entries)} settings")
    for name, verbs in entries:
        for verb in verbs.split(", "):
            expect_in(f"--{name}", folder.run(f"{verb} --help").stdout)


TESTS = [precedence, nearest_project, foreign_project_is_passed_over, lists_and_flags, sweeps, no_cache_is_recorded, mistakes,
         doctor_tells, manual_is_true]


if __name__ == "__main__":
    main("settings", "Tests configuration files, profiles and RADDLE_* variables.", TESTS, SettingsFolder)
