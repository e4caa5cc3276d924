#!/usr/bin/env python3
"""Runs every kind of test and ends with one line: `N passed, M failed`. What `./dev test` calls after the build.

    run_tests.py [--list] [--quick] [--verbose] [STEP..]

Each step is a command that prints a line with its own counts. A step that ends badly without one counts as one failure.
Steps that use all cores run one after the other. Beside them run those that wait, or do one thing after the other; what a
step by the clock finds depends on the processor that it gets, so these come last, each with a core.
With --quick each step runs what finds most faults in little time, or not at all: some five minutes on two cores, for the
moment before a commit.
"""

import argparse
import concurrent.futures
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = sys.executable
COUNTS = (
    re.compile(r"^\S*:? ?(?P<passed>\d+) passed, (?P<failed>\d+) failed$", re.MULTILINE),  # our own scripts
    re.compile(r"tests passed, (?P<failed>\d+) tests failed out of (?P<total>\d+)"),  # ctest
)


@dataclass(frozen=True)
class Step:
    name: str
    about: str
    commands: list  # run in order; the first that fails ends the step
    quick: list | None = None  # what --quick runs in their place; empty: nothing
    lane: str = "cores"  # who it runs beside: see run_all


def build(preset, *targets):
    folder = f"build/{preset}"
    configure = [] if (ROOT / folder / "build.ninja").exists() else [["cmake", "--preset", preset]]
    return [*configure, ["ninja", "-C", folder, *targets]]


def sanitized(preset, *targets):
    """Parts of the VM only; the whole is built for ASan (steps golden-asan and fuzz)."""
    return [
        *build(preset, *targets),
        ["ctest", "--test-dir", f"build/{preset}", "-L", "concurrent|sequential", "--output-on-failure", "--no-tests=error",
         "-j", str(os.cpu_count())],
    ]


def random_programs(script, seconds):
    return [[PYTHON, f"tests/property/{script}.py", "--seed=1", "--count=100000", f"--seconds={seconds}"]]


