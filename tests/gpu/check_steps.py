"""Steps of gpu_check.py that compare runs of scripts with a device and without. Each prints its rows (check_rows.py)."""

import concurrent.futures
import contextlib
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from check_rows import tell, tell_failed

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import golden  # pylint: disable=wrong-import-position

LONG = sorted(HERE.glob("*.df"))
BITS = (HERE / "bits.df", HERE / "bits32.df")
WAYS = ("none", "all", "all:whole", "all:whole:resident")
SIMULATED_WAYS = ("none", "simulated", "simulated:whole")
KILLED = (("gravity", "--n=12000"), ("pi", "--n=10000"), ("predator_prey", "--n=20000"))  # and with few points
FEW = "--n=3000"

FAILS = """import io;
import stats;
@param int bad = 0;
(int y) f(int x, int bad) { y = 1000 %/ (x - bad) + x; }
int a[];
foreach i in [0:4999] { a[i] = f(i, bad); }
printf("%i", sum_integer(a));
"""
FAILS_IN_NEST = """import arrays;
@param int bad = 0;
int a[50, 100];
foreach i in [0:49], j in [0:99] { a[i, j] = 1000 %/ (i * 100 + j - bad) + i; }
trace(sum(a));
"""

# on a GPU, and only there, one call writes to an address that nobody has
WILD = """#include "raddle_kernel.h"
RADDLE_KERNEL void wild(raddle::Warp, int64_t k, int64_t& y) {
#ifdef __NVPTX__
  if (k == 5) *reinterpret_cast<volatile int64_t*>(8) = k;
#endif
  y = k + 1;
}
"""
CALLS_WILD = """import stats;
@kernel="wild.cu" (int y) wild(int k);
int a[];
foreach k in [0:99] { a[k] = wild(k); }
trace(sum_integer(a));
"""


def ways_of(options):
    return SIMULATED_WAYS if options.simulated else WAYS


def whole_ways_of(options):
    """Those by which all goes that can."""
    return [way for way in ways_of(options) if "whole" in way]


def on_devices(stderr):
    """Points of loops and calls of AppKernels."""
    return sum(int(n) for n in re.findall(r"^(?:points|calls) on device \d+, .*? (\d+)(?: in \d+ batches)?$", stderr, re.MULTILINE))


def is_for(filters, script):
    return not filters or any(part in str(script.relative_to(ROOT)) for part in filters)


class Run:
    """A script in a folder of its own: seconds, the process that has ended, {name: bytes} of the files that it has written."""

    def __init__(self, raddle, options, script, arguments):
        with tempfile.TemporaryDirectory(prefix="raddle-gpu-") as folder:
            begin = time.monotonic()
            self.done = subprocess.run([raddle, "run", "--stats", *options, str(script), *arguments], cwd=folder, capture_output=True, text=True, check=False)
            self.seconds = time.monotonic() - begin
            self.written = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}

    @property
    def points(self):
        return on_devices(self.done.stderr)

    def is_as(self, other):
        return self.done.returncode == 0 == other.done.returncode and (self.done.stdout, self.written) == (other.done.stdout, other.written)


@contextlib.contextmanager
def fresh_cache():
    with tempfile.TemporaryDirectory(prefix="raddle-gpu-cache-") as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        yield


def golden_difference(raddle, case, ways):
    """(points on devices, None or what differs). The second way and those behind it are tried if something goes by the first one."""
    options = [*case.options, "-O2", f"--workers={case.workers[0] if case.fixed_workers else 2}"]
    alone = golden.run_once(raddle, case, [*options, "--gpus=none"])
    if alone[0] != case.exit_code:  # both may fail for the same reason, and are alike
        return 0, f"exit code: {alone[0]} without a GPU, {case.exit_code} is expected\n{alone[2]}"
    points = 0
    for way in ways:
        beside = golden.run_once(raddle, case, [*options, "--stats", f"--gpus={way}"])
        points = points or on_devices(beside[2])
        for what, a, b in (("exit code", alone[0], beside[0]), ("stdout", golden.in_order(case, alone[1]), golden.in_order(case, beside[1]))):
            if a != b:
                return points, f"{what}: {a!r} without a GPU, {b!r} with {way}\n{beside[2]}"
        if points == 0:
            break
    return points, None


