#!/usr/bin/env python3
"""Functions in Python that a script declares: which Python, sweeps, sessions, ends. With arrays only where a python3 has NumPy.

    check_python.py [--raddle PATH] [FILTER]
"""

import os
import pathlib
import signal
import subprocess

from folder_tests import Fault, Folder, expect, expect_in, main, wait_for
from golden import path_with_numpy

MODES = ("", "-O0 ", "--interpret ", "--workers=1 ", "--workers=8 ", "--scheduler-seed=3 ", "--gpus=simulated:whole ")
WITHOUT_NUMPY = "raise ModuleNotFoundError(\"No module named 'numpy'\", name='numpy')\n"
MODEL = """import os
def twice(x): return 2 * x
def threads(): return os.environ["OMP_NUM_THREADS"]
def wait(path):
    import time
    with open(path, "w") as file: file.write(str(os.getpid()))
    time.sleep(600)
"""
ARRAYS = """import arrays;
@python="model:twice" (float y[n, m]) twice(float x[n, m]);
float x[:, :] = reshape(linspace(0.0, 1.0, 60000), 200, 300);
float y[:, :] = twice(twice(x));
trace(all(y == 4.0 * x), shape(y), sum(y) == 4.0 * sum(x));
"""


class PythonFolder(Folder):
    def __init__(self, raddle, path):
        super().__init__(raddle, path)
        self.write("model.py", MODEL)


def numbers_without_numpy(folder):
    folder.write("numpy.py", WITHOUT_NUMPY)
    folder.write("a.df", '@python="model:twice" (float y) twice(float x);\ntrace(twice(2.5));\n')
    for mode in MODES:
        folder.run(f"run {mode}a.df", 0, "trace: 5.0\n")


def arrays_without_numpy(folder):
    folder.write("numpy.py", WITHOUT_NUMPY)
    folder.write("a.df", ARRAYS)
    told = folder.run("run a.df", 1, "").stderr
    expect_in("a.df:2:39: error: `twice`: NumPy is needed, which `", told)
    expect_in("does not have: `apt-get install python3-numpy`, or `python3 -m pip install numpy` [run_time]", told)
    folder.write("model.py", "import numpy\n" + MODEL)  # or its own
    folder.write("b.df", '@python="model:twice" (float y) twice(float x);\ntrace(twice(2.5));\n')
    folder.run("run b.df", 1, "", "NumPy is needed, which")


def without_python(folder):
    folder.write("a.df", '@python="model:twice" (float y) twice(float x);\ntrace("before", twice(2.5));\ntrace("other");\n')
    folder.run("run --keep-going a.df", 1, "trace: other\n", "is Python 3 installed?", env={"PATH": "/nowhere"})


def arrays_in_all_modes(folder):
    path = path_with_numpy()
    if not path:
        return "left out: there is no NumPy"
    folder.write("a.df", ARRAYS)
    for mode in (*MODES, "--memory=64M ", "--memory=64M --workers=8 "):
        folder.run(f"run {mode}a.df", 0, "trace: 1,[200, 300],1\n", env={"PATH": path})


def result_beyond_memory(folder):
    """The process goes on with the next call."""
    path = path_with_numpy()
    if not path:
        return "left out: there is no NumPy"
    folder.write("model.py", "import numpy as np\ndef ones(n): return np.broadcast_to(1.0, (n,))\n")
    folder.write("a.df", 'import arrays;\n@python="model:ones" (float y[:]) ones_of(int n);\n'
                         "trace(size(ones_of(1000000000000)));\ntrace(size(ones_of(100000)));\n")
    folder.run("run --workers=1 --keep-going a.df", 1, "trace: 100000\n", "`ones_of`: the array `y` needs", env={"PATH": path})


def numpy_takes_one_thread(folder):
    folder.write("a.df", '@python="model:threads" (string s) threads();\ntrace(threads());\n')
    folder.run("run a.df", 0, "trace: 1\n", env={"OMP_NUM_THREADS": "1"})
    folder.run("run a.df", 0, "trace: 3\n", env={"OMP_NUM_THREADS": "3"})


def edited_model_runs_points_again(folder):
    folder.write("a.df", '@param float x = 1.0;\n@python="model:twice" (float y) twice(float x);\n@result float r = twice(x);\n')
    expect(folder.run("sweep -q -p x=1:3 -o -  a.df").stdout.splitlines()[1][:9], "1,2.0,ok,")
    folder.write("model.py", MODEL.replace("2 * x", "5 * x"))
    expect(folder.run("sweep -q -p x=1:3 -o -  a.df").stdout.splitlines()[1][:9], "1,5.0,ok,")


