#!/usr/bin/env python3
"""Golden tests: runs scripts and compares what they print with the files beside them.

    golden.py [--update-golden] [--raddle PATH] [--jobs N] [--workers N,..] [--scheduler WHICH]
              [--gpus WHICH] [--scheduler-seeds N] [--one-mode] [--each-program-once] [--not-fuzzed] [FILTER..]

Cases are the scripts tests/golden/**/*.df and examples/*.df. Beside NAME.df lie NAME.out (stdout; without it a run
that fails is to print nothing there) and NAME.err (stderr, exact; without it nothing is to be printed there, and a run
that fails needs it). The script's first line says how to run it; every part may be left out:

    // run: --workers=1,2,8 --keep-going  args: --points=10 word  env: NAME=VALUE  order: any  exit: 0  emit: ir

run    options of `raddle run`; --workers takes a list, and the case is run with each (default 1,2,8), at -O0 and at -O2
       unless an -O is given
args   what stands after the script's name
env    variables added to the environment; `$HERE` in a value is the folder that the script runs in
order  any: stdout is compared as sorted lines; exact: as it is (default: any)
exit   the exit code to expect (default 0). With 3 the script does not run: one run, one level
emit   compares the text of --emit=STAGE instead of running
needs  numpy: the case is left out where no python3, of PATH or the system's own, has it; the one that has comes first in PATH
       R: it is left out where there is no Rscript
seeds  none: what it prints rests on an order that the language leaves open: not run with --scheduler-seeds. A number: so many
       seeds at most, where the script does the same thing for a second

--scheduler-seeds N runs each case that runs at all with N seeds instead, each time with the next of its worker counts and
levels and of the schedulers: the order of tasks is perturbed, what is printed must be the same. Each case begins with another seed.

--gpus simulated:whole: with a device of threads, which gets all loops that devices can run, whatever the script's first line says. Only programs with kernels, by
build/raddle: each loop that a device can run has one. Of levels that make the same kernels only the last.

--one-mode runs each case once, in another of its modes than the case before it; with --gpus programs without kernels, too.

--each-program-once: of two levels only the last where both make the same program of the script, by build/raddle.

--not-fuzzed, for a tool with sanitizers: without what fuzz/run.py does under the same ones, the texts that do not compile and
--verify-each, which is part of each run otherwise.

A script runs in an empty folder with links to its data, so that what it writes does not lie in the tree, and is named
by its file name alone; names of temporary files on stderr become TEMPORARY. Folders data/ and modules/ (what scripts
import) hold no cases.
"""

import argparse
import concurrent.futures
import difflib
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILT = str(ROOT / "build" / "raddle")
TIMEOUT_S = 60
SHOWN_LINES = 60
LONGEST_INPUT = 4096  # that fuzz/run.py takes
SCHEDULERS = ("stealing", "tree", "tree-fifo")
KEYS = ("run", "args", "env", "order", "exit", "emit", "needs", "seeds")


@dataclass
class Case:
    """One script and what its first line asks for."""

    script: pathlib.Path
    options: list = field(default_factory=list)
    workers: list = field(default_factory=lambda: ["1", "2", "8"])
    levels: list = field(default_factory=lambda: ["-O0", "-O2"])
    arguments: list = field(default_factory=list)
    environment: dict = field(default_factory=dict)
    order: str = "any"
    exit_code: int = 0
    emit: str = ""
    needs: str = ""
    most_seeds: int | None = None
    fixed_workers: bool = False
    number: int = 0  # among those that are run
    only_mode: int | None = None  # number of the only mode to run it in
    verifies: bool = True  # with --verify-each

    @property
    def name(self):
        return str(self.script.relative_to(ROOT).with_suffix(""))

    def runs(self, scheduler_seeds):
        """Option lists, one for each time the script is started."""
        modes = [[level, f"--workers={n}"] for level in self.levels for n in self.workers]
        if not modes:
            return []
        if scheduler_seeds:
            seeds = [] if self.emit or self.exit_code == 3 else [seed + self.number for seed in scheduler_seeds[:self.most_seeds]]
            return [[*self.options, *modes[seed % len(modes)], scheduler_of(seed, len(modes)), f"--scheduler-seed={seed}"]
                    for seed in seeds]
        if self.emit:
            return [[*self.options, *(self.levels if len(self.levels) == 1 else []), f"--emit={self.emit}"]]
        if self.exit_code == 3:
            return [self.options]
        if self.only_mode is not None:
            modes = [modes[self.only_mode % len(modes)]]
        return [[*self.options, *(["--verify-each"] if self.verifies else []), *mode] for mode in modes]


