"""Tests that are functions of a fresh folder: run one after the other, faults told, counted."""

import argparse
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Fault(Exception):
    """What a test has found wrong."""


def expect(found, expected):
    if found != expected:
        raise Fault(f"expected {expected!r}, found {found!r}")


def expect_in(part, whole):
    if part not in whole:
        raise Fault(f"expected {part!r} in {whole!r}")


def wait_for(condition, what, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Fault(f"waited {seconds} s in vain for {what}")
        time.sleep(0.01)


def processor_s(pid):
    """Processor time that a process has used, in seconds."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Folder:
    """A folder in which commands are typed."""

    def __init__(self, raddle, path):
        self.raddle = raddle
        self.path = pathlib.Path(path)

    def run(self, line, code=0, out=None, err="", env=None):
        """`out`: the whole of standard output; `err`: a part of standard error; `env`: variables that are added."""
        done = subprocess.run([self.raddle, *shlex.split(line)], cwd=self.path, env={**os.environ, **(env or {})},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False,
                              text=True)
        if done.returncode != code:
            raise Fault(f"{line}: exit code {done.returncode}, expected {code}: {done.stderr}")
        if out is not None and done.stdout != out:
            raise Fault(f"{line}: expected {out!r}, found {done.stdout!r}")
        if err not in done.stderr:
            raise Fault(f"{line}: expected {err!r} on stderr, found {done.stderr!r}")
        return done

    def start(self, line, env=None):
        """A process that is not waited for, with pipes in place of its outputs."""
        return subprocess.Popen([self.raddle, *shlex.split(line)], cwd=self.path, env={**os.environ, **(env or {})},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def write(self, name, text):
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_text(text, encoding="utf-8")

    def read(self, name):
        return (self.path / name).read_text(encoding="utf-8")


def run_tests(label, tests, call):
    """`call(test, folder)` runs one; what it returns, if anything, is printed. Ends the process."""
    failed = 0
    for test in tests:
        with tempfile.TemporaryDirectory(prefix=f"raddle-{label}-") as folder:
            try:
                told = call(test, pathlib.Path(folder))
                if told:
                    print(f"{label}: {test.__name__}: {told}")
            except (Fault, OSError, subprocess.SubprocessError, ValueError, IndexError, KeyError) as fault:
                failed += 1
                print(f"{label}: {test.__name__}: {fault}")
    print(f"{label}: {len(tests) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


def forget_cuda_caches():
    """Where the driver keeps what it compiles is not for whoever started us to say."""
    for name in [name for name in os.environ if name.startswith("CUDA_CACHE_")]:
        del os.environ[name]


def main(label, description, tests, folder_type=Folder):
    """Reads the command line, `[--raddle PATH] [FILTER]`; ends the process."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--raddle", default=str(ROOT / "build" / "raddle"))
    parser.add_argument("filter", nargs="?", default="")
    options = parser.parse_args()
    raddle = str(pathlib.Path(options.raddle).resolve())
    forget_cuda_caches()
    with tempfile.TemporaryDirectory(prefix=f"raddle-{label}-cache-") as cache:
        os.environ.update(NO_COLOR="1", TERM="dumb", XDG_CACHE_HOME=cache, XDG_CONFIG_HOME=cache)
        run_tests(label, [test for test in tests if options.filter in test.__name__],
                  lambda test, folder: test(folder_type(raddle, folder)))
