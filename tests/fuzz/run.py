#!/usr/bin/env python3
"""Fuzzes the compiler: libFuzzer over text to VM program (compile_fuzz.cpp), for a time.

    run.py [--seconds S] [--seed N] [--fuzzer PATH] [--keep FOLDER] [--jobs N]

Starts from the scripts of the repository, with the tokens of the grammar as dictionary. A crash, a leak, a report of a
sanitizer, or more than 10 s for one input of at most 4 KB (in the sanitized build, an eighth as fast as a release) is a
failure; the input is printed. --keep gives a folder for the corpus, which a later run goes on from, and for the inputs
that failed. Without --seed each run takes another way.
"""

import argparse
import os
import pathlib
import re
import string
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from golden import LONGEST_INPUT  # noqa: E402

PLAIN = string.ascii_letters + string.digits + "_"
INPUT_TIMEOUT_S = 10
MEMORY_MIB = 3000


def tokens():
    """The literals of the lexer's grammar, escapes resolved: keywords and operators."""
    grammar = (ROOT / "grammar" / "RaddleLexer.g4").read_text(encoding="utf-8")
    rules = re.sub(r"/\*.*?\*/|//[^\n']*$", "", grammar, flags=re.DOTALL | re.MULTILINE)
    literals = re.findall(r"^[A-Z_]+: '((?:[^'\\]|\\.)+)'(?: -> \w+)?;", rules, re.MULTILINE)
    return sorted(set(literals)) + sorted(builtin_words())


def builtin_words():
    """What a grammar does not know: types, library functions and modules."""
    table = (ROOT / "stdlib" / "builtins.def").read_text(encoding="utf-8")
    words = set(re.findall(r'^RADDLE_BUILTIN\w*\((\w+)', table, re.MULTILINE))
    words |= set(re.findall(r'"(\w+)"', table))
    return words | {"int", "float", "string", "boolean", "void", "file", "blob", "bag", "updateable_float", "main"}


def write_dictionary(path):
    lines = []
    for token in tokens():
        escaped = "".join(chr(b) if chr(b) in PLAIN else f"\\x{b:02x}" for b in token.encode())
        lines.append(f'"{escaped}"\n')
    path.write_text("".join(lines), encoding="ascii")


def write_corpus(folder):
    scripts = [*ROOT.glob("tests/golden/**/*.df"), *ROOT.glob("examples/*.df"), *ROOT.glob("stdlib/*.df")]
    for script in scripts:
        content = script.read_bytes()
        if len(content) <= LONGEST_INPUT:
            (folder / "_".join(script.relative_to(ROOT).parts)).write_bytes(content)


def fuzz(fuzzer, folder, seconds, seed, jobs):
    """Exit code and what libFuzzer has said."""
    corpus, found, failures = (folder / name for name in ("scripts", "found", "failures"))
    empty = folder / "empty"
    for each in (corpus, found, failures, empty):
        each.mkdir(parents=True, exist_ok=True)
    write_dictionary(folder / "tokens.dict")
    write_corpus(corpus)
    command = [fuzzer, str(found), str(corpus), f"-dict={folder / 'tokens.dict'}", f"-max_total_time={seconds}",
               f"-seed={seed}", f"-max_len={LONGEST_INPUT}", f"-timeout={INPUT_TIMEOUT_S}",
               f"-rss_limit_mb={MEMORY_MIB}", f"-artifact_prefix={failures}/", "-print_final_stats=1", "-verbosity=1"]
    if jobs:
        command += [f"-fork={jobs}", "-ignore_crashes=1", "-ignore_timeouts=1", "-ignore_ooms=1"]
    environment = {**os.environ, "UBSAN_OPTIONS": "print_stacktrace=1"}
    done = subprocess.run(command, cwd=empty, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.decode(errors="replace"), sorted(failures.iterdir())


def main():
    parser = argparse.ArgumentParser(description="Fuzzes the compiler.")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0, help="0: another one each time")
    parser.add_argument("--fuzzer", default=str(ROOT / "build" / "asan" / "raddle_fuzz"))
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=0, help="in processes of their own: goes on after a failure")
    options = parser.parse_args()
    if not os.access(options.fuzzer, os.X_OK):
        sys.exit(f"fuzz: {options.fuzzer} is not there: ./dev build asan")
    with tempfile.TemporaryDirectory(prefix="raddle-fuzz-") as temporary:
        folder = pathlib.Path(options.keep or temporary).resolve()
        code, output, failures = fuzz(options.fuzzer, folder, options.seconds, options.seed, options.jobs)
        for failure in failures:
            print(f"---- {failure.name}\n{failure.read_bytes().decode(errors='backslashreplace')}")
    executed = re.findall(r"stat::number_of_executed_units:\s*(\d+)|^#(\d+)", output, re.MULTILINE)
    count = max((int(a or b) for a, b in executed), default=0)
    if code != 0 or failures:
        print(output[-20000:])
    print(f"fuzz: {count} inputs in {options.seconds} s")
    print(f"fuzz: {0 if failures or code != 0 else 1} passed, {len(failures) or int(code != 0)} failed")
    sys.exit(1 if failures or code != 0 else 0)


if __name__ == "__main__":
    main()