def scheduler_of(seed, mode_count):
    """Each mode meets each scheduler in turn."""
    return f"--scheduler={SCHEDULERS[(seed + seed // mode_count) % len(SCHEDULERS)]}"


def parse_header(script):
    case = Case(script)
    with open(script, encoding="utf-8", errors="replace") as text:
        first = text.readline().strip()
    if re.match(r"//\s*(" + "|".join(KEYS[1:]) + "):", first):
        sys.exit(f"golden: {script}: the first line is to begin with `// run:`")
    if not re.match(r"//\s*run:", first):
        return case
    parts = re.split(r"\b(" + "|".join(KEYS) + r"):(?:\s|$)", first[2:])
    values = dict(zip(parts[1::2], (part.strip() for part in parts[2::2])))
    case.arguments = values.get("args", "").split()
    case.environment = dict(setting.split("=", 1) for setting in values.get("env", "").split())
    case.order = values.get("order", "any")
    case.exit_code = int(values.get("exit", "0"))
    case.emit = values.get("emit", "")
    case.needs = values.get("needs", "")
    if case.needs not in ("", "numpy", "R"):
        raise ValueError(f"{case.name}: it can need numpy or R, not {case.needs}")
    if "seeds" in values:
        case.most_seeds = 0 if values["seeds"] == "none" else int(values["seeds"])
    if case.order not in ("any", "exact"):
        raise ValueError(f"{case.name}: order is any or exact, not {case.order}")
    for option in values.get("run", "").split():
        if option.startswith("--workers="):
            case.workers = option.partition("=")[2].split(",")
            case.fixed_workers = True
        elif re.fullmatch(r"-O[012]", option):
            case.levels = [option]
        else:
            case.options.append(option)
    return case


@functools.cache
def path_with_numpy():
    """PATH, so that its python3 has NumPy; None: there is no such one."""
    for path in (os.environ["PATH"], "/usr/bin:" + os.environ["PATH"]):
        if subprocess.run(["python3", "-c", "import numpy"], env={**os.environ, "PATH": path}, capture_output=True, check=False).returncode == 0:
            return path
    return None


@functools.cache
def neighbours(folder):
    """Data and folders beside the cases, but not the other cases: there are hundreds."""
    return [path for path in folder.iterdir() if path.suffix not in (".df", ".out", ".err")]


def run_once(raddle, case, options, timeout_s=TIMEOUT_S):
    """(exit code, stdout, stderr) of one run in a folder of links."""
    with tempfile.TemporaryDirectory(prefix="raddle-golden-") as outer:
        folder, temporary = pathlib.Path(outer, "here"), pathlib.Path(outer, "tmp")
        folder.mkdir()
        temporary.mkdir()
        for neighbour in [case.script, *neighbours(case.script.parent)]:
            os.symlink(neighbour, folder / neighbour.name)
        command = [raddle, "run", *options, case.script.name, *case.arguments]
        environment = {**os.environ, "NO_COLOR": "1", "TERM": "dumb", "TMPDIR": str(temporary), "TMP": str(temporary)}
        if case.needs == "numpy":
            environment["PATH"] = path_with_numpy()
        if case.needs == "R":
            environment["LANGUAGE"] = "en"  # of R's own messages
        environment |= {name: value.replace("$HERE", str(folder)) for name, value in case.environment.items()}
        try:
            done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=timeout_s, check=False)
        except subprocess.TimeoutExpired:
            return None, "", ""
        err = re.sub(re.escape(str(temporary)) + r"/raddle_\w+", "TEMPORARY", done.stderr.decode(errors="replace"))
        return done.returncode, done.stdout.decode(errors="replace"), err


def in_order(case, text):
    return "".join(sorted(text.splitlines(keepends=True))) if case.order == "any" and not case.emit else text


