"""What the benchmarks share: variants of a program, run in turn, timed as whole processes."""

import argparse
import os
import pathlib
import subprocess
import sys
import time
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "bench"
BUILT = ROOT / "build" / "bench"
RUN = [str(ROOT / "build" / "raddle"), "run"]
RADDLE = [*RUN, "--no-jit-cache"]  # each run compiles
CORES = os.cpu_count() or 1
THREADS = sorted({1, CORES})
CACHE = {"XDG_CACHE_HOME": str(BUILT / "cache")}  # of compiled code, which the first run fills
FLAGS = ["-std=c++20", "-O3", "-march=native"]


@dataclass
class Variant:
    label: str
    threads: int
    command: list
    environment: dict = field(default_factory=dict)
    problem: object = None  # variants with the same one print the same
    seconds: list = field(default_factory=list)
    processor_seconds: list = field(default_factory=list)
    peak_kib: int = 0
    output: str = ""


def read_options(description, known, repeats=5):
    """What the command line says: `rows` of those known, `repeats`, `small`. Ends the program if a row is not known."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--repeats", type=int, default=repeats, metavar="N")
    parser.add_argument("--small", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("rows", nargs="*", metavar="ROW")
    options = parser.parse_args()
    unknown = set(options.rows) - set(known)
    if unknown:
        parser.error(f"no row {', '.join(sorted(unknown))}: {', '.join(known)}")
    return options


def compile_program(source, program, flags=(), compiler="g++"):
    """Path of the program; compiled again if the source, relative to tests/bench, or a header beside it is newer."""
    source, program = HERE / source, BUILT / program
    changed = max(file.stat().st_mtime for file in (source, *source.parent.glob("*.hpp")))
    if not program.exists() or program.stat().st_mtime < changed:
        BUILT.mkdir(parents=True, exist_ok=True)
        subprocess.run([compiler, *FLAGS, str(source), *flags, "-o", str(program)], check=True)
    return str(program)


def run_once(variant):
    """(wall time, processor time) of one run, in seconds; notes its output and peak memory."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(variant.threads), **variant.environment}
    start = time.perf_counter()
    process = subprocess.Popen(variant.command, cwd=ROOT, env=environment, stdout=subprocess.PIPE)
    output = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.stdout.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench: {' '.join(variant.command)}: exit code {process.returncode}")
    variant.peak_kib = max(variant.peak_kib, usage.ru_maxrss)
    variant.output = output
    return seconds, usage.ru_utime + usage.ru_stime


def begins_alike(expected, found):
    lines = expected.splitlines()
    return found.splitlines()[:len(lines)] == lines


def run_in_turn(name, variants, repeats, agree=begins_alike):
    """Each once to warm up, then `repeats` times, one after the other. Outputs of the same problem must agree."""
    for variant in variants:
        run_once(variant)
        variant.peak_kib = 0  # it may have compiled what the others take from a cache
    for _ in range(repeats):
        for variant in variants:
            seconds, processor_seconds = run_once(variant)
            variant.seconds.append(seconds)
            variant.processor_seconds.append(processor_seconds)
    for variant in variants:
        first = next(v for v in variants if v.problem == variant.problem)
        if not agree(first.output, variant.output):
            sys.exit(f"bench: {name}: {variant.label} prints something else than {first.label}:\n"
                     f"{first.output}--\n{variant.output}")
