#!/usr/bin/env python3
"""The scripts in grammar/language.md print what stands below them; lines may come in another order. They stand as
`raddle fmt` writes them. Those with functions in R are left out where there is no Rscript."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "grammar/language.md"
RADDLE = ROOT / "build" / "raddle"
TIMEOUT_S = 60


def fault_of(script, expected, files):
    """`files`: name and text of those that stand on the page."""
    with tempfile.TemporaryDirectory(prefix="raddle-tour-") as folder:
        for name, text in files:
            pathlib.Path(folder, name).write_text(text, encoding="utf-8")
        pathlib.Path(folder, "script.df").write_text(script, encoding="utf-8")
        done = subprocess.run([RADDLE, "run", "--no-jit-cache", "script.df"], cwd=folder,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, check=False, text=True)
    if done.returncode != 0 or done.stderr:
        return f"ends with {done.returncode}: {done.stderr}"
    if sorted(done.stdout.splitlines()) != sorted(expected.splitlines()):
        return f"prints {done.stdout!r}"
    formatted = subprocess.run([RADDLE, "fmt", "-"], input=script, capture_output=True, check=True, text=True).stdout
    return None if formatted == script else f"is formatted as {formatted}"


def main():
    page = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```raddle\n(.*?)^```\n```\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    files = re.findall(r"^```(?:cpp|python|r)\n(?://|#) (\S+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    run = [block for block in blocks if '@r="' not in block[0] or shutil.which("Rscript")]
    failed = [f"{script}{fault}" for script, expected in run if (fault := fault_of(script, expected, files))]
    if len(blocks) != page.count("```raddle"):
        failed.append("a script without its output")
    for fault in failed:
        print("tour:", fault)
    print(f"tour: {max(len(run) - len(failed), 0)} passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
