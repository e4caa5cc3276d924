#!/usr/bin/env python3
"""Policies of placement on simulated devices: a table, a picture, and where ours falls short.

    locality.py [--small] [--policies NAME,..] [--priorities given|bottom|none] [--folder PATH]

Tiled programs on 1 to 8 devices with little memory (build/raddle_locality), by each policy. A line of the table is one program of one size: `data` is
in GB, `of memory` what all devices hold of it; for each policy TFlop/s and, behind it, loads over their lower bound, those
from other devices included. Then both as geometric means over the sizes that do not fit, and the points where the default policy
loads more than it should: on one device more than `dmdas-paper` (the fewest missing bytes), on several more than
`darts`; 1.05 times the better one of both. Then what fusing transfers gives. locality.csv, in build/bench if no other folder is named, has all figures, locality.svg the curves.
"""

import argparse
import concurrent.futures
import csv
import io
import math
import pathlib
import subprocess
import sys
from dataclasses import dataclass

import curves
from measure import BUILT, CORES, ROOT

TILE = 33_177_600
POLICIES = ("eager", "lws", "dmdar", "dmdas", "dmdas-paper", "darts", "darts-count", "darts-order")
OURS, FEWEST_MISSING, DARTS = "darts-order", "dmdas-paper", "darts"
DRAWN = {"cholesky": "Cholesky", "lu": "LU", "mm-noC": "2-D product", "mm-3d": "3-D product"}


@dataclass(frozen=True)
class Machine:
    devices: int
    name: str
    options: tuple = ()


ONE = Machine(1, "1")
TWO, FOUR, EIGHT = (Machine(n, str(n), ("--peers",)) for n in (2, 4, 8))
BUS = Machine(4, "4, one bus", ("--one-bus",))


@dataclass(frozen=True)
class Series:
    """One program in several sizes on one machine."""
    program: str
    machine: Machine
    memory: int  # tiles for each device
    tiles: tuple


ONE_AND_TWO = {"cholesky": (14, 17, 20, 22, 25, 27, 29, 32, 35, 41), "lu": (10, 12, 14, 16, 17, 19, 20, 22, 24, 28),
               "mm-noC": (25, 50, 60, 75, 90, 98, 99, 100, 125, 150), "mm-3d": (4, 5, 6, 7, 8, 9, 10, 12)}
SERIES = [
    *(Series(program, ONE, memory, ONE_AND_TWO[program]) for program, memory in (("cholesky", 210), ("lu", 196), ("mm-noC", 100), ("mm-3d", 100))),
    *(Series(program, TWO, memory, ONE_AND_TWO[program]) for program, memory in (("cholesky", 105), ("lu", 98), ("mm-noC", 50), ("mm-3d", 50))),
    Series("cholesky", FOUR, 105, (20, 25, 28, 32, 35, 38, 41, 46, 50)),
    Series("lu", FOUR, 100, (14, 17, 20, 22, 24, 26, 28, 31, 35)),
    Series("mm-noC", FOUR, 25, (25, 50, 75, 98, 100, 125, 150)),
    Series("mm-3d", FOUR, 50, (6, 8, 9, 10, 11, 12, 14)),
    Series("cholesky", EIGHT, 105, (28, 35, 40, 45, 50, 57, 64)),
    Series("lu", EIGHT, 100, (20, 24, 28, 32, 35, 40, 45)),
    Series("mm-noC", EIGHT, 25, (50, 100, 125, 150, 200, 250)),
    Series("mm-3d", EIGHT, 50, (8, 10, 12, 14, 16, 18)),
    Series("cholesky", BUS, 105, (20, 28, 35, 41, 50)),
    Series("lu", BUS, 100, (20, 24, 28, 35)),
    Series("mm-noC", BUS, 25, (25, 50, 75, 100, 150)),
    Series("mm-3d", BUS, 50, (6, 8, 10, 12, 14)),
    Series("mm", ONE, 100, (10, 20, 30)),
    Series("mm", BUS, 100, (20, 24, 28)),
]
SMALL = [Series(program, machine, memory, tiles) for machine in (ONE, TWO)
         for program, memory, tiles in (("cholesky", 15, (5, 8)), ("lu", 16, (4, 6)), ("mm-noC", 10, (5, 10)), ("mm-3d", 12, (2, 4)))]


@dataclass(frozen=True)
class Point:
    series: Series
    tiles: int
    rows: dict  # policy: what the tool says of it

    def number(self, policy, name):
        return float(self.rows[policy][name])

    def loads(self, policy):
        return self.number(policy, "loads") + self.number(policy, "peer_loads")

    def first(self, name):
        return float(next(iter(self.rows.values()))[name])

    @property
    def to_memory(self):
        return self.first("data_bytes") / (TILE * self.series.memory * self.series.machine.devices)

    @property
    def name(self):
        return f"{self.series.program:<9} {self.series.machine.name:<10} {self.tiles:>5}"


def measure(options, series, tiles):
    words = [str(options.tool), "--csv", f"--priorities={options.priorities}", f"--program={series.program}", f"--tiles={tiles}", f"--devices={series.machine.devices}",
             f"--memory={series.memory * TILE}", f"--policy={','.join(options.policies)}", *series.machine.options]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
    return Point(series, tiles, {row["policy"]: row for row in csv.DictReader(io.StringIO(done.stdout))})


def measure_all(options):
    all_series = SMALL if options.small else SERIES
    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        yield from pool.map(lambda each: measure(options, *each), [(series, n) for series in all_series for n in series.tiles])


