#!/usr/bin/env python3
"""What is made of the tool's command line: completions, the manual page; and `raddle doctor`, `cmake --install`.

    check_completions.py [--raddle PATH] [FILTER]

Completions of zsh and fish are tried where these are installed.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess

from folder_tests import ROOT, Fault, Folder, expect, expect_in, main

# A command line, and what it may go on with.
LINES = [
    ("raddle exp", ["explain"]),
    ("raddle run --em", ["--emit"]),
    ("raddle run --emit o", ["opt"]),
    ("raddle runs ", ["diff", "list", "logs", "rm", "show", "table"]),
    ("raddle runs logs --js", ["--json"]),
    ("raddle completions ", ["bash", "fish", "zsh"]),
    ("raddle sweep --progress ", ["auto", "none", "plain"]),
    ("raddle explain assigned_tw", ["assigned_twice"]),
    ("raddle run mod", ["model.df"]),
    ("raddle mod", ["model.df"]),
    ("raddle sweep -o mod", ["model.df"]),
    ("raddle graph --format s", ["svg"]),
]

BASH = """
source ./completions
words=("$@")
COMP_WORDS=("${words[@]}") COMP_CWORD=$(($# - 1))
_raddle
printf '%s\\n' "${COMPREPLY[@]}"
"""


def environment(folder):
    return {**os.environ, "PATH": f"{pathlib.Path(folder.raddle).parent}:{os.environ['PATH']}", "HOME": str(folder.path)}


def output_of(folder, words):
    done = subprocess.run(words, cwd=folder.path, env=environment(folder), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False, text=True)
    if done.stderr:
        raise Fault(f"{words}: {done.stderr}")
    return done.stdout


def prepare(folder, shell):
    """The lines that are completed, some by what is in the folder."""
    folder.write("model.df", "trace(1);\n")
    folder.write("completions", folder.run(f"completions {shell}").stdout)
    folder.run("sweep -p a=1 -- echo {a}")
    run = json.loads(folder.run("runs list --json").stdout)["runs"][0]["id"]
    return [*LINES, ("raddle report ", [run]), ("raddle runs show ", [run])]


def bash_completes(folder):
    lines = prepare(folder, "bash")
    folder.write("try.bash", BASH)
    for line, expected in lines:
        words = line.split(" ")
        expect((line, sorted(output_of(folder, ["bash", "try.bash", *words]).split())), (line, expected))


def fish_completes(folder):
    if shutil.which("fish") is None:
        return "fish is not installed"
    for line, expected in prepare(folder, "fish"):
        found = output_of(folder, ["fish", "--no-config", "-c", f"source completions; complete -C '{line}'"])
        expect((line, sorted(row.split("\t")[0] for row in found.splitlines())), (line, expected))
    return None


def zsh_reads_them(folder):
    if shutil.which("zsh") is None:
        return "zsh is not installed"
    prepare(folder, "zsh")
    expect(output_of(folder, ["zsh", "-f", "-n", "completions"]), "")
    return None


def manual_has_every_option(folder):
    page = folder.run("man").stdout
    plain = page.replace("\\-", "-")
    for verb in ("run", "check", "repl", "fmt", "explain", "doc", "sweep", "runs show", "runs diff", "rerun", "why", "report", "trace", "graph"):
        expect_in(f".SS raddle {verb}\n", plain)
        words = folder.run(f"{verb} --help").stdout
        for option in re.findall(r"^  (?:-\w,)?(--[a-z-]+)", words, re.MULTILINE):
            if option != "--help":
                section = plain.split(f".SS raddle {verb}\n")[1].split(".SS ")[0]
                expect((verb, option, f"\\fB{option}\\fR" in section), (verb, option, True))
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=60, check=True, text=True)
        expect(done.stderr, "")


def exit_codes_are_those_of_the_readme(folder):
    """The table of README.md says what the manual page does."""
    table = (ROOT / "README.md").read_text(encoding="utf-8").split("## Exit codes")[1].split("\n## ")[0].replace("\\|", "\0")
    rows = [[cell.strip().replace("\0", "|") for cell in line.split("|")[1:3]] for line in table.splitlines() if line.startswith("|")]
    section = folder.run("man").stdout.split(".SH EXIT STATUS\n")[1].split(".SH ")[0]
    page = section.replace("\\-", "-").replace("\\(ga", "`").replace("\\(aq", "'")
    entries = re.findall(r"\.TP\n\\fB(\d+)\\fR\n(.*)\.\n", page)
    expect([[code, meaning[0].lower() + meaning[1:]] for code, meaning in entries], rows[2:])


def doctor_finds(folder):
    report = json.loads(folder.run("doctor --json").stdout)
    found = {one["what"]: one for one in report["findings"]}
    expect((report["schema"], found["machine code"]["health"], found["record of runs"]["found"]),
           (1, "ok", "nothing was recorded in this folder yet"))
    folder.run("sweep -p a=1 -- echo {a}")
    expect_in("ok       record of runs        .raddle/runs.db, 1 run\n", folder.run("doctor").stdout)
    folder.write("in_the_way", "")
    folder.write(".raddle/runs.db", "no database, but text that is longer than a header of SQLite's, which has 100 bytes" * 3)
    told = folder.run("doctor", code=1, env={"PATH": "/nowhere", "XDG_CACHE_HOME": str(folder.path / "in_the_way"),
                                             "SWIFT_TMP": "/nowhere"}).stdout
    for line in ("warning  machine code's cache", "warning  record of runs", "warning  temporary files", "absent   Python", "absent   NumPy", "absent   graphviz",
                 "= help: apt-get install python3", "mkdir damaged && mv .raddle/runs.db* damaged/\n"):
        expect_in(line, told)


def installed_tool_runs(folder):
    build = pathlib.Path(folder.raddle).parent
    if not (build / "cmake_install.cmake").exists():
        return "not in a build folder"
    if shutil.which("ninja"):  # `./dev run` builds no more than this
        commands = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "raddle"], stdout=subprocess.PIPE, timeout=60, check=True,
                                  text=True)
        for file in ("raddle.1", "raddle.bash", "_raddle", "raddle.fish"):
            expect((file, f"/{file}" in commands.stdout), (file, True))
    subprocess.run(["cmake", "--install", str(build), "--prefix", str(folder.path / "there")], stdout=subprocess.DEVNULL, timeout=60, check=True)
    folder.write("hot.df", "@leaf (int s) f(int n) { for (s = 0, int i = 0; i < n; i = i + 1, s = s + i) {} }\ntrace(f(9));\n")
    tool = folder.path / "there" / "bin" / "raddle"
    done = Folder(str(tool), folder.path).run("run --stats --no-jit-cache hot.df", out="trace: 36\n")
    expect_in("leaves compiled 1\n", done.stderr)
    for file in ("man/man1/raddle.1", "bash-completion/completions/raddle", "zsh/site-functions/_raddle",
                 "fish/vendor_completions.d/raddle.fish"):
        expect((file, (folder.path / "there" / "share" / file).stat().st_size > 1000), (file, True))
    there = folder.path / "there"
    compiler = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "tasks.c", f"-I{there}/include", f"-L{there}/lib", "-lraddle_gemtc", f"-Wl,-rpath,{there}/lib", "-o", "tasks"]
    page = (ROOT / "gpu" / "README.md").read_text()
    program, printed = re.search(r"```c\n(.*?)```\n```\n(.*?)```\n", page, re.DOTALL).groups()
    folder.write("tasks.c", program)
    subprocess.run(compiler, cwd=folder.path, timeout=60, check=True)
    expect(subprocess.run(["./tasks"], cwd=folder.path, stdout=subprocess.PIPE, timeout=60, check=True, text=True).stdout, printed)
    return None


def bundle_runs_elsewhere(folder):
    """`./dev bundle`: of what is not in it, only glibc is needed."""
    if pathlib.Path(folder.raddle) != ROOT / "build" / "raddle":
        return "another tool than ./dev build makes"
    made = subprocess.run([str(ROOT / "dev"), "bundle"], stdout=subprocess.PIPE, timeout=300, check=True, text=True).stdout.strip()
    expect(pathlib.Path(made).stat().st_size < 60e6, True)
    subprocess.run(["tar", "-xzf", made, "-C", str(folder.path)], timeout=60, check=True)
    (there,) = folder.path.glob("raddle-*")
    for file in ("bin/raddle", "lib/raddle/libraddle_codegen.so"):
        listed = subprocess.run(["ldd", str(there / file)], stdout=subprocess.PIPE, timeout=60, check=True, text=True).stdout
        found = [line.split(" => ")[1].split(" ")[0] for line in listed.splitlines() if " => " in line]
        outside = sorted(pathlib.Path(one).name for one in found if not pathlib.Path(one).resolve().is_relative_to(there.resolve()))
        expect(outside, ["libc.so.6", "libm.so.6"])
    bare = {"PATH": "/usr/bin:/bin", "HOME": str(folder.path)}
    expect(subprocess.run([str(there / "bin/raddle"), "examples/primes.df", "--limit=1000"], cwd=there, env=bare, stdout=subprocess.PIPE, timeout=60,
                          check=True, text=True).stdout, "168 primes below 1000\n")
    told = subprocess.run([str(there / "gpu-check"), "golden", "--filter=primes"], cwd=there, env=bare, stdout=subprocess.PIPE, timeout=300, check=True, text=True).stdout
    done = subprocess.run([str(there / "gpu-check")], env={"PATH": "/nowhere"}, capture_output=True, timeout=60, check=False, text=True)
    expect((done.returncode, done.stdout, done.stderr), (1, "", "gpu-check: it needs python3, which is not on the PATH\n"))
    if "no driver for GPUs" not in told:  # on a machine with one
        expect_in("golden scripts and examples", told)
    return None


def errors(folder):
    folder.run("completions", code=2, err="SHELL is required")
    folder.run("completions tcsh", code=2, err="tcsh not in {bash,fish,zsh}")
    folder.run("doctor now", code=2, err="raddle doctor --help")
    folder.run("man raddle", code=2, err="raddle man --help")


TESTS = [bash_completes, fish_completes, zsh_reads_them, manual_has_every_option,
         exit_codes_are_those_of_the_readme, doctor_finds, installed_tool_runs, bundle_runs_elsewhere, errors]


if __name__ == "__main__":
    main("completions", "Tests what is made of the command line.", TESTS)
