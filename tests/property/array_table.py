#!/usr/bin/env python3
"""The functions of `import arrays;` give what array_table.txt says, which NumPy has computed (make_array_table.py).

    array_table.py [--seed N] [--raddle PATH] [--jobs N]

A line of the table: `F12:2,3 1 -> f3:0.5 2. -1.` below `[sum(#0, axis=#1)]`. #0 is the stretch of the pool of floats from
number 12 on as an array of the shape [2, 3], #1 is 1; the result is an array of 3 floats. The pools are F, I, B of float, int,
boolean, G and J of float32 and int32, results accordingly f, i, b, g, j: g and j are declared, so a wider result is an error. `~1e-15` behind it: as near as
that; without it all bits are equal, but for the sign of a zero that is the largest or smallest of two. `error`: refused by
NumPy, too. `refused NAME`: by Raddle alone, on purpose; the head of the table says why.

Each script has cases of all functions, and runs in one of the modes. Before, `raddle check` says nothing of a case that is
not refused; for the run the extents and ints of those that are refused are hidden from it.
"""

import argparse
import array
import concurrent.futures
import itertools
import math
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = pathlib.Path(__file__).with_name("array_table.txt")
MODES = (["-O2", "--workers=1"], ["-O2", "--workers=8"], ["-O0", "--interpret", "--workers=1"], ["-O0", "--workers=8"],
         ["-O2", "--interpret", "--workers=8"], ["-O2", "--workers=2", "--leaf-threshold=0"], ["-O1", "--workers=1"])
CASES_OF_SCRIPT = 220
TIMEOUT_S = 120
ARRAY = re.compile(r"([FIBGJ])(\d+):([\d,]+)")
RESULT = re.compile(r"([fibgj])([\d,]*):([^fibgj~:]*(?:inf[^fibgj~:]*|nan[^fibgj~:]*)*)")
ZEROS_OF_ANY_SIGN = re.compile(r"\[(a?max|a?min|clip|sort|unique|unique_counts|median|quantile|cummax|cummin)\(")


@dataclass
class Case:
    line: int  # of the table
    call: str
    outputs: int
    arguments: list
    expected: str
    number: int = 0  # in its script

    def is_refused(self):
        return self.expected == "error" or self.expected.startswith("refused ")


def read_table():
    pools, cases, call, outputs = {}, [], "", 1
    for number, line in enumerate(TABLE.read_text(encoding="ascii").splitlines(), 1):
        if line[:2] in ("F ", "I ", "B ", "G ", "J "):
            pools[line[0]] = line[2:].split()
        elif line.startswith("["):
            call, _, more = line.partition("] ")
            call, outputs = (call[1:], int(more)) if more else (line[1:-1], 1)
        elif not line.startswith("#"):
            arguments, _, expected = line.partition(" -> ")
            cases.append(Case(number, call, outputs, arguments.split(), expected))
    return pools, cases


def write_npy(path, kind, texts):
    """As NumPy writes it."""
    descr, code, number = {"F": ("<f8", "d", float), "I": ("<i8", "q", int), "B": ("|b1", "B", int), "G": ("<f4", "f", float),
                           "J": ("<i4", "i", int)}[kind]
    values = array.array(code, map(number, texts))
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({len(texts)},), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + values.tobytes())