# Of each allocation the sanitizer keeps two frames, not 30: a fourth of the time. Whoever repeats a failure sees all.
SHORT_STACKS = "ASAN_OPTIONS=malloc_context_size=2"
# Scripts whose loops and calls go to devices, in all ways there are.
FOR_DEVICES = ("single_calls", "warp_", "gpu_annotations", "launch_nest", "index_launch", "launch_rows", "replica_exchange", "option_book")
STRESSED = ("raddle_run", "raddle_codegen", "raddle_stress_tiles", "raddle_concurrent_tests")
STEPS = [
    Step("includes", "who may include whom", [[PYTHON, "tests/support/check_includes.py"]]),
    Step("lengths", "no source has more than 400 lines, no class more than 40 public functions; what stands at the top level", [[PYTHON, "tests/support/check_lengths.py"]]),
    Step("diagnostics", "every kind is emitted and has a golden test",
         [[PYTHON, "tests/support/check_diagnostics.py"]]),
    Step("lists", "each test of a check is in its list", [[PYTHON, "tests/support/check_test_lists.py"]]),
    Step("explanations", "every kind is explained, and the page's scripts do what it says",
         [[PYTHON, "tests/support/check_explanations.py"]]),
    Step("library", "every function of the library has a page, and its example prints what it says",
         [[PYTHON, "tests/support/check_library_pages.py"]]),
    Step("tour", "the scripts of grammar/language.md", [[PYTHON, "tests/support/check_tour.py"]]),
    Step("fmt", "raddle fmt changes blanks only, and once is enough", [[PYTHON, "tests/support/check_fmt.py"]]),
    Step("unit", "doctest binaries",
         [["ctest", "--test-dir", "build", "--output-on-failure", "--no-tests=error", "-j", str(os.cpu_count())]]),
    Step("costs", "what a run loads, and uses while it waits; runs that share the cache", [[PYTHON, "tests/support/check_costs.py"]]),
    Step("golden", "scripts beside their output", [[PYTHON, "tests/support/golden.py"]],
         quick=[[PYTHON, "tests/support/golden.py", "--one-mode"]]),
    Step("locality", "policies of placement repeat the runs of a reference simulator; ./dev bench locality runs",
         [[PYTHON, "tests/support/check_locality.py"]]),
    Step("gpu", "the same scripts with a simulated device: the same output; which loops go there, and what is said",
         [[PYTHON, "tests/support/check_gpu.py"], [PYTHON, "tests/support/golden.py", "--gpus=simulated:whole", "--workers=1,8"]],
         quick=[[PYTHON, "tests/support/check_gpu.py"], [PYTHON, "tests/support/golden.py", "--gpus=simulated:whole", "--one-mode"]]),
    Step("seeds", "the same scripts, the order of tasks perturbed",
         [[PYTHON, "tests/support/golden.py", "--scheduler-seeds=4"]], quick=[]),
    Step("table", "functions of arrays give what NumPy has given for thousands of arrays",
         [[PYTHON, "tests/property/array_table.py"]]),
    Step("mutants", "golden scripts with words changed end well in little memory",
         [[PYTHON, "tests/property/mutated_scripts.py", "--seed=1", "--count=400", "--memory=600000"]], quick=[]),
    Step("asan", "the VM's unit and stress tests under ASan and UBSan", sanitized("asan", "raddle_concurrent_tests", "raddle_vm_tests"), quick=[]),
    Step("golden-asan", "the whole under ASan and UBSan, leaks included, runs every script with 8 workers, those about devices with a simulated one, too",
         [*build("asan", "raddle_run", "raddle_codegen", "raddle_fuzz"),  # of fuzz, which shares a core, nothing is left to build
          ["env", SHORT_STACKS, PYTHON, "tests/support/golden.py", "--raddle=build/asan/raddle_run", "--workers=8",
           "--each-program-once", "--not-fuzzed"],
          ["env", SHORT_STACKS, PYTHON, "tests/support/golden.py", "--raddle=build/asan/raddle_run", "--workers=8", "--gpus=simulated:whole",
           "--one-mode", *FOR_DEVICES]], quick=[]),
    Step("tsan", "those that start threads under TSan", sanitized("tsan", "raddle_concurrent_tests"), quick=[]),
    Step("weakened", "tests of the super kernel's queues notice each order that is made weaker, under TSan",
         [*build("tsan", "raddle_weakened_queues"), [PYTHON, "tests/stress/weakened_queues.py"]], quick=[]),
    Step("stress", "small scripts and stress tests, again and again, under TSan and ASan with 8 workers",
         [*build("asan", *STRESSED), *build("tsan", *STRESSED), [PYTHON, "tests/stress/all_workers.py", "--seconds=120"]],
         quick=[]),
    # the longest first
    Step("tasks", "the record of runs of scripts: programs, calls of @memo functions", [[PYTHON, "tests/support/check_tasks.py"]], lane="waits"),
    Step("run", "raddle run: what it says beside the script's output", [[PYTHON, "tests/support/check_run.py"]], lane="waits"),
    Step("memory", "runs whose arrays do not fit into --memory", [[PYTHON, "tests/support/check_memory.py"]], lane="waits"),
    Step("runs", "raddle runs, why, rerun: what they say of recorded runs; a record with which something goes wrong",
         [[PYTHON, "tests/support/check_runs.py"], [PYTHON, "tests/support/check_record.py"]], lane="waits"),
    Step("sweeps", "raddle sweep: what it prints and writes", [[PYTHON, "tests/support/check_sweeps.py"]], lane="waits"),
    Step("swept-programs", "raddle sweep over external programs", [[PYTHON, "tests/support/check_swept_programs.py"]], lane="waits"),
    Step("foreign", "C functions that fill dense arrays, AppKernels by hand", [[PYTHON, "tests/support/check_foreign.py"]], lane="waits"),
    Step("memo", "results of @memo functions from one run to the next", [[PYTHON, "tests/support/check_memo.py"]], lane="waits"),
    Step("killed-sweeps", "sweeps that are killed, interrupted, two at a time",
         [[PYTHON, "tests/stress/sweep_kill.py"]], quick=[], lane="waits"),
    Step("stacks", "deep recursions on stacks of several sizes", [[PYTHON, "tests/stress/stacks.py"]], quick=[], lane="waits"),
    Step("swift-t", "run scripts of published workflows, options of Swift/T's own command", [[PYTHON, "tests/support/check_swift_t.py"]], lane="waits"),
    Step("python", "functions in Python: sweeps, sessions, ends", [[PYTHON, "tests/support/check_python.py"]], lane="waits"),
    Step("r", "functions in R: sweeps, sessions, ends", [[PYTHON, "tests/support/check_r.py"]], lane="waits"),
    Step("pictures", "raddle report, trace, graph: pages, drawn by a browser where there is one, traces, graphs",
         [[PYTHON, "tests/support/check_pictures.py"]], quick=[], lane="waits"),
    Step("repl", "raddle on a terminal: what stands on the screen", [[PYTHON, "tests/support/check_repl.py"]], lane="waits"),
    Step("sweep-values", "values of sweeps, their tables, what terminals are sent", [[PYTHON, "tests/support/check_sweep_values.py"]], lane="waits"),
    Step("completions", "of shells, the manual page, raddle doctor, cmake --install",
         [[PYTHON, "tests/support/check_completions.py"]], lane="waits"),
    Step("ending", "signals and kills in the middle of a run", [[PYTHON, "tests/stress/end_of_run.py"]], lane="waits"),
    Step("settings", "configuration files, profiles, variables", [[PYTHON, "tests/support/check_settings.py"]], lane="waits"),
    Step("commands", "the tool's command line", [[PYTHON, "tests/support/check_command_line.py"]], lane="waits"),
    Step("fuzz", "random text through the compiler, under ASan and UBSan",
         [*build("asan", "raddle_fuzz"), [PYTHON, "tests/fuzz/run.py", "--seed=1", "--seconds=60"]], quick=[], lane="clock"),
    Step("property", "random programs do the same in every mode",
         random_programs("random_programs", seconds=35) + random_programs("drawing_programs", seconds=15)
         + random_programs("narrow_programs", seconds=15) + random_programs("border_programs", seconds=20)
         + random_programs("nest_programs", seconds=30) + random_programs("sequence_programs", seconds=30)
         + random_programs("chain_programs", seconds=30),
         quick=random_programs("random_programs", seconds=10) + random_programs("drawing_programs", seconds=5)
         + random_programs("narrow_programs", seconds=5) + random_programs("border_programs", seconds=5)
         + random_programs("nest_programs", seconds=5) + random_programs("sequence_programs", seconds=5)
         + random_programs("chain_programs", seconds=5),
         lane="clock"),
    Step("array-programs", "random programs over dense arrays do, too",
         random_programs("array_programs", seconds=45), quick=random_programs("array_programs", seconds=10), lane="clock"),
]


