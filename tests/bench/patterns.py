"""Task Bench's patterns: how short may tasks be that keep all threads at work?

METG (minimum effective task granularity): the time of a task, over all threads, where 75 percent of it is spent in the
computation. From tasks of some microseconds the number of iterations of a task is halved, or doubled, until the
efficiency has crossed 75 percent; between the two sizes it is interpolated. The efficiency is to the sequential program
with long tasks. A run has as many tasks as make the same work; the time of a row is that of a whole process less that of
one with an eighth of the rows. So start and end do not count.
`exchange`, measured before each search of Raddle on all cores: what the machine itself takes to hand a number from thread to
thread and back. A virtual machine's cores may lie near each other at one time and far apart at another.
`leaves`: the efficiency of 100,000 tasks of 20 us that need nothing, a single row; beside it that of as many sequential
programs at once as there are cores, each with its share, which is what the machine has to give.
Every run's output is compared with that of the sequential program. Figures are medians over the repeats; the libraries,
and Raddle's METG on one worker, take part in the first one only, as each search takes seconds. All repeats are in
build/bench/patterns.csv and leaves.csv.
"""

import csv
import functools
import math
import statistics
import subprocess
import sys
import time

from measure import BUILT, CORES, ROOT, THREADS, compile_program, run_once
from peers import peer, raddle
from report import Line
from targets import PATTERNS

WIDTHS = (2, 16)
PEERS = ("tbb", "libgomp", "libomp", "starpu")
EXCHANGE = ("exchange", 2)
KINDS = [("c++", 1)] + [(label, threads) for threads in THREADS for label in (*PEERS, "raddle")]
SCRIPT = "tests/bench/patterns/patterns.df"
GOAL = 0.75
PART = 8               # of the rows, one part is taken off
LONGEST, SHORTEST = 1 << 17, 1 << 5  # iterations of a task; one takes about 1.7 ns
FIRST = 1 << 12
TRIES = 3              # runs of each program
LEAVES, LEAF = 100_000, 12_000


def variant(label, threads, pattern, width, steps, iterations):
    if label == "raddle":
        options = [f"--{name}={value}" for name, value in
                   (("pattern", pattern), ("width", width), ("steps", steps), ("iterations", iterations))]
        return raddle(label, threads, SCRIPT, options)
    arguments = [pattern, str(width), str(steps), str(iterations)]
    return peer("patterns", label, threads, arguments, ["-ffp-contract=off"])  # the same roundings everywhere


@functools.cache
def expected_output(*arguments):
    sequential = variant("c++", 1, *arguments)
    run_once(sequential)
    return sequential.output


def seconds_of(label, threads, *arguments):
    """The shortest of some runs: other load only adds."""
    program = variant(label, threads, *arguments)
    expected = expected_output(*arguments)
    for _ in range(TRIES):
        program.seconds.append(run_once(program)[0])
        if program.output.strip() != expected.strip():
            sys.exit(f"bench: {' '.join(program.command)} prints {program.output.strip()}, not {expected.strip()}")
    return min(program.seconds)