HEAD = """import arrays;
float F[:] = read_npy(input("F.npy"));
int I[:] = read_npy(input("I.npy"));
boolean B[:] = read_npy(input("B.npy"));
float32 G[:] = read_npy(input("G.npy"));
int32 J[:] = read_npy(input("J.npy"));
(int n) zero_() { n = size(I, 0) - size(I, 0); }
(float b[:, :]) square_(float a[:, :]) { b = matmul(transpose(a), a); }
(float b[:, :]) q_r_(float a[:, :]) { (q, r) = qr(a); b = matmul(q, r); }
(float b[:, :]) q_q_(float a[:, :]) { (q, r) = qr(a); b = square_(q); }
(float b[:, :]) r_(float a[:, :]) { (q, r) = qr(a); b = abs(r); }
(float s[:]) singular_(float a[:, :]) { (u, t, v) = svd(a); s = t; }
(float b[:, :]) u_s_v_(float a[:, :]) { (u, s, v) = svd(a); b = matmul(u * s, v); }
(float b[:, :]) u_u_(float a[:, :]) { (u, s, v) = svd(a); b = square_(u); }
(float b[:, :]) v_v_(float a[:, :]) { (u, s, v) = svd(a); b = square_(transpose(v)); }
(float w[:]) eigen_(float a[:, :]) { (v, u) = eigh(a + transpose(a)); w = v; }
(float b[:, :]) v_w_v_(float a[:, :]) { (w, v) = eigh(a + transpose(a)); b = matmul(v * w, transpose(v)); }
(float b[:, :]) vectors_(float a[:, :]) { (w, v) = eigh(a + transpose(a)); b = square_(v); }
(float b[:, :]) p_l_u_(float a[:, :]) { (p, l, u) = lu(a); b = matmul(p, matmul(l, u)); }
(float b[:, :]) l_(float a[:, :]) { (p, l, u) = lu(a); b = l; }
(float b[:, :]) u_(float a[:, :]) { (p, l, u) = lu(a); b = u; }
"""
FIRST_LINE = HEAD.count("\n")  # of the cases in a script, from 0 on
TYPES = {"g": "float32", "j": "int32"}


def argument_text(text, is_hidden):
    """@param is_hidden  extents and ints are not known before the run"""
    drawn = ARRAY.fullmatch(text)
    if not drawn and is_hidden and re.fullmatch(r"-?\d+", text):
        return f"({text} + zero_())"
    if not drawn:
        return f"({text})" if text.startswith("-") else text
    pool, at, extents = drawn[1], int(drawn[2]), [int(extent) for extent in drawn[3].split(",")]
    end = at + math.prod(extents) - 1
    stretch = f"{pool}[{at} : {end}]" if end >= at else f"{pool}[{at} : {at} - zero_() - 1]"
    if is_hidden and end >= at:
        stretch = f"{pool}[{at} : {end} + zero_()]"
    return stretch if len(extents) == 1 else f"reshape({stretch}, {', '.join(map(str, extents))})"


def script_of(cases, hides):
    """Two lines a case, from FIRST_LINE on. @param hides  what is refused is not to be known before the run"""
    lines = []
    for case in cases:
        call = case.call
        for i, text in enumerate(case.arguments):
            call = call.replace(f"#{i}", argument_text(text, hides and case.is_refused()))
        names = [f"r{case.number}_{i}" for i in range(case.outputs)]
        results = results_of(case.expected) or [("f", "", "")] * len(names)
        targets = [declared(name, kind, extents) for name, (kind, extents, _) in zip(names, results)]
        lines.append(f"{targets[0] if len(names) == 1 else '(' + ', '.join(targets) + ')'} = {call};")
        shown = []
        for name, (_, extents, _) in zip(names, results):
            if not extents:
                shown.append(name)
            else:
                shown += [f"shape({name})", f"flatten({name})"]
        lines.append(f'trace("{case.number}", {", ".join(shown)});')
    return HEAD + "\n".join(lines) + "\n"


def declared(name, kind, extents):
    if kind not in TYPES:
        return name
    return f"{TYPES[kind]} {name}" + (f"[{', '.join(':' for _ in extents.split(','))}]" if extents else "")


def results_of(expected):
    if expected == "error" or expected.startswith("refused "):
        return []
    return [found.groups() for found in RESULT.finditer(expected.partition(" ~")[0])]


def same_bits(a, b):
    return (math.isnan(a) and math.isnan(b)) or struct.pack("d", a) == struct.pack("d", b)


def fault_of(case, shown):
    """@param shown  what `trace` prints behind the number"""
    wanted = results_of(case.expected)
    bounds = [float(one) for one in (case.expected.partition(" ~")[2] or "-1").split(",")]  # one, or one for each element
    parts = re.findall(r"\[[^\]]*\]|[^,\[\]]+", shown)
    for kind, extents, texts in wanted:
        if extents:
            shape = parts.pop(0)
            if shape != f"[{extents.replace(',', ', ')}]":
                return f"the shape {shape}, not [{extents}]"
        found = parts.pop(0).strip("[]").split(", ") if parts else []
        if found == [""]:
            found = []
        values = texts.split()
        if len(found) != len(values):
            return f"{len(found)} elements, not {len(values)}"
        for i, (one, other) in enumerate(zip(found, values)):
            if not agree(kind, one, other, bounds[i if len(bounds) > 1 else 0], ZEROS_OF_ANY_SIGN.match(f"[{case.call}") is not None):
                return f"element {i} is {one}, not {other}"
    return None


