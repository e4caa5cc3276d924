#!/usr/bin/env python3
"""`raddle fmt` changes blanks and nothing else, and once is enough.

    check_fmt.py [--seed N] [--show PATH]

Every script of the repository that parses is formatted as it is, and a third of them, other ones for each seed, with
their blanks thrown about. After both: formatting again changes nothing, the words, signs, strings and comments are the
same in the same order, and so is the syntax tree.
The examples and the library's modules lie formatted in the repository.
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RADDLE = ROOT / "build" / "raddle"
FOLDERS = ("examples", "stdlib", "tests")
HELD_FORMATTED = ("examples", "stdlib")
REFUSED = ("preprocessor_conditions.df",)  # a lonely quote in a branch that is left out
REFUSAL = re.compile(r"^(\S+?):\d+:\d+: error: not supported yet: formatting", re.MULTILINE)
SPELLING = re.compile(r"__LINE__|#\w+\s*[,)]")   # macros that see where and how something is written
TIMEOUT_S = 60
TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<hash>\#(?:\\\r?\n|[^\n])*)
      |(?P<string>\"\"\"\r?\n(?:\\.|[^\\])*?\"\"\"|----\r?\n(?:\\.|[^\\])*?----|"(?:\\.|[^"\\])*")
      |(?P<word>[A-Za-z0-9_]+(?:\.[0-9]+)?(?:(?<=[eE])[+-][0-9]+)?)
      |(?P<sign>\|\||&&|==|!=|<=|>=|%/|%%|\*\*|\+=|:=|=>|\.\.\.|[^\s\w])""", re.VERBOSE | re.DOTALL)


def raddle(*arguments, cwd=None):
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "dumb"}
    return subprocess.run([RADDLE, *map(str, arguments)], cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=TIMEOUT_S, check=False)


def tokens(text):
    """[(kind, text)..] of a script: written anew here, so that a fault of the tool's lexer shows."""
    return [(m.lastgroup, re.sub(r"\s+", " ", m[0]).strip() if m.lastgroup == "comment" else m[0])
            for m in TOKEN.finditer(text.removeprefix("\ufeff").replace("\r", ""))]


def tree(path):
    """The syntax tree, or None if the script does not parse."""
    done = raddle("run", "--emit=ast", path.name, cwd=path.parent)
    return done.stdout if done.returncode == 0 else None


def scrambled(text, dice):
    """The script with other blanks. Where they mean something they stay: beside comments, words of a command line."""
    if SPELLING.search(text):
        return text
    out, end, previous = [], 0, None
    for match in TOKEN.finditer(text):
        gap = text[end:match.start()]
        fixed = previous is None or "comment" in (previous.lastgroup, match.lastgroup) or \
            "hash" in (previous.lastgroup, match.lastgroup)
        if not fixed and gap:
            if (previous[0] in ",;{}" or match[0] in ",;{}") and dice.random() < 0.3:
                gap = ""
            else:
                gap = dice.choice([gap, " ", "\n", "   ", "\t", "\n\n\n", " \n  "])
        elif not fixed and (previous[0] in (",", ";", "(") or match[0] in (",", ";", ")")):
            gap = dice.choice(["", "", "", " ", "\n", "\n\n "])
        out += [gap, match[0]]
        end, previous = match.end(), match
    return "".join(out) + text[end:]


