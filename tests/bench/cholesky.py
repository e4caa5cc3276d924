"""Tiled Cholesky factorisations: tasks of some microseconds that need one another in many ways.

The leaves are OpenBLAS's, in a C library (cholesky/tiles.cpp) that all programs share: its build with threads, with one
thread a call, as the one without is not safe where two threads call it. Measured are medians of the wall time of whole
processes, less that for a single tile; small matrices are run more often, as some libraries take longer to start than for
the matrix. The outputs are compared.
"""

import statistics

from measure import BUILT, THREADS, compile_program, run_in_turn
from peers import peer, raddle
from report import Line

SCRIPT = "tests/bench/cholesky/cholesky.df"
PEERS = ("libgomp", "libomp", "starpu")
RIVALS = ("libomp", "starpu")  # the better one is to be beaten
ROWS = 64  # of a tile
SIDES, SMALL = (16, 32, 64, 128), (4,)  # tiles a side


def variants(tiles):
    compile_program("cholesky/tiles.cpp", "libtiles.so", ["-shared", "-fPIC", "-lopenblas"])
    flags = [f"-L{BUILT}", f"-Wl,-rpath,{BUILT}", "-ltiles"]
    arguments = [str(tiles), str(ROWS)]
    result = [peer("cholesky", "c++", 1, arguments, flags)]
    for threads in THREADS:
        result += [peer("cholesky", label, threads, arguments, flags) for label in PEERS]
        result.append(raddle("raddle", threads, SCRIPT, [f"--tiles={tiles}", f"--rows={ROWS}"]))
    for variant in result:
        variant.environment |= {"LD_LIBRARY_PATH": str(BUILT), "OPENBLAS_NUM_THREADS": "1"}
    return result


def measure_cholesky(_, small, repeats):
    for tiles in SMALL if small else SIDES:
        case = f"cholesky {tiles}"
        full, empty = variants(tiles), variants(1)
        runs = repeats * max(1, SIDES[-1] // tiles)
        run_in_turn(case, full, runs)
        run_in_turn(case, empty, runs)
        seconds = {(f.label, f.threads): statistics.median(f.seconds) - statistics.median(e.seconds)
                   for f, e in zip(full, empty)}
        for v in full:
            own = seconds[v.label, v.threads]
            best = min(seconds[label, v.threads] for label in PEERS)
            yield Line(case, v.label, v.threads, own * 1e3, "ms", v.peak_kib, own / best)
        for threads in THREADS:
            best = min(seconds[label, threads] for label in RIVALS)
            yield Line(case, "raddle", threads, seconds["raddle", threads] / best, "of libomp, StarPU")