def failed_points_of_a_sweep(folder):
    folder.write("model.py", "def inverse(x): return 1 / x\n")
    folder.write("a.df", '@param float x = 1.0;\n@python="model:inverse" (float y) inverse(float x);\n@result float r = inverse(x);\n')
    rows = folder.run("sweep -q -p x=-1:1 -o - a.df", 4).stdout.splitlines()
    expect([row.split(",")[:3] for row in rows[1:]], [["-1", "-1.0", "ok"], ["0", "", "failed"], ["1", "1.0", "ok"]])
    expect_in("ZeroDivisionError", rows[2])


def edited_model_is_computed_again(folder):
    folder.write("a.df", '@python="model:twice" (float y) twice(float x);\n@memo (float y) kept(float x) { y = twice(x); }\n'
                         "trace(kept(2.0));\n")
    told = folder.run("run a.df", 0, "trace: 4.0\n", "[memo_effect]").stderr
    expect_in("`twice` runs code of which only the text is known", told)
    folder.run("run a.df", 0, "trace: 4.0\n")
    folder.write("model.py", MODEL.replace("2 * x", "5 * x"))
    folder.run("run a.df", 0, "trace: 10.0\n")


def modules_of_two_folders(folder):
    """Each beside the file that declares it."""
    folder.write("parts/other.py", "def half(x): return x / 2\n")
    folder.write("parts/b.df", '@python="other:half" (float y) half(float x);\n@python="model:twice" (float y) twice_of_b(float x);\n')
    folder.write("a.df", '@python="model:twice" (float y) twice(float x);\nimport "parts/b";\n'
                         "trace(twice(1.0), half(1.0), twice_of_b(1.0));\n")
    folder.run("run a.df", 0, "trace: 2.0,0.5,2.0\n")
    folder.write("parts/model.py", "def twice(x): return 3 * x\n")
    folder.write("c.df", 'import "parts/b";\n@python="model:twice" (float y) twice(float x);\n'
                         "trace(twice(1.0)) => trace(twice_of_b(1.0));\n")
    folder.run("run --workers=1 c.df", 1, "trace: 2.0\n", "is not imported, as there is another module `model`: ")
    folder.write("signal.py", "def f(x): return x\n")
    folder.write("d.df", '@python="signal:f" (float y) f(float x);\ntrace(f(1.0));\n')
    folder.run("run d.df", 1, "", "is not imported, as there is another module `signal`: ")


def session_calls_python(folder):
    lines = ['@python="model:twice" (float y) twice(float x);', "trace(twice(3.0));", 'import arrays;', "float x[:] = full(1.5, 20000);",
             '@python="model:twice" (float y[n]) twice_all(float x[n]);', "trace(sum(twice_all(x)));", "trace(twice(x[0]));"]
    path = path_with_numpy()
    done = subprocess.run([folder.raddle], cwd=folder.path, input="\n".join(lines if path else lines[:2]) + "\n",
                          env={**os.environ, "PATH": path or os.environ["PATH"]}, text=True, timeout=60, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    for shown in ("6.0", *(("60000.0", "3.0") if path else ())):
        expect_in(shown, done.stdout)


def interrupt_ends_the_process(folder):
    folder.write("a.df", '@python="model:wait" (void v) wait_for(string path);\nwait_for("here");\n')
    run = folder.start("run a.df")
    there = folder.path / "here"
    wait_for(lambda: there.exists() and there.read_text(encoding="ascii"), "the call")
    pid = int(there.read_text(encoding="ascii"))
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=20)
    if run.returncode == 0:
        raise Fault("the run has ended well")
    wait_for(lambda: not pathlib.Path(f"/proc/{pid}").exists() or "Z" in pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").split()[2],
             "the end of the process")


TESTS = [
    numbers_without_numpy,
    arrays_without_numpy,
    without_python,
    arrays_in_all_modes,
    result_beyond_memory,
    numpy_takes_one_thread,
    edited_model_runs_points_again,
    failed_points_of_a_sweep,
    edited_model_is_computed_again,
    modules_of_two_folders,
    session_calls_python,
    interrupt_ends_the_process,
]


if __name__ == "__main__":
    os.environ.pop("OMP_NUM_THREADS", None)
    main("python", "Tests functions in Python that a script declares.", TESTS, PythonFolder)
