#!/usr/bin/env python3
"""Golden scripts with some words changed end as a script may end: no crash, no hang, no fault of Raddle's own.

    mutated_scripts.py [--seed N] [--count N] [--jobs N] [--memory KIB] [--raddle PATH] [--show]

Each mutant goes through `raddle check` and, where that finds no error, `raddle run`. --memory is what `ulimit -v` takes.
Without --seed each run takes other mutants; `--seed N --count 1 --show` prints one. Mutants of scripts that start programs,
call other languages or name files outside of their folder are only checked, as nobody knows what they would do.
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN_LIMIT_S = 5  # then raddle ends it, with 124
HANG_S = 90  # for a machine that does much else
ENDS = {"check": (0, 3), "run": (0, 1, 2, 5, 124)}
LONGEST = 4000  # characters of a script
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\w+(?:\.\d+)?|=>|:=|&&|\|\||[!=<>+]=|\*\*|%[/%]?|\s+|.', re.DOTALL)
NOT_RUN = re.compile(r'\bapp\b|"turbine"|@library|"\.?\.?/|\b(import|#include)\s*"?(sys|unix|launch|python|R|julia|jvm|javascript)\b')
EXTREME = ["0", "-1", "1", "9223372036854775807", "1e308", "inf", "NaN", '""', "[]", "{", "}", "(", ")", ";", "=>", "true", "x"]


def tokens_of(text):
    return TOKEN.findall(text)


def scripts():
    found = [*(ROOT / "tests" / "golden").rglob("*.df"), *(ROOT / "examples").glob("*.df")]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(found)]
    return [text for text in texts if len(text) < LONGEST]


def pool_of(texts):
    """The words of `texts`, each once."""
    return sorted({token for text in texts for token in tokens_of(text) if not token.isspace() and token[:2] not in ("//", "/*")})


def mutated(tokens, pool, source):
    """Some words gone, doubled, exchanged, or others in their place."""
    tokens = list(tokens)
    for _ in range(source.choice((1, 1, 1, 2, 3))):
        words = [i for i, token in enumerate(tokens) if not token.isspace() and not token.startswith("//")]
        if not words:
            break
        at, other = source.choice(words), source.choice(words)
        kind = source.randrange(6)
        if kind == 0:
            tokens[at] = ""
        elif kind == 1:
            tokens[at] += " " + tokens[at]
        elif kind == 2:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 3:
            tokens[at] = source.choice(EXTREME)
        elif kind == 4:
            tokens[at] = source.choice(pool)
        else:
            tokens[at] += " " + source.choice(pool)
    return "".join(tokens)


class Mutants:
    def __init__(self):
        self.texts = scripts()
        self.words = pool_of(self.texts)
        self.words_to_run = pool_of([text for text in self.texts if not NOT_RUN.search(text)])

    def make(self, seed):
        """(text, whether it may be run)"""
        source = random.Random(seed)
        text = source.choice(self.texts)
        may_run = not NOT_RUN.search(text)
        return mutated(tokens_of(text), self.words_to_run if may_run else self.words, source), may_run


def fault_of(raddle, mutant, memory_kib):
    """What is wrong with the way it ends, or None."""
    text, may_run = mutant
    def limit():
        if memory_kib:
            resource.setrlimit(resource.RLIMIT_AS, (memory_kib * 1024, memory_kib * 1024))

    with tempfile.TemporaryDirectory(prefix="raddle-mutant-") as folder:
        pathlib.Path(folder, "mutant.df").write_text(text, encoding="utf-8")
        environment = {**os.environ, "NO_COLOR": "1", "TERM": "dumb", "TMPDIR": folder, "TMP": folder}
        for verb, options in (("check", []), ("run", ["--workers=2", f"--timeout={RUN_LIMIT_S}s", "--no-record"])):
            try:
                done = subprocess.run([raddle, verb, *options, "mutant.df"], cwd=folder, env=environment, preexec_fn=limit,
                                      stdin=subprocess.DEVNULL, capture_output=True, timeout=HANG_S, check=False)
            except subprocess.TimeoutExpired:
                return f"{verb}: still running after {HANG_S} s"
            if done.returncode not in ENDS[verb] or b"internal error" in done.stderr:
                return f"{verb}: exit code {done.returncode}: {done.stderr.decode(errors='replace')[-1500:]}"
            if done.returncode == 3 or not may_run:
                return None
    return None


def main():
    parser = argparse.ArgumentParser(description="Mutants of the golden scripts end well.")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--memory", type=int, default=0, metavar="KIB", help="0: as much as there is")
    parser.add_argument("--raddle", default=str(ROOT / "build" / "raddle"))
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    first = random.SystemRandom().randrange(10**6) * 1000 if options.seed is None else options.seed
    mutants = Mutants()
    if options.show:
        print(mutants.make(first)[0])
        return
    raddle = str(pathlib.Path(options.raddle).resolve())
    if not os.access(raddle, os.X_OK):
        sys.exit(f"mutants: {raddle} is not there: ./dev build")
    print(f"mutants: first seed {first}", flush=True)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="raddle-mutants-") as cache, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as workers:
        os.environ["XDG_CACHE_HOME"] = os.environ["XDG_CONFIG_HOME"] = cache
        seeds = range(first, first + options.count)
        for seed, fault in zip(seeds, workers.map(lambda seed: fault_of(raddle, mutants.make(seed), options.memory), seeds)):
            if fault:
                failed += 1
                print(f"FAIL seed {seed} (see it: mutated_scripts.py --seed {seed} --show)\n{fault}", flush=True)
    print(f"mutants: {options.count - failed} passed, {failed} failed")
    sys.exit(1 if failed or not options.count else 0)


if __name__ == "__main__":
    main()
