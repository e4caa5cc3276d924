#!/usr/bin/env python3
"""Random programs of numbers of 32 and 64 bits print what this file computes for them, to the last bit, in every mode.

    narrow_programs.py [--seed N] [--count N] [--seconds S] [--raddle PATH] [--show]

Scalars and dense arrays of int, int32, float, float32; operators between all of them, with literals, too; a few functions of
the library; conversions; functions of the script that are called with numbers and with arrays. The types of results are
computed here by the rules of grammar/language.md once more. Mathematics of float32 is not computed here: the programs
compare it with that of the floats, from which it is a unit of the last place away at most, and a number with an array.
"""

import math
import random
import struct

from random_programs import run_computed_programs

N = 5  # elements
PRELUDE = """import arrays;
import math;
(float v) wide(float x) { v = x; }
(boolean b) near(float32 found, float right) { b = abs(found - right) <= 1.2e-7 * abs(right); }
(float32 y) bent(float32 x, float32 k) { if (x > k) { y = x - k * 0.1; } else { y = 2.0 * (k - x) / 3; } }
(float32 s) series(float32 x, int32 m) {
  for (s = 0, int32 i = 1; i <= m; i = i + 1, s = next) { float32 next = float32(s + x / (i + 0.5 * x * x + 1)); }
}
"""
# with the greatest argument, and the least one, for which the result is neither too large nor too small
MATHEMATICS = {"exp": (-60, 80), "exp2": (-90, 90), "expm1": (-60, 80), "sin": (-1e30, 1e30), "cos": (-1e30, 1e30),
               "tan": (-1e30, 1e30), "atan": (-1e30, 1e30), "tanh": (-1e30, 1e30), "sinh": (-80, 80), "cosh": (-80, 80),
               "erf": (-1e30, 1e30), "erfc": (-1e30, 8), "cbrt": (-1e30, 1e30), "log": (1e-30, 1e30), "log2": (1e-30, 1e30),
               "log10": (1e-30, 1e30), "log1p": (-0.9, 1e30), "sqrt": (0, 1e30), "asin": (-1, 1), "acos": (-1, 1)}
NAMES = {"i": "int", "n": "int32", "f": "float", "g": "float32"}
WIDE = {"i": "i", "n": "i", "f": "f", "g": "f"}


class Unfit(Exception):
    """The program would fail, or what it computes says nothing."""


def narrowed(kind, value):
    if kind == "g":
        if math.isnan(value) or abs(value) > 1e30:
            raise Unfit
        return struct.unpack("<f", struct.pack("<f", value))[0]
    if kind == "n" and not -1 << 31 <= value < 1 << 31 or kind == "i" and abs(value) > 1 << 52:
        raise Unfit
    if kind == "f" and (math.isnan(value) or abs(value) > 1e30):
        raise Unfit
    return value


class Operand:
    def __init__(self, text, kind, values, is_known=False):
        self.text, self.kind, self.values, self.is_known = text, kind, values, is_known
        self.is_array = isinstance(values, list)

    def at(self, i):
        return self.values[i] if self.is_array else self.values


def takes_over(weak, other):
    """A literal, or a number beside an array, whose other operand is of 32 bits."""
    if other.kind == "g":
        may_take = True
    else:
        may_take = other.kind == "n" and weak.kind in "in"
    return may_take and (weak.is_known or (other.is_array and not weak.is_array))


def common(a, b):
    if a.kind == b.kind:
        return a.kind
    if takes_over(b, a):
        return a.kind
    if takes_over(a, b):
        return b.kind
    return "i" if a.kind in "in" and b.kind in "in" else "f"


def converted(kind, value):
    """What an operand is computed with."""
    return narrowed(kind, float(value) if kind in "fg" else value)


def mapped(text, kind, compute, *operands):
    is_array = any(o.is_array for o in operands)
    values = [narrowed(kind, compute(*(o.at(i) for o in operands))) for i in range(N if is_array else 1)]
    return Operand(text, kind, values if is_array else values[0])


