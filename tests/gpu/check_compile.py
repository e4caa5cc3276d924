"""Steps of gpu_check.py about code: how long it takes to be compiled, which registers it needs, what compute-sanitizer
says of it. Each prints its rows (check_rows.py)."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

from check_rows import tell, tell_failed

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LEAVES = (ROOT / "examples/lynx_hare.df", ROOT / "examples/option_book.df", HERE / "collatz.df", HERE / "gravity.df", HERE / "predator_prey.df", HERE / "bits.df")
SUPER = ROOT / "examples/lynx_hare.df"

# ten of them, each called in a loop of its own length, so that it is a kernel of its own
PLAIN_LEAF = """(float y) leaf{k}(float x) {{
  for (y = x, int i = 0; i < 20 + {k}; i = i + 1, y = next) {{ float next = (y - x) * (y + {k}.5) / (1.0 + y * y) + {k}.25; }}
}}
float a{k}[];
foreach i in [0 : 999 + {k}] {{ a{k}[i] = leaf{k}(itof(i) * 0.01); }}
"""
MATHEMATICAL_LEAF = """(float y) leaf{k}(float x) {{ y = exp(-x * {k}.5) * sin(x + {k}.25) + log(1.0 + x * x) * tanh(x - {k}.0) + cos(x) ** 2.0; }}
float a{k}[];
foreach i in [0 : 999 + {k}] {{ a{k}[i] = leaf{k}(itof(i) * 0.01); }}
"""
IMPORTS = "import math;\n"


def ptx_of(raddle, script):
    """{name: PTX} of its kernels."""
    text = subprocess.run([raddle, "run", "--emit=ptx", str(script)], capture_output=True, text=True, check=True).stdout
    parts = re.split(r"^// (\S+)\n(?=//\n// Generated)", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def modules(options, texts, folder, environment=None):
    """The rows of raddle_gpu_bench for PTX by names; None: it has failed, which is told."""
    files = []
    for name, text in texts.items():
        files.append(pathlib.Path(folder, name + ".ptx"))
        files[-1].write_text(text, encoding="latin-1")
    done = subprocess.run([options.bench or "raddle_gpu_bench", "modules", *map(str, files)], capture_output=True, text=True, check=False,
                          env={**os.environ, **(environment or {})})
    if done.returncode != 0:
        print(done.stdout + done.stderr, end="")
        return None
    return [json.loads(line) for line in done.stdout.splitlines()]


def ten_leaves(options, row, what, leaf):
    """From their text to code on the card, and once more from the driver's cache."""
    with tempfile.TemporaryDirectory(prefix="raddle-gpu-") as folder:
        script = pathlib.Path(folder, "leaves.df")
        script.write_text(IMPORTS + "".join(leaf.format(k=k) for k in range(3, 13)), encoding="utf-8")
        begin = time.monotonic()
        texts = ptx_of(options.raddle, script)
        emit_s = time.monotonic() - begin
        compiled = modules(options, texts, folder)
        kept = {"CUDA_CACHE_DISABLE": "0", "CUDA_CACHE_PATH": str(pathlib.Path(folder, "cubins"))}
        loaded = [modules(options, texts, folder, kept) for _ in range(2)][-1]
    if compiled is None or loaded is None:
        return
    if len(compiled) != 10:
        tell_failed(f"of ten leaves {what} {len(compiled)} are kernels")
    driver_ms = sum(each["value"] for each in compiled)
    tell(row, f"{len(texts)} leaves {what}, from text to code on the card: our compiler {emit_s:.2f} s, the driver", emit_s + driver_ms / 1e3, "s")
    if row == "ten_leaves":
        tell("ten_leaves_kept", "the driver once more, from its cache of cubins", sum(each["value"] for each in loaded), "ms")


def kernels(options):
    """Of some scripts, and the super kernel of one."""
    with tempfile.TemporaryDirectory(prefix="raddle-gpu-") as folder:
        for script in LEAVES[:1] if options.small else LEAVES:
            for row in modules(options, {f"{script.stem} {name}": text for name, text in ptx_of(options.raddle, script).items()}, folder) or []:
                tell(**row)
        text = subprocess.run([options.raddle, "run", "--emit=super", str(SUPER)], capture_output=True, text=True, check=True).stdout
        for row in modules(options, {f"{SUPER.stem}, all of it as a super kernel": text}, folder) or []:
            tell(**row)
    ten_leaves(options, "ten_leaves", "without mathematics", PLAIN_LEAF)
    ten_leaves(options, "ten_leaves_mathematics", "with mathematics", MATHEMATICAL_LEAF)


def c_programs(options):
    """The tests of gemtc.h on the GPU, and its tasks that do nothing."""
    folder = pathlib.Path(options.bench or "").parent
    program, code = str(folder / "raddle_gemtc_test"), str(folder / "gemtc_test_gpu.ptx")
    begin = time.monotonic()
    done = subprocess.run([program, "--gpu", code], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        tell_failed(f"gemtc.h on a GPU, code {done.returncode}: {done.stdout}{done.stderr}")
        return
    tell("gemtc", "all tests of gemtc.h on a GPU", time.monotonic() - begin, "s")
    if not options.small:
        rate = subprocess.run([program, "--rate", code], capture_output=True, text=True, check=True).stdout
        tell("gemtc_tasks", "null tasks of a C program, one host thread, pushed and polled", float(rate.split()[0]) / 1e6, "M/s")


def sanitizer(options):
    """memcheck, which finds addresses of nobody, and no races."""
    tool = shutil.which("compute-sanitizer", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
    if tool is None:
        tell("sanitizer_left_out", "left out: there is no compute-sanitizer", "")
        return
    done = subprocess.run([tool, "--tool", "memcheck", options.bench or "raddle_gpu_bench", "--small", "queues"], capture_output=True, text=True, check=False)
    found = re.search(r"ERROR SUMMARY: (\d+) errors?", done.stdout + done.stderr)
    if found is None or found[1] != "0" or done.returncode != 0:
        tell_failed(f"compute-sanitizer, code {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")
    else:
        tell("sanitizer", "errors that memcheck finds in the queues", 0)
