"""Tiled Cholesky factorisations: tasks of some microseconds that need one another in many ways.

The leaves are OpenBLAS's, in a C library (cholesky/tiles.cpp) that all programs share: its build with threads, with one
thread a call, as the one without is not safe where two threads call it. Printed are medians of the wall time of whole
processes, less that for a single tile, and the rate of the whole. The outputs are compared.
"""

import csv
import statistics

from measure import BUILT, CORES, compile_program, run_in_turn
from peers import peer, raddle

SCRIPT = "tests/bench/cholesky/cholesky.df"
PEERS = ("libgomp", "libomp", "starpu")
ROWS = 64  # of a tile
SIDES, SMALL = (16, 32, 64, 128), (4,)  # tiles a side


def variants(tiles):
    compile_program("cholesky/tiles.cpp", "libtiles.so", ["-shared", "-fPIC", "-lopenblas"])
    flags = [f"-L{BUILT}", f"-Wl,-rpath,{BUILT}", "-ltiles"]
    arguments = [str(tiles), str(ROWS)]
    result = [peer("cholesky", "c++", 1, arguments, flags)]
    for threads in sorted({1, CORES}):
        result += [peer("cholesky", label, threads, arguments, flags) for label in PEERS]
        result.append(raddle("raddle", threads, SCRIPT, [f"--tiles={tiles}", f"--rows={ROWS}"]))
    for variant in result:
        variant.environment |= {"LD_LIBRARY_PATH": str(BUILT), "OPENBLAS_NUM_THREADS": "1"}
    return result


def measure_cholesky(small, repeats):
    with open(BUILT / "cholesky.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["tiles", "variant", "threads", "seconds", "peak_kib"])
        print(f"{'cholesky':<8} {'variant':<8} {'threads':>7} {'ms':>8} {'GFLOP/s':>8} {'peak MiB':>9} "
              f"{'to best peer':>13}")
        for tiles in SMALL if small else SIDES:
            full, empty = variants(tiles), variants(1)
            run_in_turn("cholesky", full, repeats)
            run_in_turn("cholesky", empty, repeats)
            seconds = [statistics.median(f.seconds) - statistics.median(e.seconds) for f, e in zip(full, empty)]
            for v, own in zip(full, seconds):
                best = min(s for w, s in zip(full, seconds) if w.threads == v.threads and w.label in PEERS)
                print(f"{tiles:<8} {v.label:<8} {v.threads:>7} {own * 1e3:>8.1f} {(tiles * ROWS)**3 / 3e9 / own:>8.1f} "
                      f"{v.peak_kib / 1024:>9.1f} {own / best:>13.2f}", flush=True)
                table.writerow([tiles, v.label, v.threads, f"{own:.6f}", v.peak_kib])