def print_points(points, policies):
    """Prints as they come. @return all of them"""
    known = []
    print(f"{'program':<9} {'devices':<10} {'tiles':>5} {'data':>6} {'of memory':>9} {'bound':>6} "
          + " ".join(f"{policy:>12}" for policy in policies) + "   TFlop/s, loads / bound")
    for point in points:
        cells = (f"{point.number(p, 'gflops') / 1e3:>6.1f} {point.loads(p) / point.first('bound'):>5.2f}" for p in policies)
        print(f"{point.name} {point.first('data_bytes') / 1e9:>6.2f} {point.to_memory:>9.2f} {point.first('bound'):>6.0f} "
              + " ".join(f"{cell:>12}" for cell in cells), flush=True)
        known.append(point)
    return known


def mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def print_means(points, policies):
    print(f"\nwhat does not fit: geometric means\n{'program':<9} {'devices':<10} {'sizes':>5} " + " ".join(f"{policy:>12}" for policy in policies))
    for series in dict.fromkeys(point.series for point in points):
        beyond = [point for point in points if point.series == series and point.to_memory > 1]
        if not beyond:
            continue
        cells = (f"{mean([x.number(p, 'gflops') / 1e3 for x in beyond]):>6.1f} "
                 f"{mean([x.loads(p) / x.first('bound') for x in beyond]):>5.2f}" for p in policies)
        print(f"{series.program:<9} {series.machine.name:<10} {len(beyond):>5} " + " ".join(f"{cell:>12}" for cell in cells))


def print_verdict(points):
    """Where OURS falls short of the fewest missing bytes and of DARTS."""
    print(f"\n{OURS}: more loads than {FEWEST_MISSING} on one device, than {DARTS} on several, or 1.05 times the better one of both")
    print(f"{'program':<9} {'devices':<10} {'tiles':>5} {'ours':>7} {FEWEST_MISSING:>12} {DARTS:>7}")
    failed = 0
    for point in points:
        ours, fewest, darts = map(point.loads, (OURS, FEWEST_MISSING, DARTS))
        if ours > (fewest if point.series.machine.devices == 1 else darts) or ours > 1.05 * min(fewest, darts):
            failed += 1
            print(f"{point.name} {ours:>7.0f} {fewest:>12.0f} {darts:>7.0f}")
    print(f"{failed} of {len(points)} points")
    for name, has in (("one device", lambda n: n == 1), ("several", lambda n: n > 1)):
        chosen = [point for point in points if has(point.series.machine.devices)]
        means = {policy: mean([point.loads(policy) for point in chosen]) for policy in points[0].rows}
        print(f"geometric mean of loads, {name}: " + ", ".join(f"{policy} {figure:,.0f}" for policy, figure in means.items()))


def chart(points, policies, title, unit, figure, limit, is_logarithmic=False):
    at = [point.first("data_bytes") / 1e9 for point in points]
    series = points[0].series
    return curves.Chart(title=title, y_unit=unit, is_logarithmic=is_logarithmic,
                        mark=series.memory * series.machine.devices * TILE / 1e9,
                        lines={policy: list(zip(at, (figure(point, policy) for point in points))) for policy in policies},
                        limits={"limit": list(zip(at, map(limit, points)))})


def draw(path, points, policies):
    """A row of charts for each program and figure, a column for each machine."""
    rows = []
    for program, title in DRAWN.items():
        of = [[point for point in points if point.series == series] for series in dict.fromkeys(p.series for p in points)
              if series.program == program]
        name = [f"{title}, devices: {x[0].series.machine.name}" for x in of]
        rows.append([chart(x, policies, n, "TFlop/s", lambda point, policy: point.number(policy, "gflops") / 1e3,
                           lambda point: point.first("peak_gflops") / 1e3) for x, n in zip(of, name)])
        rows.append([chart(x, policies, n, "GB loaded", lambda point, policy: point.loads(policy) * TILE / 1e9,
                           lambda point: point.first("bound") * TILE / 1e9, is_logarithmic=True) for x, n in zip(of, name)])
    curves.draw(path, "Tiled programs on devices with little memory, simulated. Dashed: all devices at work, and the lower bound of loads. "
                "Dotted: what fits. Several devices have links to each other, those of one bus have none", rows)


def write_csv(path, points):
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["machine", *next(iter(points[0].rows.values()))])
        table.writerows([point.series.machine.name, *row.values()] for point in points for row in point.rows.values())


def main():
    parser = argparse.ArgumentParser(description="Policies of placement on simulated devices.")
    parser.add_argument("--small", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("--policies", type=lambda text: text.split(","), default=POLICIES, metavar="NAME,..",
                        help=f"default: {','.join(POLICIES)}")
    parser.add_argument("--priorities", choices=("given", "bottom", "none"), default="given", help="of tasks: those of the programs, bottom levels, none")
    parser.add_argument("--folder", type=pathlib.Path, default=BUILT, metavar="PATH", help="for what it writes; default: build/bench")
    parser.add_argument("--tool", default=ROOT / "build" / "raddle_locality", metavar="PATH", help="default: build/raddle_locality")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    points = print_points(measure_all(options), options.policies)
    print_means(points, options.policies)
    if {OURS, FEWEST_MISSING, DARTS} <= set(options.policies):
        print_verdict(points)
    print(flush=True)
    subprocess.run([str(options.tool), "--transfers"], check=True)
    write_csv(options.folder / "locality.csv", points)
    draw(options.folder / "locality.svg", points, options.policies)
    print(f"\n{options.folder}: locality.csv, locality.svg")


if __name__ == "__main__":
    main()