def quotient(a, b):
    if b == 0:
        raise Unfit
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.expected, self.known = [], [], []

    def literal(self):
        if self.random.random() < 0.4:
            value = self.random.randint(0, 9)
            return Operand(str(value), "i", value, is_known=True)
        value = self.random.choice((0.1, 0.5, 1.25, 3.3, 7.7, 0.001))
        return Operand(str(value), "f", value, is_known=True)

    def operand(self):
        return self.literal() if self.random.random() < 0.25 else self.random.choice(self.known)

    def binary(self):
        a, b = self.operand(), self.operand()
        if a.is_known and b.is_known:
            b = self.random.choice(self.known)
        form = self.random.choice(("+", "-", "*", "/", "%/", "%%"))
        kind = common(a, b)
        if form in ("%/", "%%"):
            if kind not in "in":
                raise Unfit
        elif form == "/":
            kind = "g" if kind == "g" else "f"
        text = f"({a.text} {form} {b.text})"

        def compute(x, y):
            x, y = converted(kind, x), converted(kind, y)
            if form == "+":
                return x + y
            if form == "-":
                return x - y
            if form == "*":
                return x * y
            if form == "%/":
                return quotient(x, y)
            if form == "%%":
                return x - quotient(x, y) * y
            if y == 0:
                raise Unfit
            return x / y
        return mapped(text, kind, compute, a, b)

    def function(self):
        a = self.random.choice(self.known)
        which = self.random.randrange(7)
        if which == 0:
            return mapped(f"sqrt(abs({a.text}))", "g" if a.kind == "g" else "f", lambda x: math.sqrt(abs(x)), a)
        if which == 1:
            return mapped(f"abs({a.text})", a.kind, abs, a)
        if which == 2:
            return mapped(f"-{a.text}", a.kind, lambda x: -x, a)
        if which == 3:
            return mapped(f"float32({a.text})", "g", float, a)
        if which == 4:
            return mapped(f"int32({a.text})", "n", lambda x: math.trunc(x) if abs(x) < 1 << 31 else 1 << 40, a)
        if which == 5 and a.kind == "g":
            k = self.random.choice([o for o in self.known if o.kind == "g"])

            def bent(x, y):
                r = lambda v: narrowed("g", v)
                if x > y:
                    return x - r(y * r(0.1))
                return r(2.0 * r(y - x)) / 3
            return mapped(f"bent({a.text}, {k.text})", "g", bent, a, k)
        if which == 6 and a.kind == "g":
            count = self.random.randint(0, 6)

            def series(x):
                r = lambda v: narrowed("g", v)
                total = 0.0
                for i in range(1, count + 1):
                    # an int32 beside a float32 that is computed is a float
                    total = r(total + x / (i + r(r(r(0.5) * x) * x) + 1))
                return total
            return mapped(f"series({a.text}, {count})", "g", series, a)
        raise Unfit

    def statement(self):
        for _ in range(100):
            try:
                made = self.binary() if self.random.random() < 0.7 else self.function()
                break
            except (Unfit, OverflowError):
                continue
        else:
            return
        name = f"v{len(self.lines)}"
        kind, form = made.kind, self.random.randrange(3)
        if form == 0:  # declared, as a wider type perhaps
            kind = self.random.choice([k for k in "nifg" if k == kind or (kind, k) in
                                       (("n", "i"), ("n", "f"), ("i", "f"), ("g", "f"))])
            self.lines.append(f"{NAMES[kind]} {name}{'[:]' if made.is_array else ''} = {made.text};")
        else:
            self.lines.append(f"{name} = {made.text};")
        values = [float(v) if kind in "fg" else v for v in (made.values if made.is_array else [made.values])]
        self.keep(Operand(name, kind, values if made.is_array else values[0]))

    def keep(self, operand):
        self.known.append(operand)
        form = "%.17g" if operand.kind in "fg" else "%i"
        if operand.is_array:
            self.lines.append(f'foreach x, i in {operand.text} {{ printf("{operand.text} %i {form}", i, x); }}')
            self.expected += [f"{operand.text} {i} {form % x}" for i, x in enumerate(operand.values)]
        else:
            self.lines.append(f'printf("{operand.text} {form}", {operand.text});')
            self.expected.append(f"{operand.text} {form % operand.values}")

    def mathematics(self):
        a = self.random.choice([o for o in self.known if o.kind == "g"])
        function = self.random.choice(list(MATHEMATICS))
        least, most = MATHEMATICS[function]
        if not all(least <= a.at(i) <= most for i in range(N)):
            return
        name = f"m{len(self.lines)}"
        test = f"near({function}(x), {function}(wide(x)))"
        if a.is_array:
            self.lines.append(f"{name} = {function}({a.text});\nforeach x, i in {a.text} {{\n"
                              f'  if ({test} && {name}[i] == {function}(x)) {{ printf("{name} %i", i); }}\n}}')
            self.expected += [f"{name} {i}" for i in range(N)]
        else:
            self.lines.append(f'if ({test.replace("(x)", f"({a.text})")}) {{ printf("{name}"); }}')
            self.expected.append(name)

    def program(self):
        for kind in "nifg":
            number = self.random.randint(1, 99)
            value = narrowed(kind, number / 7 if kind in "fg" else number)
            text = f"{number} / 7.0" if kind in "fg" else str(number)
            if kind == "g":
                text = f"float32({text})"
            self.lines.append(f"{NAMES[kind]} s{kind} = {text};")
            self.keep(Operand(f"s{kind}", kind, value))
            step = self.random.randint(-9, 9)
            values = [narrowed(kind, (number + i * step) / 3 if kind in "fg" else number + i * step) for i in range(N)]
            text = f"{number} + i * {step}"
            text = {"i": text, "n": f"int32({text})", "f": f"({text}) / 3", "g": f"float32(({text}) / 3.0)"}[kind]
            self.lines.append(f"{NAMES[kind]} a{kind}[{N}];\nforeach i in [0:{N - 1}] {{ a{kind}[i] = {text}; }}")
            self.keep(Operand(f"a{kind}", kind, values))
        for _ in range(12):
            self.statement()
        for _ in range(3):
            self.mathematics()
        return PRELUDE + "\n".join(self.lines) + "\n", sorted(self.expected)


if __name__ == "__main__":
    run_computed_programs("narrow programs", "Random programs of numbers of 32 and 64 bits.", lambda seed: Generator(seed).program())
