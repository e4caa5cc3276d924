#!/usr/bin/env python3
"""What to run on a machine with a GPU: `./dev gpu-check`.

    gpu_check.py [--raddle PATH] [--out FILE] [--jobs N] [--small] [--simulated] [--filter PART].. [STEP..]

Runs steps, or those that are named, one after the other, each no longer than its limit, all of them within 8 minutes: what
does not end then is ended, with all of its processes, and the next one runs. What they find are rows: lines of JSON in FILE,
as they come, and at the end a table, with what the figures should be. Meanwhile lines on standard error say which step
begins and how long it took. Ends with 1 if something fails or differs; goals that are not met are told only. Without a
driver it says so and ends with 0; a driver without a GPU, one that does not begin, and a tool that does not run are
failures.

--small: of few points and tasks, to see that everything runs; the figures mean nothing then.
--simulated: on a simulated device, for machines without a GPU: the steps that compare scripts.
"""

import argparse
import datetime
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

import check_compile
import check_rows
import check_steps  # which lets tests/support be found
from folder_tests import forget_cuda_caches

ROWS_OF_STEP = "--rows-of"  # in a process of its own, which has so many
SECONDS = "--seconds"
MOST_S = 8 * 60
LOOK_S = 60  # a driver that does not answer is given up sooner
NO_DRIVER = "there is no driver for GPUs of NVIDIA"


def bench_of(options):
    """raddle_gpu_bench, beside raddle as in a bundle or where it is built."""
    folder = pathlib.Path(options.raddle).parent
    found = [path for path in (folder / "raddle_gpu_bench", folder / "tests" / "raddle_gpu_bench") if path.exists()]
    return str(found[0]) if found else None


@dataclass(frozen=True)
class Step:
    name: str
    about: str
    limit_s: int
    work: object = None  # prints rows, in a process of its own; None: raddle_gpu_bench does, by that name
    is_simulated: bool = False  # also without a GPU

    def command(self, options, limit_s):
        if self.work is None:
            return [bench_of(options) or "raddle_gpu_bench", self.name, *(["--small"] if options.small else [])]
        given = [f"--{name}" for name in ("small", "simulated") if getattr(options, name)]
        return [sys.executable, __file__, ROWS_OF_STEP, self.name, SECONDS, str(limit_s), f"--raddle={options.raddle}", f"--jobs={options.jobs}", *given,
                *[f"--filter={part}" for part in options.filter]]


STEPS = [
    Step("facts", "the card and its driver", 10),
    Step("start", "what a script that needs no GPU takes where there is one", 10, check_steps.start_up),
    Step("compile", "how long the driver takes to compile kernels, and their registers", 30, check_compile.kernels),
    Step("driver", "launches, graphs, memory, copies, questions through host memory", 30),
    Step("bits", "results of all functions, bit for bit", 40, check_steps.bits, True),
    Step("golden", "golden scripts and examples do what they do on workers", 80, check_steps.golden_scripts, True),
    Step("failing", "points that do not end well", 20, check_steps.failing, True),
    Step("queues", "the queues of the super kernel: tasks, ranges, latency, efficiency", 45),
    Step("host", "what is the host's alone: our memory of a card, both ends of the queues", 15),
    Step("scripts", "longer scripts by workers, by launches, by the super kernel", 110, check_steps.scripts, True),
    Step("faults", "drivers that are killed, a kernel that breaks its driver", 40, check_steps.faults),
    Step("gemtc", "C programs, by gemtc.h", 30, check_compile.c_programs),
    Step("sanitizer", "compute-sanitizer on the queues, where it is", 20, check_compile.sanitizer),
]


def text_of_rows(text):
    """Rows of what a step has printed; what is no row it should not have said."""
    rows, said = [], []
    for line in text.splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            said.append(line)
    return rows + ([{"row": "failed", "what": "\n".join(said[-20:]), "failed": True}] if said else [])


class StepProcess:
    """A step that is run, with all processes that it starts."""

    def __init__(self, command):
        self.text = ""
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,  # pylint: disable=consider-using-with
                                        text=True, start_new_session=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.text += line

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def rows(self, limit_s):
        """What it has printed when it has ended, or was ended."""
        problem = None
        try:
            code = self.process.wait(limit_s)
            if code != 0:
                problem = f"it ends with code {code}"
        except subprocess.TimeoutExpired:
            problem = f"it did not end within {limit_s} s"
        finally:
            self.end()  # what it has left
        self.reader.join(5)
        rows = text_of_rows(self.text)
        if problem and not any(row.get("failed") for row in rows):
            rows.append({"row": "failed", "what": problem, "failed": True})
        return rows