def faults_of_all(folder):
    """Formats all scripts below `folder` at once, and looks at each. (number of scripts, faults)"""
    scripts = sorted(folder.rglob("*.df"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        trees = dict(zip(scripts, pool.map(tree, scripts)))
        scripts = [path for path in scripts if trees[path] is not None]
        before = {path: path.read_bytes() for path in scripts}
        done = raddle("fmt", *scripts)
        refused = REFUSAL.findall(done.stderr.decode())
        scripts = [path for path in scripts if str(path) not in refused]
        if {pathlib.Path(path).name for path in refused} - set(REFUSED) or done.returncode != (3 if refused else 0):
            errors = [line for line in done.stderr.decode(errors="replace").splitlines() if "error: " in line]
            return len(scripts), [f"raddle fmt ends with {done.returncode}: {errors}"]
        after = {path: path.read_bytes() for path in scripts}
        again = raddle("fmt", "--check", *scripts)
        faults = [f"{path}: formatting again changes it" for path in again.stdout.decode().split()]
        changed = [path for path in scripts if before[path] != after[path]]
        for path in changed:
            if tokens(before[path].decode()) != tokens(after[path].decode()):
                faults.append(f"{path}: more than blanks has changed")
        for path, new in zip(changed, pool.map(tree, changed)):
            if new != trees[path]:
                faults.append(f"{path}: the syntax tree has changed")
    return len(scripts), faults


def copy_scripts(folder, change):
    """A copy of all scripts and what they include; those for which `change` gives None are left out."""
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.out", "*.err", "*.py", "*.cpp"))
    for path in folder.rglob("*.df"):
        try:
            text = change(path.read_bytes().decode())
            if text is None:
                path.unlink()
            else:
                path.write_bytes(text.encode())
        except UnicodeDecodeError:
            path.unlink()


def faults_of_commands(folder):
    """What the options of `raddle fmt` do, and how it ends."""
    good, bad, broken = folder / "good.df", folder / "bad.df", folder / "broken.df"
    good.write_text("trace(1);\n")
    bad.write_text("trace( 1 );\n")
    bad.chmod(0o640)
    broken.write_text("trace(1;\n")
    blank = folder / "blank.df"
    blank.write_text("trace(1);\n \ntrace(2);\n")
    lines = [f"trace({i});\n" for i in range(1, 21)]
    long = folder / "long.df"
    long.write_text("".join(lines).replace("(2)", "( 2 )").replace("(18);", "(18)\n  \n;"))
    blank_hunk = "@@ -1,3 +1,3 @@\n trace(1);\n- \n+\n trace(2);\n"
    hunks = [f"@@ -1,5 +1,5 @@\n {lines[0]}-trace( 2 );\n+{lines[1]} " + " ".join(lines[2:5]),
             f"@@ -15,8 +15,6 @@\n {' '.join(lines[14:17])}-trace(18)\n-  \n-;\n+{lines[17]} {' '.join(lines[18:])}"]
    link = folder / "link.df"
    link.symlink_to("bad.df")
    cases = [
        (["--check", good], 0, ""),
        (["--check", good, bad], 1, f"{bad}\n"),
        (["--diff", bad], 0, f"--- {bad}\n+++ {bad} (formatted)\n@@ -1,1 +1,1 @@\n-trace( 1 );\n+trace(1);\n"),
        (["--diff", blank], 0, f"--- {blank}\n+++ {blank} (formatted)\n{blank_hunk}"),
        (["--diff", long], 0, f"--- {long}\n+++ {long} (formatted)\n" + "".join(hunks)),
        (["--check", "--diff", good], 0, ""),
        (["--stdout", bad], 0, "trace(1);\n"),
        ([broken], 3, ""),
        (["--check", bad, broken], 3, f"{bad}\n"),
        ([folder / "missing.df"], 2, ""),
        ([], 2, ""),
        (["--tabs", good], 2, ""),
    ]
    for arguments, code, out in cases:
        done = raddle("fmt", *arguments)
        if (done.returncode, done.stdout.decode()) != (code, out):
            yield f"raddle fmt {' '.join(map(str, arguments))}: {done.returncode}, {done.stdout.decode()!r}"
        if (done.returncode > 1) != bool(done.stderr):
            yield f"raddle fmt {' '.join(map(str, arguments))}: says {done.stderr.decode()!r}"
    if bad.read_text() != "trace( 1 );\n" or broken.read_text() != "trace(1;\n":
        yield "a file was written that should not be"
    piped = subprocess.run([RADDLE, "fmt", "-"], input=b"trace( 2 );", capture_output=True, check=False)
    if (piped.returncode, piped.stdout) != (0, b"trace(2);\n"):
        yield f"raddle fmt -: {piped}"
    full = subprocess.run(["sh", "-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\" 2>&1 | cat", "sh", RADDLE, "fmt", bad], capture_output=True, check=False)
    if full.stdout.decode() != f"raddle: can not write `{bad}`: file too large\n" or bad.read_text() != "trace( 1 );\n":
        yield f"raddle fmt where nothing can be written: {full.stdout.decode()!r}"
    raddle("fmt", link)
    if bad.read_text() != "trace(1);\n" or not link.is_symlink() or bad.stat().st_mode & 0o777 != 0o640:
        yield "formatting through a link: text, link or mode are not as they should be"
    if len(list(folder.iterdir())) != 6:
        yield "temporary files are left"


def main():
    parser = argparse.ArgumentParser(description="Tests raddle fmt on all scripts of the repository.")
    parser.add_argument("--seed", type=int, default=1, help="of the blanks that are thrown about")
    parser.add_argument("--show", metavar="PATH", help="print this script with its blanks thrown about, and stop")
    options = parser.parse_args()
    if options.show:
        path = pathlib.Path(options.show)
        print(scrambled(path.read_text(), random.Random(options.seed)), end="")
        return
    if not os.access(RADDLE, os.X_OK):
        sys.exit(f"fmt: {RADDLE} is not there: ./dev build")

    def scrambled_third(text):
        dice = random.Random(f"{options.seed} {len(text)}")
        return scrambled(text, dice) if dice.random() < 1 / 3 else None

    faults, count = [], 0
    for change in (lambda text: text, scrambled_third):
        with tempfile.TemporaryDirectory(prefix="raddle-format-") as folder:
            copy_scripts(pathlib.Path(folder), change)
            number, some = faults_of_all(pathlib.Path(folder))
            count += number
            faults += some
    with tempfile.TemporaryDirectory(prefix="raddle-format-") as folder:
        some = list(faults_of_commands(pathlib.Path(folder)))
        count += 1
        faults += some
    held = [path for name in HELD_FORMATTED for path in sorted((ROOT / name).rglob("*.df"))]
    done = raddle("fmt", "--check", *held)
    count += len(held)
    faults += [f"{path} is not as raddle fmt would have it" for path in done.stdout.decode().split()]
    for fault in faults:
        print("fmt:", fault)
    print(f"fmt: {max(count - len(faults), 0)} passed, {len(faults)} failed")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
