"""Scripts that a worker runs in milliseconds, with what they print: those of the bench's table, others with programs,
priorities, recursions, functions that are not strict, `@memo`, failures."""

import math
import pathlib
import sys
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import golden  # noqa: E402

PATTERNS = ("trivial", "stencil_1d", "nearest", "fft", "tree")
GOLDEN = """
app/fail_exit_code app/two_outputs
language/B7/equal_calls_once language/B7/recursion language/B7/files_by_content language/B7/fail_stuck_inside
language/closing/recursive_function_appends_to_bag_of_caller
language/closing/elements_in_recursive_calls language/closing/nested_rows_from_many_places
language/execution/ackermann_composite language/execution/calls_feed_each_other_in_a_ring
language/execution/fail_cycle_through_functions
language/execution/recursion_in_loop_in_recursion language/library/launch_calls_once
language/library/many_calls language/updateables/sum_in_foreach
run/array_wavefront run/fail_in_forked_call run/fail_launch_writes_twice run/fail_stuck_in_nested_function
run/for_carried_array_reads run/function_not_strict
run/points_as_tasks_by_priority workflows/map_reduce workflows/stage_tree
"""
ON_DEVICES = "language/single_calls language/warp_kernels"  # calls go to a simulated device, by threads of its own
SCRIPTS = {
    # calls with a priority, which make others, programs among them
    "priorities": ("""
app (void done) program(int i) { "true" i }
(int y) halves(int n) { if (n < 2) { y = n; } else { y = @prio=n halves(n %/ 2) + @prio=-n halves(n - n %/ 2); } }
foreach i in [0:3] { @prio=i program(i) => trace(i, halves(20 + i)); }
""", [f"trace: {i},{20 + i}" for i in range(4)]),
    # not strict: each waits for an element that is written after it
    "backwards": ("""
(int y) later(int x, int i) { if (i %% 7 == 0) { trace("seven"); } y = x + 1; }
int a[];
foreach i in [0:99] { a[i] = later(a[i + 1], i); }
a[100] = 0;
trace(a[0]);
""", ["trace: 100", *["trace: seven"] * 15]),
    "deep": ("""
(int y) down(int n) { if (n == 0) { y = 0; } else { y = 1 + down(n - 1); } }
(int y) forks(int n) { if (n <= 0) { y = 1; } else { y = forks(n - 1) + forks(n - 10000); } }
(int y) traced(int n) { if (n == 0) { y = 0; trace("bottom"); } else { y = 1 + traced(n - 1); } }
trace(down(5000), forks(1000), traced(1000));
""", ["trace: 5000,1001,1000", "trace: bottom"]),
}


@dataclass(frozen=True)
class Small:
    """`lines`: what it prints, sorted; none: as `case.script`'s .out and .err say."""

    case: golden.Case
    lines: tuple = None

    def fault(self, options, outcome):
        if self.lines is None:
            return golden.fault_of(self.case, options, outcome)
        code, out, err = outcome
        if code is None:
            return "still running after the time-out"
        if (code, err) != (0, ""):
            return f"exit code {code}\n{err or out}"
        if sorted(out.splitlines()) != sorted(self.lines):
            return f"expected {self.lines}, found {out!r}"
        return None


def stencil_sum(rows, width=16):
    """What tasks/stencil.df prints."""
    row = list(range(width))
    for _ in range(rows):
        row = [(row[max(x - 1, 0)] + row[x] + row[min(x + 1, width - 1)] + 1) % 1000003 for x in range(width)]
    return sum(row)


def grain_sum(end, times):
    """What tasks/grain.df prints."""
    return times * sum(i * i % 1009 for i in range(end))


