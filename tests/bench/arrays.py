"""Array programs: those of examples/arrays, the same with NumPy and by hand in C++, side by side in one run.

    arrays.py [--repeats N] [--small] [NAME..]

Each variant is run once to warm up, then N times, the variants in turn. Printed are medians of the wall time and of the
processor time, the peak memory, and ratios to the best of the others with as many threads. Of the first ten rows, which
are those of "Task Fusion in Distributed Runtimes" with numbers of 64 and of 32 bits, the times are of a step: what a
run with many steps takes longer than one with few, by steps, so that start, compilation and random numbers do not
count. Numba and JAX take part in these.
Times of the other rows are of the whole process.
`c++` is the loops of arrays/arrays.cpp, fused, with -O3 -march=native; `c++ fast` has -ffast-math besides: only so GCC
takes vector functions, and adds the terms of a sum in another order. `fuse off`: each operation on arrays is a launch.
"""

import functools
import resource
import statistics
import subprocess
import sys
from dataclasses import dataclass

from loops import agree, python_with_numpy
from measure import BUILT, CACHE, HERE, RUN, THREADS, Variant, compile_program, read_options, run_in_turn
from report import Line, Report

PEERS = ("numpy==2.4.6", "numba==0.68.1", "jax==0.10.2")  # in an environment of their own, which pip fills


@dataclass(frozen=True)
class Row:
    name: str
    size: tuple  # n, or n and steps
    small: tuple
    is_random: bool = True  # then the numbers of others are others, as they are where float32 is rounded otherwise
    script: str = ""        # if it is none of the examples
    fewer: int = 0          # the steps of the shorter run, if times are of a step
    slower: int = 1         # by so much fewer steps are run where a step takes long


ROWS = [
    Row("black_scholes", (3_200_000, 40), (10_000, 3), script="tests/bench/arrays/black_scholes.df", fewer=5, slower=4),
    Row("black_scholes_float32", (3_200_000, 40), (10_000, 3), script="tests/bench/arrays/black_scholes_float32.df",
        fewer=5, slower=4),
    Row("mandelbrot", (1_000, 100), (50, 3), is_random=False, script="tests/bench/arrays/mandelbrot.df", fewer=5,
        slower=10),
    Row("mandelbrot_float32", (1_000, 100), (50, 3), script="tests/bench/arrays/mandelbrot_float32.df", fewer=5,
        slower=10),
    Row("logistic_regression", (200_000, 200), (200, 3), script="tests/bench/arrays/logistic_regression.df", fewer=20),
    Row("logistic_regression_float32", (200_000, 200), (200, 3),
        script="tests/bench/arrays/logistic_regression_float32.df", fewer=20),
    Row("jacobi", (2_000, 1_500), (50, 5), fewer=20),
    Row("jacobi_float32", (2_000, 1_500), (50, 5), script="tests/bench/arrays/jacobi_float32.df", fewer=20),
    Row("stencil27", (192, 60), (12, 3), fewer=5, slower=10),
    Row("stencil27_float32", (192, 60), (12, 3), script="tests/bench/arrays/stencil27_float32.df", fewer=5, slower=10),
    Row("heat", (500, 100), (30, 5), is_random=False),
    Row("life", (500, 100), (40, 5)),
    Row("nbody", (1_000, 100), (30, 3)),
    Row("runge_kutta", (200_000,), (100,), is_random=False, script="tests/bench/arrays/runge_kutta.df"),
    Row("monte_carlo", (1_000_000,), (1_000,), script="tests/bench/arrays/monte_carlo.df"),
    Row("tridiagonal", (2_000_000,), (100,), is_random=False, script="tests/bench/arrays/tridiagonal.df"),
]
PROGRAMS = {  # label: flags
    "c++": [],
    "c++ fast": ["-ffast-math"],
}


SLOW = ("numpy", "jax")  # in the rows that name a divisor
OURS = ("raddle", "fuse off")


def prints(_, found):
    return bool(found.strip())


@functools.cache
def python_with_peers():
    """Of an environment in the build folder, with the versions above; None if pip can not make it."""
    folder = BUILT / "peers"
    python = folder / "bin" / "python"
    try:
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PEERS], check=True)
    except (subprocess.CalledProcessError, OSError) as problem:
        print(f"bench: without Numba and JAX: {problem}", file=sys.stderr)
        return None
    return str(python)


