"""What Raddle's figures should be, a line for each row of the table that `./dev bench tasks` ends with."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """Holds for the figures of a variant that have this unit, in some cases; a case of several sizes by its first word."""
    row: str
    unit: str
    limits: tuple            # on one worker, on more; None: the figure is told, and may be what it is
    cases: tuple
    variant: str
    at_least: bool = False   # else: at most

    def holds_for(self, line):
        return (line.case.split()[0], line.variant, line.unit) in ((case, self.variant, self.unit) for case in self.cases)

    def limit(self, line):
        return self.limits[line.threads > 1]

    def shortfall(self, line):
        """How much it is off, in parts of the target; 0 or less: met. Infinite for a cost below 0, which is noise."""
        off = line.figure / self.limit(line) - 1
        if self.at_least:
            return -off
        return off if line.figure > 0 else math.inf

    def text(self, limits):
        texts = ["-" if limit is None else f"{limit:g}" for limit in limits]
        return ("at least " if self.at_least else "at most ") + " / ".join(dict.fromkeys(texts))


PATTERNS = ("trivial", "stencil_1d", "nearest", "fft", "tree")

TARGETS = [
    Target("fib(35), compiled", "ns a call", (2.5, 1.3), ("fib",), "raddle"),
    Target("fib(35), interpreted", "of Lua 5.4's", (1.0, None), ("fib",), "interpreted"),
    Target("split, 10 x 2^20 blocks, forced", "ns a task", (45, 25), ("split",), "forced"),
    Target("split, many tasks and few, equal work", "of few tasks'", (1.5, 1.5), ("grain",), "forced"),
    Target("split, adaptive", "ns a call", (3, 3), ("split",), "raddle"),
    Target("flat, a million, forced", "ns a task", (30, None), ("flat",), "forced"),
    Target("flat, forced, two workers and one", "of 1 worker's", (None, 1.0), ("flat",), "forced"),
    Target("texts, two workers and one", "of 1 worker's", (None, 1.0), ("texts",), "raddle"),
    Target("keys, two workers and one", "of 1 worker's", (None, 1.0), ("keys",), "raddle"),
    Target("links, a million", "ns a call", (45, 45), ("links",), "raddle"),
    Target("patterns, 2 and 16 wide", "us METG", (None, 1.2), PATTERNS, "raddle"),
    Target("the pattern that is coarsened", "us METG", (None, 0.4), ("trivial",), "raddle"),
    Target("100,000 leaves of 20 us", "% efficiency", (None, 99.5), ("leaves",), "raddle", at_least=True),
    Target("the same, beside sequential programs", "% of c++ at once", (None, 99.5), ("leaves",), "raddle", at_least=True),
    Target("cholesky, 16 to 128 tiles", "of libomp, StarPU", (1.0, 1.0), ("cholesky",), "raddle"),
    Target("fill_and_sum, first run", "ms", (10, 10), ("fill_and_sum",), "first run"),
    Target("fill_and_sum, compiled code cached", "ms", (10, 10), ("fill_and_sum",), "cached"),
    Target("fill_and_sum, first run", "MB peak", (30, 30), ("fill_and_sum",), "first run"),
    Target("fill_and_sum, compiled code cached", "MB peak", (30, 30), ("fill_and_sum",), "cached"),
    Target("count, 10^9 points", "G/s a core", (1.0, 1.0), ("count",), "cached", at_least=True),
    Target("count, memory for 10^9 and 10^7", "of 10^7's peak", (1.1, 1.1), ("count",), "cached"),
    Target("100,000 programs from a script", "of spawn's", (None, 1.1), ("programs",), "script"),
    Target("hello (aim: 10)", "ms", (20, None), ("hello",), "first run"),
    Target("hello_leaf, compiled", "ms", (50, None), ("hello_leaf",), "first run"),
    Target("hello_leaf, compiled code cached", "ms", (20, None), ("hello_leaf",), "cached"),
    Target("simulated: one creator, 64 workers", "% in tasks", (None, 90), ("one_creator",), "stealing", at_least=True),
    Target("simulated: recursive, 1,024 workers", "% in tasks", (None, 90), ("recursive",), "stealing", at_least=True),
]