def counts_in(output):
    """(passed, failed) that a command's output tells of; none: no line does."""
    for pattern in COUNTS:
        found = list(pattern.finditer(output))
        if found:
            numbers = {name: int(value) for name, value in found[-1].groupdict().items()}
            failed = numbers["failed"]
            return numbers.get("passed", numbers.get("total", 0) - failed), failed
    return None


def counts_of(outputs, succeeded):
    """(passed, failed) of a step, of whose commands some only build; a step without a line counts as one."""
    counts = [found for found in map(counts_in, outputs) if found]
    if not counts:
        return (1, 0) if succeeded else (0, 1)
    passed, failed = (sum(numbers) for numbers in zip(*counts))
    return passed, failed if succeeded else max(failed, 1)


@dataclass
class Outcome:
    outputs: list  # what each of the commands that were run has printed
    succeeded: bool = True
    seconds: float = 0.0
    processor_s: float = 0.0


def run(commands):
    outcome, start = Outcome([]), time.monotonic()
    for command in commands:
        with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as process:
            outcome.outputs.append(process.stdout.read().decode(errors="replace"))
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        outcome.processor_s += usage.ru_utime + usage.ru_stime
        if process.returncode != 0:
            outcome.succeeded = False
            break
    outcome.seconds = time.monotonic() - start
    return outcome


def run_all(wanted):
    """Steps with their outcomes as they end. `wanted`: pairs of a step and its commands. No two steps that build run at once."""
    for lanes in ({"cores": 1, "waits": 1}, {"clock": os.cpu_count()}):
        with contextlib.ExitStack() as pools:
            begun = {}
            for lane, at_once in lanes.items():
                pool = pools.enter_context(concurrent.futures.ThreadPoolExecutor(at_once))
                begun |= {pool.submit(run, commands): step for step, commands in wanted if step.lane == lane}
            for future in concurrent.futures.as_completed(begun):
                yield begun[future], future.result()


def hear_signals():
    """Whoever started us may ignore some, as nohup does: raddle would, too, and the tests send them to it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def forget_settings():
    """Those of whoever started us. Which GPUs they have been given, CUDA_VISIBLE_DEVICES, holds for tests, too."""
    for name in [name for name in os.environ if name.startswith(("RADDLE_", "CUDA_CACHE_"))]:
        del os.environ[name]
    os.environ["XDG_CONFIG_HOME"] = "/nowhere"


def main():
    parser = argparse.ArgumentParser(description="Runs the tests.")
    parser.add_argument("--list", action="store_true", help="the steps, and what they are")
    parser.add_argument("--quick", action="store_true", help="what finds most faults, in some five minutes")
    parser.add_argument("--verbose", action="store_true", help="the output of steps that pass, too")
    parser.add_argument("steps", nargs="*", metavar="STEP")
    options = parser.parse_args()
    if options.list:
        for step in STEPS:
            print(f"{step.name:<12} {step.about}")
        return
    unknown = set(options.steps) - {step.name for step in STEPS}
    if unknown:
        parser.error(f"no step {', '.join(sorted(unknown))}: {', '.join(step.name for step in STEPS)}")

    hear_signals()
    forget_settings()
    wanted = [(step, step.quick if options.quick and step.quick is not None else step.commands) for step in STEPS
              if not options.steps or step.name in options.steps]
    wanted = [(step, commands) for step, commands in wanted if commands]
    all_passed = all_failed = 0
    for step, outcome in run_all(wanted):
        passed, failed = counts_of(outcome.outputs, outcome.succeeded)
        all_passed += passed
        all_failed += failed
        if failed or options.verbose:
            print("".join(outcome.outputs).rstrip())
        print(f"-- {step.name}: {passed} passed, {failed} failed, {outcome.seconds:.1f} s, "
              f"{outcome.processor_s:.1f} s of processor", flush=True)
    print(f"{all_passed} passed, {all_failed} failed")
    sys.exit(1 if all_failed or not all_passed else 0)


if __name__ == "__main__":
    main()