def golden_scripts(options):
    """All that there is time for, in an order that leaves out none of the folders."""
    end = time.monotonic() + options.seconds * 0.9
    cases = [case for case in golden.find_cases(options.filter) if not case.emit and case.exit_code != 3]
    cases = [case for first in range(16) for case in cases[first::16]]

    def compare(case):
        return golden_difference(options.raddle, case, whole_ways_of(options)) if time.monotonic() < end else None

    compared = went = differ = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, fresh_cache():
        for case, outcome in zip(cases, pool.map(compare, cases)):
            if outcome is None:
                continue
            points, difference = outcome
            compared += 1
            went += points > 0
            if difference:
                differ += 1
                tell_failed(f"{case.name}: {difference}")
    tell("golden_scripts", "golden scripts and examples, of those that there are", compared, f"of {len(cases)}")
    tell("golden_went", "of which something went to a GPU", went)
    tell("differing_scripts", f"that do something else by {' or '.join(whole_ways_of(options))} than by workers", differ)


def words_of(npy):
    """Of a file of NumPy with floats: its first bytes, which say what it is, and the numbers' bits."""
    first = 10 + int.from_bytes(npy[8:10], "little")
    return npy[:first], memoryview(npy)[first:].cast("I" if b"'<f4'" in npy[:first] else "Q")


def bits_of(options, script):
    """Whole arrays of results."""
    arguments = [FEW] if options.small else []
    number = 0
    alone = Run(options.raddle, ["--gpus=none"], script, arguments)
    for way in whole_ways_of(options):
        beside = Run(options.raddle, [f"--gpus={way}"], script, arguments)
        if beside.done.returncode != 0 or alone.done.returncode != 0 or set(alone.written) != set(beside.written):
            tell_failed(f"{script.stem}, {way}: {beside.done.stderr}{alone.done.stderr}")
            continue
        differ = 0
        for name, expected in sorted(alone.written.items()):
            (header, words), (other_header, other_words) = words_of(expected), words_of(beside.written[name])
            if header != other_header:
                tell_failed(f"{script.stem}, {way}: {name} is of another size or type")
                continue
            count = sum(a != b for a, b in zip(words, other_words)) if expected != beside.written[name] else 0
            differ += count
            number = len(words)
            tell("differing_arguments", f"{script.stem}, {way}: results of {pathlib.Path(name).stem} that differ", count, detail=True)
        tell("differing_arguments", f"{script.stem}, {way}: results of {len(alone.written)} functions and operators, {number:,} arguments each, that differ", differ,
             points=beside.points)


def bits(options):
    """Of each function of the library, and its form for float32."""
    for script in BITS:
        bits_of(options, script)


def failing(options):
    """Points that do not end well: what is said of them."""
    runs = differ = 0
    with tempfile.TemporaryDirectory(prefix="raddle-gpu-") as folder:
        for name, text in (("fails.df", FAILS), ("fails_in_nest.df", FAILS_IN_NEST)):
            pathlib.Path(folder, name).write_text(text, encoding="utf-8")
            for bad in (0, 32, 4999, -1):
                outcomes = []
                for way in ("none", *whole_ways_of(options)):
                    done = subprocess.run([options.raddle, "run", f"--gpus={way}", name, f"--bad={bad}"], cwd=folder, capture_output=True, text=True, check=False)
                    outcomes.append((done.returncode, done.stdout, re.sub(r"^raddle: warning: .*\n", "", done.stderr, flags=re.MULTILINE)))
                    if outcomes[0][0] != (0 if bad == -1 else 1) or outcomes[-1] != outcomes[0]:
                        differ += 1
                        tell_failed(f"{name} --bad={bad}, {way}: {outcomes[-1]}, without a GPU {outcomes[0]}")
                runs += len(outcomes) - 1
    tell("failing_points", "runs with a point that does not end well, or with none", runs)
    tell("differing_scripts", "that say something else than workers do", differ)


def scripts(options):
    """Seconds of the whole process, by each way."""
    differ = 0
    end = time.monotonic() + options.seconds * 0.6
    ways = ways_of(options)
    common, arguments = (["--workers=2"], [FEW]) if options.small else ([], [])
    with fresh_cache():
        for script in LONG:
            if not is_for(options.filter, script):
                continue
            if "@kernel" in script.read_text(encoding="utf-8") and not shutil.which("clang++-19"):
                tell("script_left_out", f"{script.stem}: left out, there is no clang++-19", "")
                continue
            if time.monotonic() > end:
                tell("script_left_out", f"{script.stem}: left out, there is no time for it", "")
                continue
            first = None
            for way in ways:
                if not options.small:
                    Run(options.raddle, [f"--gpus={way}", *common], script, [FEW])  # fills the caches of code
                run = Run(options.raddle, [f"--gpus={way}", *common], script, arguments)
                first = first or run
                tell("script", f"{script.stem}, {way}", run.seconds, "s", **({"points": run.points} if way != "none" else {}))
                if not run.is_as(first):
                    differ += 1
                    tell_failed(f"{script.stem} does something else by {way} than by workers: {run.done.stderr}")
    tell("differing_scripts", "runs that print or write something else than workers do", differ)