def pattern_sum(pattern, width, steps, iterations):
    """What patterns/patterns.df prints, to the last bit: each step doubles what differs."""
    def point(x, inputs):
        y = 0.5 * (inputs + (x + 1) / (width + 1))
        for _ in range(iterations):
            y = 3.9 * y * (1.0 - y)
        return y

    def mean(row, x, distances):
        total = 0.0
        for distance in distances:
            total += row[x + distance] if 0 <= x + distance < width else row[x]
        return total / len(distances)

    row = [point(x, 0.5) for x in range(width)]
    for t in range(1, steps):
        d = 2 ** (t % round(math.log2(width)))
        inputs = {"trivial": lambda x: 1.0 / t, "stencil_1d": lambda x: mean(row, x, (-1, 0, 1)),
                  "nearest": lambda x: mean(row, x, (-2, -1, 0, 1, 2)), "fft": lambda x: mean(row, x, (-d, 0, d)),
                  "tree": lambda x: row[x // 2]}[pattern]
        row = [point(x, inputs(x)) for x in range(width)]
    return f"{sum(row):.6f}"


def cholesky_sum(tiles, rows):
    """What cholesky/cholesky.df prints. In tiles of the diagonal all is summed: above it lies what was left there."""
    size = tiles * rows
    l = [[0.0] * size for _ in range(size)]

    def rest(y, x, columns):
        return (10.0 if x == y else 1.0 / (abs(x - y) + 1)) - sum(l[y][k] * l[x][k] for k in range(columns))

    for x in range(size):
        l[x][x] = math.sqrt(rest(x, x, x))
        for y in range(x + 1, size):
            l[y][x] = rest(y, x, x) / l[x][x]
    above = sum(rest(y, x, y // rows * rows) for y in range(size) for x in range(y + 1, y // rows * rows + rows))
    return f"{sum(map(sum, l)) + above:.9e}"


def of_bench():
    """(script, arguments, what it prints)"""
    yield "hello", [], "hello"
    yield "hello_leaf", [], "hello, 111 steps"
    yield "fib", ["--n=12"], 144
    yield "tasks/split", ["--n=128", "--iterations=2"], 256
    yield "tasks/grain", ["--n=32", "--block=8", "--iterations=2"], grain_sum(256, 2)
    yield "tasks/flat", ["--n=300"], 300 * 301 // 2
    yield "tasks/chain", ["--n=300"], 300
    yield "tasks/links", ["--n=300"], 300
    yield "tasks/stencil", ["--n=30"], stencil_sum(30)
    yield "count", ["--n=5000"], 5000**2
    yield "fill_and_sum", ["--n=1000"], sum(i * 3 % 1000 for i in range(1000))
    yield "sweeps/programs", ["--n=6"], ""
    for pattern in PATTERNS:
        for width in (2, 16):
            arguments = [f"--pattern={pattern}", f"--width={width}", "--steps=20", "--iterations=4"]
            yield "patterns/patterns", arguments, pattern_sum(pattern, width, 20, 4)
    yield "cholesky/cholesky", ["--tiles=5", "--rows=4"], cholesky_sum(5, 4)


def cases(libraries, folder):
    """All. `libraries`: where libtiles.so is; `folder`: for scripts that have no file yet."""
    found = [Small(golden.parse_header(ROOT / "tests" / "golden" / f"{name}.df")) for name in GOLDEN.split()]
    for name in ON_DEVICES.split():
        case = golden.parse_header(ROOT / "tests" / "golden" / f"{name}.df")
        case.options.append("--gpus=simulated:whole")
        found.append(Small(case))
    for name, (text, lines) in SCRIPTS.items():
        script = folder / f"{name}.df"
        script.write_text(text, encoding="utf-8")
        found.append(Small(golden.Case(script), tuple(lines)))
    for name, arguments, printed in of_bench():
        case = golden.Case(ROOT / "tests" / "bench" / f"{name}.df", arguments=arguments,
                           environment={"LD_LIBRARY_PATH": str(libraries)} if name.startswith("cholesky") else {})
        found.append(Small(case, tuple(str(printed).splitlines())))
    return found