def duration_of(label, threads, pattern, width, iterations, work):
    """Thread time of a task in seconds."""
    steps = work // iterations // width
    whole = seconds_of(label, threads, pattern, width, steps, iterations)
    part = seconds_of(label, threads, pattern, width, steps // PART, iterations)
    return (whole - part) * threads / (width * (steps - steps // PART))


def metg_of(label, threads, pattern, width, work, iteration):
    """In seconds; of tasks that are too long for this, infinite. `iteration`: seconds of the computation's."""
    measured = {}

    def efficiency(iterations):
        measured[iterations] = duration_of(label, threads, pattern, width, iterations, work)
        return iterations * iteration / measured[iterations]

    iterations, reached = FIRST, efficiency(FIRST)
    while SHORTEST < iterations < LONGEST:
        before, iterations = (iterations, reached), iterations // 2 if reached >= GOAL else iterations * 2
        reached = efficiency(iterations)
        if (reached >= GOAL) != (before[1] >= GOAL):
            share = (GOAL - reached) / (before[1] - reached)
            return 1 / ((1 - share) / measured[iterations] + share / measured[before[0]])  # exact if the cost is constant
    return measured[iterations] if reached >= GOAL else math.inf


def exchange_of():
    """Seconds that two threads take for a row if they only wait for each other's number."""
    program = compile_program("patterns/exchange.cpp", "patterns_exchange")
    return float(subprocess.run([program], stdout=subprocess.PIPE, check=True).stdout) * 1e-9


def metgs_of(pattern, width, work, repeats):
    """{(label, threads): [seconds of each repeat]}"""
    durations = {kind: [] for kind in KINDS}
    exchanges = []
    for repeat in range(repeats):
        if CORES > 1:  # else they would wait for the system to give each its turn
            exchanges.append(exchange_of())
        iteration = duration_of("c++", 1, pattern, width, LONGEST // 8, work) / (LONGEST // 8)
        for kind in KINDS if repeat == 0 else [("raddle", CORES)]:
            durations[kind].append(metg_of(*kind, pattern, width, work, iteration))
    return {**({EXCHANGE: exchanges} if exchanges else {}), **durations}


def write_repeats(table, case, durations):
    for (label, threads), each in durations.items():
        table.writerows([case, label, threads, i, f"{seconds * 1e6:.3f}"] for i, seconds in enumerate(each))


def measure_patterns(patterns, small, repeats):
    with open(BUILT / "patterns.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["pattern", "variant", "threads", "repeat", "us"])
        for pattern in patterns:
            for width in WIDTHS[:1] if small else WIDTHS:
                case = f"{pattern} {width}"
                durations = metgs_of(pattern, width, 1 << (21 if small else 27), repeats)
                medians = {kind: statistics.median(each) for kind, each in durations.items()}
                if EXCHANGE in medians:
                    yield Line(case, *EXCHANGE, medians.pop(EXCHANGE) * 1e6, "us a row")
                for (label, threads), metg in medians.items():
                    best = min(medians[peer_label, threads] for peer_label in PEERS)
                    yield Line(case, label, threads, metg * 1e6, "us METG", to_best=metg / best)
                write_repeats(table, case, durations)


def seconds_at_once(copies, *arguments):
    """Of as many sequential programs: more than the machine gives them no library can give its tasks."""
    command = variant("c++", 1, *arguments).command

    def run_all():
        start = time.perf_counter()
        running = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) for _ in range(copies)]
        if any(process.wait() != 0 for process in running):
            sys.exit(f"bench: {' '.join(command)} fails")
        return time.perf_counter() - start

    return min(run_all() for _ in range(TRIES))


def measure_leaves(_, small, repeats):
    count = LEAVES // (100 if small else 1)
    at_once = (f"{CORES} x c++", CORES)
    durations = {kind: [] for kind in (KINDS[0], at_once, *KINDS[1:])}
    for repeat in range(repeats):
        own = count // CORES
        ends = [seconds_at_once(CORES, "trivial", tasks, 1, LEAF) for tasks in (own, own // PART)]
        durations[at_once].append((ends[0] - ends[1]) / (own - own // PART))
        for label, threads in KINDS:
            if repeat > 0 and label in PEERS:
                continue
            whole = seconds_of(label, threads, "trivial", count, 1, LEAF)
            part = seconds_of(label, threads, "trivial", count // PART, 1, LEAF)
            durations[label, threads].append((whole - part) * threads / (count - count // PART))
    medians = {kind: statistics.median(each) for kind, each in durations.items()}
    for (label, threads), duration in medians.items():
        best = min(medians[peer_label, threads] for peer_label in PEERS)
        yield Line("leaves", label, threads, medians["c++", 1] / duration * 100, "% efficiency", to_best=duration / best)
        if (label, threads) == ("raddle", CORES):
            yield Line("leaves", label, threads, medians[at_once] / duration * 100, "% of c++ at once")
    with open(BUILT / "leaves.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["case", "variant", "threads", "repeat", "us"])
        write_repeats(table, "leaves", durations)