def say(text):
    """While steps run: the table comes at the end."""
    print(f"gpu-check: {text}", file=sys.stderr, flush=True)


def rows_of(step, options, left_s):
    begin = time.monotonic()
    limit_s = max(1, min(step.limit_s, round(left_s)))
    say(f"{step.name} begins, at most {limit_s} s: {step.about}")
    try:
        rows = StepProcess(step.command(options, limit_s)).rows(limit_s)
    except OSError as error:
        rows = [{"row": "failed", "what": str(error), "failed": True}]
    say(f"{step.name} took {time.monotonic() - begin:.1f} s" + ", and failed" * any(check_rows.is_failed(row) for row in rows))
    return [{"step": step.name, **row} for row in rows]


def run_steps(steps, options):
    """@return the exit code"""
    rows, end = [], time.monotonic() + MOST_S
    with open(options.out, "w", encoding="utf-8") as out:
        def keep(more):
            rows.extend(more)
            for row in more:
                out.write(json.dumps(row) + "\n")
            out.flush()

        version = subprocess.run([options.raddle, "--version"], capture_output=True, text=True, check=False).stdout.strip()
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        keep([{"step": "run", "row": "begun", "what": f"{version}, {os.cpu_count()} cores, {os.uname().sysname} {os.uname().release}", "value": now, "unit": ""}])
        for step in steps:
            keep(rows_of(step, options, end - time.monotonic()))
        keep([{"step": "ratios", **row} for row in check_rows.tell_ratios(rows)])
    failed = check_rows.print_table(rows)
    print(f"rows as lines of JSON: {options.out}")
    return 1 if failed else 0


def problem_with_gpus(raddle):
    """Why none can be checked; "": one can."""
    try:
        found = subprocess.run([raddle, "run", "--gpus=1", "-e", "trace(1);"], capture_output=True, text=True, timeout=LOOK_S, check=False)
    except OSError as error:
        return str(error)
    except subprocess.TimeoutExpired:
        return f"{raddle} did not end within {LOOK_S} s"
    told = found.stderr.strip().removeprefix("raddle: warning: --gpus 1: ").removesuffix("; workers compute everything")
    return told if found.returncode == 0 else f"{raddle} ends with code {found.returncode}: {told}"


def main():
    parser = argparse.ArgumentParser(prog="gpu-check", description="Checks and measures what raddle does on the GPUs of this machine.",
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="\n".join(f"{step.name:<10} at most {step.limit_s:>3} s: {step.about}" for step in STEPS))
    parser.add_argument("--raddle", default=check_steps.golden.BUILT, metavar="PATH")
    parser.add_argument("--out", default="gpu-check.jsonl", metavar="FILE", help="for the rows (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=4, metavar="N", help="golden scripts at once (default: %(default)s)")
    parser.add_argument("--small", action="store_true", help="of few points and tasks, to see that everything runs")
    parser.add_argument("--simulated", action="store_true", help="on a simulated device: the steps that compare scripts")
    parser.add_argument("--filter", action="append", default=[], metavar="PART", help="only scripts with this in their path, of golden and scripts")
    parser.add_argument(ROWS_OF_STEP, dest="rows_of", help=argparse.SUPPRESS)
    parser.add_argument(SECONDS, dest="seconds", type=int, help=argparse.SUPPRESS)
    parser.add_argument("steps", nargs="*", metavar="STEP", help="only these")
    options = parser.parse_args()
    options.raddle = str(pathlib.Path(options.raddle).resolve())
    forget_cuda_caches()
    known = {step.name: step for step in STEPS}
    unknown = [name for name in options.steps if name not in known]
    if unknown:
        parser.error(f"no step {', '.join(unknown)}: {', '.join(known)}")
    if options.rows_of:
        options.bench = bench_of(options)
        known[options.rows_of].work(options)
        return 0
    steps = [step for step in STEPS if (not options.steps or step.name in options.steps) and (step.is_simulated or not options.simulated)]
    problem = "" if options.simulated else problem_with_gpus(options.raddle)
    if problem:
        print(f"gpu-check: {problem}")
        return 0 if problem.startswith(NO_DRIVER) else 1
    try:
        return run_steps(steps, options)
    except OSError as error:  # of the file for the rows
        print(f"gpu-check: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
