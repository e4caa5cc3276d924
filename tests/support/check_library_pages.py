#!/usr/bin/env python3
"""Each public function of the library has a line in `raddle doc`, and the examples there run and print what they say."""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RADDLE = ROOT / "build" / "raddle"
TIMEOUT_S = 60


def run(words, folder):
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "dumb"}
    return subprocess.run([RADDLE, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=TIMEOUT_S, check=False, text=True)


def public_names():
    table = (ROOT / "stdlib/builtins.def").read_text(encoding="utf-8")
    names = re.findall(r'^RADDLE_BUILTIN\("(\w+)"', table, re.MULTILINE)
    for module in (ROOT / "stdlib").glob("*.df"):
        heads = re.findall(r"^(?!type |global |import |//|[ }])(.+?) \{", module.read_text(encoding="utf-8"), re.MULTILINE)
        names += [re.search(r"(\w+)\((?:[^()]|\([^()]*\))*\)$", head).group(1) for head in heads]
    return sorted({name for name in names if not name.endswith("_")})


def fault_of(name):
    with tempfile.TemporaryDirectory(prefix="raddle-doc-") as folder:
        shown = run(["doc", name], folder)
        if shown.returncode != 0:
            return f"no page: {shown.stderr.strip()}"
        page = shown.stdout.split("\n\nimport ")[0]
        if not re.search(r"^[A-Z0-9`\"][^\n]*\.", page, re.MULTILINE):
            return "no line that says what it does"
        script = "".join(line[4:] + "\n" for line in page.splitlines() if line.startswith("    "))
        if not script:
            return None
        pathlib.Path(folder, "script.df").write_text(script, encoding="utf-8")
        done = run(["run", "--no-jit-cache", "script.df"], folder)
        if done.returncode != 0 or done.stderr:
            return f"its example ends with {done.returncode}: {done.stderr.strip()}"
        wanted = re.search(r"  // (trace: .*)$", script, re.MULTILINE)
        if wanted and done.stdout.rstrip("\n") != wanted.group(1):
            return f"its example prints {done.stdout.rstrip()!r}, not {wanted.group(1)!r}"
    return None


def main():
    names = public_names()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = [f"{name}: {fault}" for name, fault in zip(names, pool.map(fault_of, names)) if fault]
    for fault in failed:
        print("library:", fault)
    print(f"library: {len(names) - len(failed)} passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