def difference(what, expected, found):
    lines = list(difflib.unified_diff(expected.splitlines(), found.splitlines(), f"expected {what}", "found",
                                      lineterm=""))
    if len(lines) > SHOWN_LINES:
        lines = [*lines[:SHOWN_LINES], f"... {len(lines) - SHOWN_LINES} more lines"]
    return "\n".join(lines)


def text_of(path):
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else None


def fault_of(case, options, outcome):
    """What is wrong with one run, or None."""
    code, out, err = outcome
    if code is None:
        return "still running after the time-out"
    expected_out = text_of(case.script.with_suffix(".out"))
    expected_err = text_of(case.script.with_suffix(".err"))
    if code != case.exit_code:
        return f"exit code {code}, expected {case.exit_code}\n{err or out}".rstrip()
    if case.exit_code == 0 and expected_out is None:
        return f"no {case.script.stem}.out: write it, or take the output with --update-golden and read it"
    if case.exit_code != 0 and expected_err is None:
        return f"no {case.script.stem}.err: write it, or take the output with --update-golden and read it"
    if in_order(case, out) != in_order(case, expected_out or ""):
        return difference("stdout", in_order(case, expected_out or ""), in_order(case, out)) + f"\n{err}".rstrip()
    if err != (expected_err or "") and not differs_in_iterations(expected_err or "", err, options):
        return difference("stderr", expected_err or "", err)
    return None


def differs_in_iterations(expected, found, options):
    """Only in lines that tell the iteration of a failure. An optimised program may tell none, where no loop is left, and
    of several that fail at about the same time several workers tell any."""
    tells = re.compile(r"^ += note: at .*\n", re.MULTILINE)
    if tells.sub("", expected) != tells.sub("", found):
        return False
    is_in_order = "--workers=1" in options and not any(option.startswith("--scheduler-seed") for option in options)
    return not is_in_order or set(tells.findall(found)) <= set(tells.findall(expected))


def emitted(case, level, stage):
    return run_once(BUILT, case, [*case.options, level, f"--emit={stage}"])


def has_one_program(case):
    """At all of its levels: strands, and kernels, of which each launch has one of its own. That is all that the VM gets.
    The passes of a level are among those of the next one."""
    if case.emit or case.exit_code == 3 or len(case.levels) < 2:
        return False
    for stage in ("vm", "kernels"):
        first, *others = [emitted(case, level, stage) for level in case.levels]
        if first[0] != 0 or any(other != first for other in others):
            return False
    return True


def levels_with_kernels(case):
    """Each kernel once: of levels that make the same ones only the last."""
    kernels = {level: emitted(case, level, "kernels") for level in case.levels}
    found = [level for level in case.levels if kernels[level][0] != 0 or kernels[level][1] != ""]
    return found[-1:] if len({kernels[level] for level in found}) == 1 else found


def check(raddle, case, scheduler_seeds, timeout_s, each_program_once, with_kernels):
    """(case, None or the report of the first run that differs)."""
    if with_kernels:
        case.levels = levels_with_kernels(case)
    if each_program_once and has_one_program(case):
        case.levels = case.levels[-1:]
    for options in case.runs(scheduler_seeds):
        fault = fault_of(case, options, run_once(raddle, case, options, timeout_s))
        if fault:
            command = " ".join(["raddle run", *options, case.script.name, *case.arguments])
            return case, f"{command}\n{fault}"
    return case, None


def update(raddle, case):
    """Rewrites the files beside the script from its first run. (case, None or why it was left alone)."""
    code, out, err = run_once(raddle, case, case.runs([])[0])
    if code != case.exit_code:
        return case, f"left alone: exit code {code}, expected {case.exit_code}\n{err}"
    out_file, err_file = case.script.with_suffix(".out"), case.script.with_suffix(".err")
    known = text_of(out_file)
    if known is None or in_order(case, known) != in_order(case, out):
        keep(out_file, in_order(case, out), needed=case.exit_code == 0)
    keep(err_file, err, needed=case.exit_code != 0)
    return case, None


