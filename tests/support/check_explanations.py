#!/usr/bin/env python3
"""compiler/diagnostics/explanations.md says of each kind of kinds.def what it means, and its scripts tell the truth.

The first script of a section reports the section's code, the last one reports nothing. See the top of that page for how
scripts are marked.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "compiler/diagnostics/explanations.md"
RADDLE = ROOT / "build" / "raddle"
TIMEOUT_S = 60


def sections():
    """{code: [(mark, script)..]}: mark is "check", "run" or "unchecked"."""
    found = {}
    for section in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        heading, _, body = section.partition("\n")
        code, colon, _ = heading.partition(": ")
        if not colon or code in found:
            sys.exit(f"explanations: `## {heading}`: a heading is `## CODE: what is wrong`, and each code has one section")
        found[code] = [(mark or "check", script)
                       for mark, script in re.findall(r"^```raddle ?(\w*)\n(.*?)^```$", body, re.MULTILINE | re.DOTALL)]
    return found


def codes_of(mark, script):
    """Codes that a script reports, or what went wrong instead."""
    with tempfile.TemporaryDirectory(prefix="raddle-explain-") as folder:
        path = pathlib.Path(folder, "script.df")
        path.write_text(script, encoding="utf-8")
        environment = {**os.environ, "NO_COLOR": "1", "TERM": "dumb", "XDG_CACHE_HOME": folder}
        try:
            done = subprocess.run([RADDLE, mark, path.name], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired:
            return [f"still running after {TIMEOUT_S} s"]
    text = done.stderr.decode(errors="replace")
    codes = re.findall(r"^script\.df:\S+ (?:error|warning): .*\[(\w+)\]$", text, re.MULTILINE)
    return codes or ([text.strip()] if text or done.returncode else [])


def faults_of(code, scripts):
    if len(scripts) < 2:
        return [f"`{code}`: the page has no script that provokes it and one that mends it"]
    faults = []
    for number, wanted in ((0, [code]), (-1, [])):
        mark, script = scripts[number]
        if mark not in ("check", "run", "unchecked"):
            faults.append(f"`{code}`: a script is marked run, unchecked or not at all, not {mark}")
        elif mark != "unchecked" and sorted(set(codes_of(mark, script))) != wanted:
            which = "first" if number == 0 else "last"
            faults.append(f"`{code}`: the {which} script reports {codes_of(mark, script) or 'nothing'}")
    return faults


def explain(*codes):
    return subprocess.run([RADDLE, "explain", *codes], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False)


def faults_of_command(explained):
    """What `raddle explain` says, and how it ends."""
    listed = explain()
    if listed.returncode or [line.split()[0] for line in listed.stdout.splitlines()] != list(explained):
        yield "`raddle explain` does not list the codes of the page"
    one = explain("[assigned_twice]")
    if one.returncode or not one.stdout.startswith("assigned_twice: ") or "    total = 2;\n" not in one.stdout:
        yield "`raddle explain [assigned_twice]` does not print that section"
    wrong = explain("asigned_twice")
    if wrong.returncode != 2 or wrong.stdout or "did you mean `assigned_twice`?" not in wrong.stderr:
        yield "`raddle explain asigned_twice` is no usage error with a suggestion"


def main():
    if not os.access(RADDLE, os.X_OK):
        sys.exit(f"explanations: {RADDLE} is not there: ./dev build")
    listed = (ROOT / "compiler/diagnostics/kinds.def").read_text(encoding="utf-8")
    kinds = re.findall(r"^RADDLE_DIAGNOSTIC\((\w+)", listed, re.MULTILINE)
    explained = sections()
    faults = [f"`{kind}` has no section in explanations.md" for kind in kinds if kind not in explained]
    faults += [f"`{code}` is explained but is no kind" for code in explained if code not in kinds]
    faults += faults_of_command(explained)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for some in pool.map(lambda item: faults_of(*item), explained.items()):
            faults += some
    for fault in faults:
        print("explanations:", fault)
    print(f"explanations: {max(len(kinds) - len(faults), 0)} passed, {len(faults)} failed")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
