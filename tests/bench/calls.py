"""The cost of a call, or of a task: the same calls in Raddle and in libraries of tasks.

Measured is the time of one call in ns: the medians of the wall time of whole processes at the case's size and at almost
nothing, their difference divided by the number of calls. So start and end of a program do not count, nor does compiling
it, but everything that a library does for a call does. What needs long runs at a smaller size.
`raddle` is what a user gets, `interpreted` has no compiled leaf functions: they run in registers. In `forced` every call
that need not be the next one is a task, and only those are counted; in `expanded` no call runs in registers either: each
is a task with a frame.
`grain` is the same work in many tasks and in few: its figure is the ratio of both times.
"""

import statistics
from dataclasses import dataclass

from measure import THREADS, Variant, run_in_turn
from peers import MODES, peer, raddle
from report import Line


@dataclass(frozen=True)
class Case:
    name: str
    script: str
    size: int
    shorter: int             # size for what is in `slow`
    small: int
    calls: object            # number of calls for a size
    peers: tuple             # labels
    slow: tuple = ()
    tasks: object = None     # number of tasks of `forced`, if not every call is one
    modes: tuple = tuple(MODES)
    of_peers: str = ""       # their case, if it is called otherwise


def fib_calls(n):
    a, b = 1, 1
    for _ in range(n - 1):
        a, b = b, a + b + 1
    return b


MILLION = (1_000_000, 200_000, 10_000)
LIBRARIES_OF_TASKS = ("tbb", "libgomp", "libomp", "starpu")
NESTING = LIBRARIES_OF_TASKS[:3]  # have tasks that wait for their own
CASES = [
    Case("fib", "tests/bench/fib.df", 35, 30, 20, fib_calls, (*NESTING, "lua"), (*NESTING, "expanded"),
         tasks=lambda n: fib_calls(n) // 2),
    Case("split", "tests/bench/tasks/split.df", 1 << 20, 1 << 17, 1 << 12, lambda n: 10 * (2 * n - 1), NESTING,
         (*NESTING, "expanded"), tasks=lambda n: 10 * (n - 1)),
    Case("flat", "tests/bench/tasks/flat.df", *MILLION, lambda n: n, LIBRARIES_OF_TASKS, ("starpu",)),
    Case("links", "tests/bench/tasks/links.df", *MILLION, lambda n: n, LIBRARIES_OF_TASKS, ("libomp", "starpu"),
         of_peers="chain"),
    Case("chain", "tests/bench/tasks/chain.df", *MILLION, lambda n: n, LIBRARIES_OF_TASKS, ("libomp", "starpu"),
         modes=("raddle", "interpreted", "expanded")),  # there is no call that need not be the next one
    Case("stencil", "tests/bench/tasks/stencil.df", 20_000, 20_000, 500, lambda n: 16 * n, ("libgomp", "libomp")),
]
STRINGS = [  # interpreted
    Case("texts", "tests/bench/tasks/texts.df", *MILLION, lambda n: n, ("lua",)),
    Case("keys", "tests/bench/tasks/keys.df", *MILLION, lambda n: 2 * n, ("lua",)),
]
NOTHING = 1

GRAINS = {"many": (1 << 20, 1 << 7), "few": (1 << 13, 1 << 14)}  # blocks, elements of each: 20,971,511 and 163,831 calls


def variant(label, threads, case, size):
    if label == "lua":
        return Variant(label, threads, ["lua5.4", f"tests/bench/tasks/{case.name}.lua", str(size)], problem=size)
    if label in MODES:
        made = raddle(label, threads, case.script, [f"--n={size}"])
    else:
        made = peer("tasks", label, threads, [case.of_peers or case.name, str(size)])
    made.problem = size
    return made


def measure_case(case, small, repeats):
    whole, shorter = (case.small, case.small) if small else (case.size, case.shorter)
    kinds = [("c++", 1)] + [(label, threads) for threads in THREADS for label in (*case.peers, *case.modes)
                            if label != "lua" or threads == 1]
    sizes = [shorter if label in case.slow else whole for label, _ in kinds]
    full = [variant(*kind, case, size) for kind, size in zip(kinds, sizes)]
    empty = [variant(*kind, case, NOTHING) for kind in kinds]
    run_in_turn(case.name, [*full, variant("c++", 1, case, shorter)], repeats)
    run_in_turn(case.name, empty, repeats)
    costs = {}
    for (label, threads), size, f, e in zip(kinds, sizes, full, empty):
        count = case.tasks if label == "forced" and case.tasks else case.calls
        costs[label, threads] = ((statistics.median(f.seconds) - statistics.median(e.seconds)) /
                                 (count(size) - count(NOTHING)) * 1e9)
    for (label, threads), program in zip(kinds, full):
        best = min(costs[peer_label, threads] for peer_label in case.peers if (peer_label, threads) in costs)
        is_task = label in ("forced", "expanded", *LIBRARIES_OF_TASKS)
        yield Line(case.name, label, threads, costs[label, threads], "ns a task" if is_task else "ns a call",
                   program.peak_kib, costs[label, threads] / best)
    if "lua" in case.peers:
        yield Line(case.name, "interpreted", 1, costs["interpreted", 1] / costs["lua", 1], "of Lua 5.4's")
    if case.name == "flat":
        for threads in THREADS[1:]:
            yield Line(case.name, "forced", threads, costs["forced", threads] / costs["forced", 1], "of 1 worker's")


def measure_calls(names, small, repeats):
    for case in CASES:
        if case.name in names:
            yield from measure_case(case, small, repeats)


def measure_case_beside_lua(case, small, repeats):
    size = case.small if small else case.size
    kinds = [("lua", 1), *(("raddle", threads) for threads in THREADS)]
    full = [variant(*kind, case, size) for kind in kinds]
    empty = [variant(*kind, case, NOTHING) for kind in kinds]
    run_in_turn(case.name, full, repeats)
    run_in_turn(case.name, empty, repeats)
    costs = [(statistics.median(f.seconds) - statistics.median(e.seconds)) / (case.calls(size) - case.calls(NOTHING)) * 1e9
             for f, e in zip(full, empty)]
    for program, cost in zip(full, costs):
        yield Line(case.name, program.label, program.threads, cost, "ns a call", program.peak_kib, cost / costs[0])
    for program, cost in zip(full[2:], costs[2:]):
        yield Line(case.name, "raddle", program.threads, cost / costs[1], "of 1 worker's")


def measure_strings(names, small, repeats):
    for case in STRINGS:
        if case.name in names:
            yield from measure_case_beside_lua(case, small, repeats)


def measure_grain(_, small, repeats):
    variants = []
    for threads in THREADS:
        for label, (blocks, elements) in GRAINS.items():
            options = [f"--n={blocks >> 7 if small else blocks}", f"--block={elements}"]
            made = raddle("forced", threads, "tests/bench/tasks/grain.df", options)
            made.label = label
            variants.append(made)
    run_in_turn("grain", variants, repeats)
    for v in variants:
        yield Line("grain", v.label, v.threads, statistics.median(v.seconds) * 1e3, "ms", v.peak_kib)
    for many, few in zip(variants[::2], variants[1::2]):
        ratio = statistics.median(many.seconds) / statistics.median(few.seconds)
        yield Line("grain", "forced", many.threads, ratio, "of few tasks'")