def keep(expected, text, needed):
    """Writes an expected file; one that says that nothing is printed only where the case needs it."""
    if text or needed:
        expected.write_text(text, encoding="utf-8")
    else:
        expected.unlink(missing_ok=True)


def is_fuzzed(case):
    """Its text is all of it: fuzz/run.py begins with it."""
    text = case.script.read_bytes()
    return len(text) <= LONGEST_INPUT and b"#include" not in text and not case.options


def find_cases(filters):
    scripts = sorted([*ROOT.glob("tests/golden/**/*.df"), *ROOT.glob("examples/**/*.df")])
    scripts = [s for s in scripts if not {"data", "modules"} & set(s.relative_to(ROOT).parts)]
    cases = [parse_header(s) for s in scripts if not filters or any(f in str(s.relative_to(ROOT)) for f in filters)]
    is_there = {"": lambda: True, "numpy": path_with_numpy, "R": lambda: shutil.which("Rscript")}
    return [case for case in cases if is_there[case.needs]()]


def main():
    parser = argparse.ArgumentParser(description="Runs the golden tests.")
    parser.add_argument("--update-golden", action="store_true", help="rewrite the expected files; read the difference")
    parser.add_argument("--raddle", default=BUILT)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--workers", help="comma-separated counts, for the cases that ask for none themselves")
    parser.add_argument("--scheduler", choices=SCHEDULERS, help="in place of the default one; not with seeds")
    parser.add_argument("--gpus", metavar="WHICH", help="option of `raddle run`, for all cases")
    parser.add_argument("--scheduler-seeds", type=int, default=0, metavar="N")
    parser.add_argument("--first-seed", type=int, default=1, metavar="N", help="with --scheduler-seeds, in place of 1")
    parser.add_argument("--one-mode", action="store_true", help="each case once")
    parser.add_argument("--each-program-once", action="store_true", help="at one level where both make the same program")
    parser.add_argument("--not-fuzzed", action="store_true", help="without what step fuzz does with each script")
    parser.add_argument("--timeout", type=float, default=TIMEOUT_S, metavar="S", help="for one run of a script")
    parser.add_argument("filters", nargs="*", metavar="FILTER", help="part of a case's path")
    options = parser.parse_args()
    if options.scheduler and options.scheduler_seeds:
        parser.error("--scheduler-seeds takes each scheduler in turn")
    raddle = str(pathlib.Path(options.raddle).resolve())
    if not os.access(raddle, os.X_OK):
        sys.exit(f"golden: {raddle} is not there: ./dev build")

    cases = find_cases(options.filters)
    for case in cases if options.workers else []:
        if not case.fixed_workers:
            case.workers = options.workers.split(",")
    for case in cases if options.scheduler else []:
        case.options.append(f"--scheduler={options.scheduler}")
    for case in cases if options.gpus else []:
        case.options = [*(option for option in case.options if not option.startswith("--gpus=")), f"--gpus={options.gpus}"]
    if options.gpus:
        cases = [case for case in cases if not case.emit and case.exit_code != 3]
    if options.not_fuzzed:
        cases = [case for case in cases if case.exit_code != 3 or not is_fuzzed(case)]
    for case in cases if options.gpus or options.not_fuzzed else []:
        case.verifies = False  # the IR is the same on every device
    for number, case in enumerate(cases):
        case.number = number
        case.only_mode = number if options.one_mode else None
    seeds = range(options.first_seed, options.first_seed + options.scheduler_seeds)
    work = functools.partial(check, raddle, scheduler_seeds=seeds, timeout_s=options.timeout,
                             each_program_once=options.each_program_once, with_kernels=bool(options.gpus) and not options.one_mode)
    if options.update_golden:
        work = functools.partial(update, raddle)
    failed = []
    with tempfile.TemporaryDirectory(prefix="raddle-golden-cache-") as cache, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        os.environ["XDG_CACHE_HOME"] = cache  # a script's first run compiles, the others share the machine code
        for case, report in pool.map(work, cases):
            if report:
                failed.append(case)
                print(f"FAIL {case.name}\n  " + report.replace("\n", "\n  "))
    passed = sum(bool(case.levels) for case in cases) - len(failed)  # a case without a level was not run
    print(f"golden: {passed} passed, {len(failed)} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
