"""Programs of a folder for libraries of tasks, built where they are newer than what was built of them."""

from measure import CACHE, RUN, Variant, compile_program

LIBRARIES = {  # label: source, compiler, flags
    "c++": ("sequential.cpp", "g++", []),
    "tbb": ("tbb.cpp", "g++", ["-ltbb"]),
    "libgomp": ("openmp.cpp", "g++", ["-fopenmp"]),
    "libomp": ("openmp.cpp", "clang++-19", ["-fopenmp"]),
    "starpu": ("starpu.cpp", "g++", ["-I/usr/include/starpu/1.3", "-lstarpu-1.3"]),
}
MODES = {  # label: options of Raddle
    "raddle": [],
    "interpreted": ["--interpret"],
    "forced": ["--inlining=never"],
    "expanded": ["--interpret", "--inlining=never"],
}


def peer(folder, label, threads, arguments, flags=()):
    source, compiler, own_flags = LIBRARIES[label]
    program = compile_program(f"{folder}/{source}", f"{folder}_{label}", [*own_flags, *flags], compiler)
    # StarPU's idle workers spin beside its main thread: before all else (`chrt -f`) they would keep it from its core
    policy = ["chrt", "--other", "0"] if label == "starpu" else []
    environment = {"BENCH_THREADS": str(threads), "STARPU_NCPU": str(threads), "STARPU_SILENT": "1"}
    return Variant(label, threads, [*policy, program, *arguments], environment)


def raddle(label, threads, script, arguments):
    """Its code is compiled once, as the libraries' programs are: it comes from a cache that the first run fills."""
    command = [*RUN, f"--workers={threads}", *MODES[label], script, *arguments]
    return Variant(label, threads, command, dict(CACHE))
