#!/usr/bin/env python3
"""Random programs do the same in every mode: 1, 2 and 8 workers, -O0 to -O2, interpreted and compiled, each
scheduler, scheduler seeds.

    random_programs.py [--seed N] [--count N] [--seconds S] [--raddle PATH] [--show]

Three of four programs can not fail: they must print, sorted, what the generator's own evaluator says. The others have
one fault: exit code and message must be the same in every mode, and with --keep-going what is printed, too. The first
seed is printed; program number k has seed N + k, so `--seed N+k --count 1` repeats it. `--show` prints the program of
--seed and stops.
"""

import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

from program_generator import Generator
from program_tree import TooLong

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_S = 60
MODES_A_PROGRAM = 6


def fails(seed):
    return seed % 4 == 3


def program_of(seed):
    """(text, expected lines or None)"""
    while True:
        try:
            generator = Generator(seed)
            return (generator.failing_program(), None) if fails(seed) else generator.program()
        except TooLong:
            seed += 1_000_003 * 4


def modes_of(seed):
    """Option lists: the first two are the ends of the scale, the others drawn."""
    source = random.Random(seed)
    modes = [["-O0", "--workers=1", "--interpret"], ["-O2", "--workers=8", "--leaf-threshold=0"]]
    while len(modes) < MODES_A_PROGRAM:
        mode = [source.choice(("-O0", "-O1", "-O2", "-O2")), f"--workers={source.choice((1, 2, 8))}"]
        mode += source.choice(([], ["--interpret"], ["--leaf-threshold=0"], ["--leaf-threshold=2"]))
        mode += source.choice(([], [], [], ["--gpus=simulated:whole"], ["--fuse=off"], ["--fuse=tasks"],
                               ["--disable-pass=interchange-loops", "--disable-pass=known-shapes"]))
        mode.append(f"--scheduler={source.choice(('stealing', 'tree', 'tree-fifo'))}")
        modes.append([*mode, *source.choice(([], [f"--scheduler-seed={source.randint(1, 10**6)}"]))])
    return [["--verify-each", *mode] for mode in modes]


def run(raddle, mode, script):
    """(exit code or None after the time-out, sorted lines, stderr but for the iterations of failures: optimised programs may
    have no loops to tell them of)"""
    try:
        done = subprocess.run([raddle, "run", *mode, script.name], cwd=script.parent, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return None, [], f"still running after {TIMEOUT_S} s"
    out, err = (stream.decode(errors="replace") for stream in (done.stdout, done.stderr))
    return done.returncode, sorted(out.splitlines()), re.sub(r"^ += note: at .*\n", "", err, flags=re.MULTILINE)


def difference(lines, expected):
    """Lines that are there too often or not often enough."""
    missing, extra = list(expected), []
    for line in lines:
        if line in missing:
            missing.remove(line)
        else:
            extra.append(line)
    return f"  not printed: {missing[:5]}\n  not expected: {extra[:5]}"


def wrong_output(raddle, modes, script, expected):
    for mode in modes:
        code, lines, err = run(raddle, mode, script)
        if code != 0:
            return f"{' '.join(mode)}: exit code {code}\n{err[-3000:]}"
        if lines != expected:
            return f"{' '.join(mode)}:\n{difference(lines, expected)}"
    return None


def wrong_failure(raddle, modes, script):
    for going_on in ([], ["--keep-going"]):
        first = None
        for mode in modes:
            code, lines, err = run(raddle, [*mode, *going_on], script)
            name = " ".join([*mode, *going_on])
            if code not in (1, 5):
                return f"{name}: exit code {code}\n{err[-3000:]}"
            if not first:
                first = (name, code, lines, err)
            if (code, err) != (first[1], first[3]):
                return f"{name}: exit code {code}\n{err[-3000:]}\n{first[0]}: exit code {first[1]}\n{first[3][-3000:]}"
            if going_on and lines != first[2]:
                return f"{name} prints something else than {first[0]}:\n{difference(lines, first[2])}"
            if any("not reached" in line for line in lines):
                return f"{name}: what depends on the fault was run"
    return None


def fault_of(raddle, seed, folder):
    """What is wrong with one program, or None."""
    text, expected = program_of(seed)
    script = pathlib.Path(folder, f"seed_{seed}.df")
    script.write_text(text, encoding="utf-8")
    if expected is None:
        return wrong_failure(raddle, modes_of(seed), script)
    return wrong_output(raddle, modes_of(seed), script, expected)


def run_programs(what, description, text_of, fault_of):
    """The command line of a file of random programs. text_of(seed); fault_of(raddle, seed, folder): None if there is none."""
    file = pathlib.Path(sys.argv[0]).name
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--raddle", default=str(ROOT / "build" / "raddle"))
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    first = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    if options.show:
        print(text_of(first), end="")
        return
    raddle = str(pathlib.Path(options.raddle).resolve())
    if not os.access(raddle, os.X_OK):
        sys.exit(f"{what}: {raddle} is not there: ./dev build")

    print(f"{what}: first seed {first}", flush=True)
    passed = failed = 0
    end = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory(prefix="raddle-property-") as folder:
        os.environ["XDG_CACHE_HOME"] = folder  # machine code of earlier runs: of the same program only
        for seed in range(first, first + options.count):
            if time.monotonic() > end:
                break
            fault = fault_of(raddle, seed, folder)
            if fault is None:
                passed += 1
            else:
                failed += 1
                print(f"FAIL seed {seed} (see it: {file} --seed {seed} --show)\n{fault}", flush=True)
    print(f"{what}: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


def run_computed_programs(what, description, program_of):
    """The same of programs whose output is computed beside them. program_of(seed): (text, sorted lines)."""
    def fault_of(raddle, seed, folder):
        text, expected = program_of(seed)
        script = pathlib.Path(folder, f"seed_{seed}.df")
        script.write_text(text, encoding="utf-8")
        return wrong_output(raddle, modes_of(seed), script, expected)

    run_programs(what, description, lambda seed: program_of(seed)[0], fault_of)


if __name__ == "__main__":
    run_programs("property", "Random programs do the same in every mode.", lambda seed: program_of(seed)[0], fault_of)