def start_up(options):
    """Of a script that needs no GPU: what looking for one would cost it. The driver is opened by who has work for it."""
    with tempfile.TemporaryDirectory(prefix="raddle-gpu-") as folder:
        pathlib.Path(folder, "empty.df").write_text("", encoding="utf-8")

        def seconds(gpus):
            begin = time.monotonic()
            subprocess.run([options.raddle, "run", f"--gpus={gpus}", "empty.df"], cwd=folder, check=True)
            return time.monotonic() - begin
        pairs = [(seconds("none"), seconds("all")) for _ in range(3 if options.small else 40)][1:]
    none_s, all_s = (statistics.median(each) for each in zip(*pairs))
    tell("start_up_alone", "an empty script, `none`: the process", 1e3 * none_s, "ms")
    tell("start_up", "the same with `all`, which needs no GPU, times `none`", all_s / none_s)


def kill_servers(process):
    """Those processes with its drivers that are there. @return how many"""
    killed = 0
    for children in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
        try:
            for child in children.read_text(encoding="ascii").split():
                if "-gpu-server" in pathlib.Path(f"/proc/{child}/cmdline").read_text(encoding="utf-8"):
                    os.kill(int(child), signal.SIGKILL)
                    killed += 1
        except OSError:  # it has just ended
            continue
    return killed


def kill_drivers_of(run):
    """As soon as there is one, then every half second, twice. @return how many were killed"""
    killed = 0
    while run.poll() is None and killed == 0:
        time.sleep(0.01)
        killed = kill_servers(run.pid)
    for _ in range(2):
        time.sleep(0.5)
        killed += kill_servers(run.pid)
    return killed


def kills(options):
    """@return how many runs print something else then"""
    differ = 0
    way = whole_ways_of(options)[0]
    for name, few in KILLED:
        script, arguments = HERE / f"{name}.df", [few] if options.small else []
        Run(options.raddle, [f"--gpus={way}"], script, [FEW])  # fills the caches of code
        alone = Run(options.raddle, [f"--gpus={way}"], script, arguments)
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="raddle-gpu-") as folder, \
                subprocess.Popen([options.raddle, "run", "--stats", f"--gpus={way}", str(script), *arguments], cwd=folder,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            killing = concurrent.futures.ThreadPoolExecutor(1).submit(kill_drivers_of, run)
            stdout, stderr = run.communicate()
            seconds = time.monotonic() - begin
            killed = killing.result()
        tell("killed", f"{name}, {way}: its driver killed {killed} times", seconds, "s", points=on_devices(stderr), alone_s=alone.seconds, kills=killed)
        if killed:
            tell("lost_by_a_kill", f"{name}, {way}: more than alone, for each kill", (seconds - alone.seconds) / killed, "s")
        if run.returncode != 0 or stdout != alone.done.stdout:
            differ += 1
            tell_failed(f"{name} does something else when its driver is killed: {stderr}")
    return differ


def wild_writes(options):
    """A kernel that breaks its driver's context. @return how many runs differ"""
    if not shutil.which("clang++-19"):
        tell("wild_left_out", "an illegal address: left out, there is no clang++-19", "")
        return 0
    with tempfile.TemporaryDirectory(prefix="raddle-gpu-") as folder:
        for name, text in (("wild.cu", WILD), ("wild.df", CALLS_WILD)):
            pathlib.Path(folder, name).write_text(text, encoding="utf-8")
        runs = []
        for way in ("none", whole_ways_of(options)[0]):
            begin = time.monotonic()
            runs.append(subprocess.run([options.raddle, "run", f"--gpus={way}", "wild.df"], cwd=folder, capture_output=True, text=True, check=False))
            seconds = time.monotonic() - begin
    tell("wild", "a kernel that writes to an illegal address: the run", seconds, "s", said=runs[1].stderr)
    if (runs[0].returncode, runs[0].stdout) != (runs[1].returncode, runs[1].stdout) or runs[0].returncode != 0:
        tell_failed(f"an illegal address changes what is printed: {runs[0].stdout!r}, {runs[1].stdout!r}, {runs[1].stderr}")
        return 1
    return 0


def faults(options):
    tell("differing_scripts", "runs that print something else when their driver fails", kills(options) + wild_writes(options))