def agree(kind, found, wanted, bound, is_sign_open):
    if kind == "b":
        return found in (("true", "1") if wanted == "1" else ("false", "0"))
    if kind in "ij":
        return found == wanted
    if re.fullmatch(r"-?\d+", found):
        return False  # an int
    a, b = float(found.lower()), float(wanted)
    if kind == "g":  # the texts are the shortest
        a, b = array.array("f", [a, b])
    if same_bits(a, b) or (is_sign_open and a == b):
        return True
    return bound >= 0 and math.isfinite(a) and math.isfinite(b) and abs(a - b) <= bound


def check_script(raddle, folder, index, cases):
    """What is told before the run is refused, too. @return faults"""
    script = folder / f"checked{index}.df"
    script.write_text(script_of(cases, False), encoding="ascii")
    done = subprocess.run([raddle, "check", script.name], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False)
    faults = []
    for line, text in re.findall(rf"^{script.name}:(\d+):\d+: (\w+: .*)$", done.stdout + done.stderr, re.MULTILINE):
        case = cases[max(int(line) - 1 - FIRST_LINE, 0) // 2]
        if int(line) > FIRST_LINE and not case.is_refused():
            faults.append(f"{TABLE.name}:{case.line}: {case.call} of {' '.join(case.arguments)}: `check` says {text}")
    return faults


def run_script(raddle, folder, index, mode, cases):
    """@return faults"""
    faults = check_script(raddle, folder, index, cases)
    script = folder / f"table{index}.df"
    script.write_text(script_of(cases, True), encoding="ascii")
    command = [raddle, "run", "--keep-going", "--no-jit-cache", *mode, script.name]
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S,
                          check=False)
    shown = dict(line[len("trace: "):].split(",", 1) for line in done.stdout.splitlines() if line.startswith("trace: "))
    for case in cases:
        text = shown.get(str(case.number))
        if text is None:
            fault = None if case.is_refused() else "gives nothing"
        else:
            fault = f"gives {text}, and is to be refused" if case.is_refused() else fault_of(case, text)
        if fault:
            faults.append(f"{TABLE.name}:{case.line}: {case.call} of {' '.join(case.arguments)} {' '.join(mode)}: {fault}")
    # what has failed at one place of the library several times is told once
    again = sum(int(times) - 1 for times in re.findall(r"note: (\d+) times in this run", done.stderr))
    told, refused = len(re.findall(r": error: ", done.stderr)) + again, sum(case.is_refused() for case in cases)
    if done.returncode != (1 if refused else 0) or told < refused:
        faults.append(f"{script.name} {' '.join(mode)} ends with {done.returncode} and {told} errors, of {refused} that are "
                      f"refused:\n{done.stderr}")
    return faults


def main():
    parser = argparse.ArgumentParser(description="Compares the library's functions of arrays with NumPy's.")
    parser.add_argument("--seed", type=int, default=1, help="which cases share a script, and so a mode")
    parser.add_argument("--raddle", type=pathlib.Path, default=ROOT / "build" / "raddle")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    pools, cases = read_table()
    random.Random(options.seed).shuffle(cases)
    faults = []
    with tempfile.TemporaryDirectory(prefix="raddle-table-") as name:
        folder = pathlib.Path(name)
        for kind, texts in pools.items():
            write_npy(folder / f"{kind}.npy", kind, texts)
        scripts = [cases[i:i + CASES_OF_SCRIPT] for i in range(0, len(cases), CASES_OF_SCRIPT)]
        for script in scripts:
            for number, case in enumerate(script):
                case.number = number
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            jobs = [pool.submit(run_script, options.raddle.resolve(), folder, i, mode, script)
                    for i, (script, mode) in enumerate(zip(scripts, itertools.cycle(MODES)))]
            for job in jobs:
                faults += job.result()
    for fault in faults:
        print("table:", fault)
    print(f"table: {len(cases) - len(faults)} passed, {len(faults)} failed")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
