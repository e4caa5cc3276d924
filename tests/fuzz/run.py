#!/usr/bin/env python3
"""Fuzzes the compiler: libFuzzer over text to VM program (compile_fuzz.cpp), for a time.

    run.py [--seconds S] [--seed N] [--fuzzer PATH] [--keep FOLDER] [--jobs N]

Starts from scripts of the repository, with the tokens of the grammar as dictionary: all those that do not compile, which no
other step runs with sanitizers, and with --seconds a few of the others by chance (all take ten times as long as a minute of
fuzzing). A crash, a leak, a report of a sanitizer, or more than a minute for one input of at most 4 KB (the sanitized build
takes forty times as long as a release) is a failure; the input is printed, but for a leak, which is reported at the end.
--keep gives a folder for the corpus, which a later run goes on from, and for the inputs that failed. Without --seed each
run takes another way.
"""

import argparse
import os
import pathlib
import random
import re
import string
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from golden import LONGEST_INPUT, find_cases, is_fuzzed  # noqa: E402

PLAIN = string.ascii_letters + string.digits + "_"
INPUT_TIMEOUT_S = 60
SCRIPTS_A_SECOND = 2  # of those that compile, for each second of fuzzing
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


def write_corpus(folder, seconds, seed):
    cases = [case for case in find_cases([]) if is_fuzzed(case)]
    refused = [case.script for case in cases if case.exit_code == 3]
    compiled = [case.script for case in cases if case.exit_code != 3]
    few = random.Random(seed or None).sample(compiled, min(len(compiled), seconds * SCRIPTS_A_SECOND))
    for script in refused + few:
        (folder / "_".join(script.relative_to(ROOT).parts)).write_bytes(script.read_bytes())


def fuzz(fuzzer, folder, seconds, seed, jobs):
    """Exit code and what libFuzzer has said."""
    corpus, found, failures = (folder / name for name in ("scripts", "found", "failures"))
    empty = folder / "empty"
    for each in (corpus, found, failures, empty):
        each.mkdir(parents=True, exist_ok=True)
    write_dictionary(folder / "tokens.dict")
    write_corpus(corpus, seconds, seed)
    command = [fuzzer, str(found), str(corpus), f"-dict={folder / 'tokens.dict'}", f"-max_total_time={seconds}",
               f"-seed={seed}", f"-max_len={LONGEST_INPUT}", f"-timeout={INPUT_TIMEOUT_S}",
               f"-report_slow_units={INPUT_TIMEOUT_S}", "-detect_leaks=0",  # after each input: twice as slow
               f"-rss_limit_mb={MEMORY_MIB}", f"-artifact_prefix={failures}/", "-print_final_stats=1", "-verbosity=1"]
    if jobs:
        command += [f"-fork={jobs}", "-ignore_crashes=1", "-ignore_timeouts=1", "-ignore_ooms=1"]
    environment = {**os.environ, "ASAN_OPTIONS": "malloc_context_size=8", "UBSAN_OPTIONS": "print_stacktrace=1"}
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
