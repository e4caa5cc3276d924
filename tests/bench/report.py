"""The table of a benchmark: a line for each figure, with its target, and at the end what became of each target."""

import csv
import math
from dataclasses import dataclass

from measure import BUILT, CORES
from targets import TARGETS


@dataclass(frozen=True)
class Line:
    case: str
    variant: str
    threads: int
    figure: float
    unit: str
    peak_kib: int = 0
    to_best: float = None   # ratio to the best peer with as many threads


def verdict(shortfall):
    if shortfall == math.inf:
        return "no figure"
    return "met" if shortfall <= 0 else f"short by {max(1, round(shortfall * 100))} %"


class Report:
    """Prints lines as they come, and keeps them in build/bench/figures.csv."""

    def __init__(self):
        BUILT.mkdir(parents=True, exist_ok=True)
        self.lines = []
        self.file = open(BUILT / "figures.csv", "w", newline="", encoding="utf-8")
        self.table = csv.writer(self.file)
        self.table.writerow(["case", "variant", "threads", "figure", "unit", "peak_kib", "to_best", "target", "verdict"])
        print(f"{'case':<13} {'variant':<12} {'threads':>7} {'figure':>10} {'unit':<17} {'peak MiB':>8} {'to best peer':>12}"
              f"  {'target':<13} verdict")

    def add(self, line):
        """A line with several targets shows the one that it is farthest from."""
        self.lines.append(line)
        targets = [t for t in TARGETS if t.holds_for(line) and t.limit(line) is not None]
        target = max(targets, key=lambda t: t.shortfall(line), default=None)
        goal = target.text([target.limit(line)]) if target else ""
        reached = verdict(target.shortfall(line)) if target else ""
        peak = f"{line.peak_kib / 1024:.1f}" if line.peak_kib else ""
        ratio = f"{line.to_best:.2f}" if line.to_best is not None else ""
        print(f"{line.case:<13} {line.variant:<12} {line.threads:>7} {line.figure:>10,.2f} {line.unit:<17} {peak:>8} "
              f"{ratio:>12}  {goal:<13} {reached}".rstrip(), flush=True)
        self.table.writerow([line.case, line.variant, line.threads, f"{line.figure:.4f}", line.unit, line.peak_kib, ratio,
                             goal, reached])
        self.file.flush()

    def print_summary(self):
        """A line for each target that something was measured for: of several cases the worst."""
        print(f"\n{'target':<38} {'1 worker':>9} {f'{CORES} workers':>9}  {'unit':<17} {'wanted':<19} verdict")
        for target in TARGETS:
            lines = [line for line in self.lines if target.holds_for(line)]
            bound = [line for line in lines if target.limit(line) is not None]
            if not bound:
                continue
            figures = []
            for several in (False, True):
                of_them = [line.figure for line in lines if (line.threads > 1) == several]
                worst = (min if target.at_least else max)(of_them, default=None)
                figures.append("" if worst is None else f"{worst:,.2f}")
            worst = max(bound, key=target.shortfall)
            where = f" ({worst.case})" if len({line.case for line in bound}) > 1 else ""
            print(f"{target.row:<38} {figures[0]:>9} {figures[1]:>9}  {target.unit:<17} {target.text(target.limits):<19} "
                  f"{verdict(target.shortfall(worst))}{where}")