def python_variants(row):
    """(label, threads, command, environment) of the programs in Python."""
    scripts = HERE / "arrays"
    peers = python_with_peers() if row.fewer else None
    if peers or python_with_numpy():
        command = [peers or python_with_numpy(), str(scripts / "numpy_arrays.py")]
        yield from (("numpy", threads, command, {"OPENBLAS_NUM_THREADS": str(threads)}) for threads in THREADS)
    if peers:
        for threads in THREADS:
            yield "numba", threads, [peers, str(scripts / "numba_arrays.py")], {
                "NUMBA_NUM_THREADS": str(threads), "NUMBA_CACHE_DIR": str(BUILT / "numba")}
            yield "jax", threads, ["taskset", "-c", f"0-{threads - 1}", peers, str(scripts / "jax_arrays.py")], {
                "JAX_COMPILATION_CACHE_DIR": str(BUILT / "jax"), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}


def variants_of(row, size_of):
    """All that run a row; size_of(label) is n, or n and steps."""
    result = []
    for threads in THREADS:
        parallel = ["-fopenmp"] if threads > 1 else []
        for label, flags in PROGRAMS.items():
            name = "_".join(["arrays", *label.split()[1:], *(["openmp"] if parallel else [])])
            program = compile_program("arrays/arrays.cpp", name, [*flags, *parallel])
            result.append(Variant(label, threads, [program, row.name, *map(str, size_of(label))]))
    for label, threads, command, environment in python_variants(row):
        result.append(Variant(label, threads, [*command, row.name, *map(str, size_of(label))], environment))
    script = row.script or f"examples/arrays/{row.name}.df"
    for label, threads, pass_options in [*(("raddle", threads, []) for threads in THREADS),
                                         ("fuse off", 1, ["--fuse=off"])]:
        options = [f"--{option}={value}" for option, value in zip(("n", "steps"), size_of(label))]
        result.append(Variant(label, threads, [*RUN, f"--workers={threads}", *pass_options, script, *options], dict(CACHE)))
    return result


def figures_of(row, size, repeats):
    """(variant, wall times, processor times) of each variant: in seconds, of a whole run or of a step."""
    if not row.fewer:
        variants = variants_of(row, lambda label: size)
        run_in_turn(row.name, variants, repeats, prints if row.is_random else agree)
        return [(v, v.seconds, v.processor_seconds) for v in variants]

    def steps_of(label):
        by = row.slower if label in SLOW else 1
        few = max(row.fewer // by, 1)
        return few, max(size[1] // by, few + 1)

    variants = {}
    for which in range(2):
        variants[which] = variants_of(row, lambda label: (size[0], steps_of(label)[which]))
        for variant in variants[which]:
            variant.problem = steps_of(variant.label)[which]
    pairs = list(zip(variants[0], variants[1]))
    run_in_turn(row.name, [v for pair in pairs for v in pair], repeats, prints if row.is_random else agree)

    def of_a_step(few, many, steps):
        return [(b - a) / (steps[1] - steps[0]) for a, b in zip(few, many)]

    return [(many, of_a_step(few.seconds, many.seconds, steps_of(many.label)),
             of_a_step(few.processor_seconds, many.processor_seconds, steps_of(many.label))) for few, many in pairs]


def measure_arrays(names, small, repeats):
    for row in ROWS:
        if row.name not in names:
            continue
        measured = figures_of(row, row.small if small else row.size, repeats)
        wall = [statistics.median(seconds) for _, seconds, _ in measured]
        processor = [statistics.median(seconds) for _, _, seconds in measured]
        for index, (variant, _, _) in enumerate(measured):
            others = [i for i, (other, _, _) in enumerate(measured)
                      if other.threads == variant.threads and other.label not in OURS]
            yield Line(row.name, variant.label, variant.threads, wall[index] * 1e3, "ms", variant.peak_kib,
                       wall[index] / min(wall[i] for i in others))
            yield Line(row.name, variant.label, variant.threads, processor[index] * 1e3, "ms of processor",
                       to_best=processor[index] / min(processor[i] for i in others))


def main():
    known = [row.name for row in ROWS]
    options = read_options("Array programs beside NumPy and C++.", known)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    report = Report()
    for line in measure_arrays(options.rows or known, options.small, options.repeats):
        report.add(line)


if __name__ == "__main__":
    main()
