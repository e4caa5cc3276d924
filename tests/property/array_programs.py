#!/usr/bin/env python3
"""Random programs of dense arrays print what this file computes for them, number by number, in every mode.

    array_programs.py [--seed N] [--count N] [--seconds S] [--raddle PATH] [--show]

Shapes, views, types and operations are drawn: operators, mathematics, functions of the script, broadcasting, slices with
steps, assignment by slices, `where`, reductions, loops that fill arrays and loops that carry them, models. Every fifth program has shapes that do not fit:
it ends with an error in every mode.
"""

import itertools
import math
import pathlib
import random

import models
from program_tree import text_of
from random_programs import modes_of, run_programs, wrong_failure, wrong_output

PRELUDE = """import arrays;
""" + models.PRELUDE + """
(float y) bent(float x, float k) { if (x > k) { y = x - k; } else { y = 2.0 * (k - x); } }
(int q, int r) parts(int a, int b) { q = a %/ b; r = a %% b; }
(float w) width(float x[n]) { w = max(x * 2.0) - min(x * 2.0); }
(int t) total(int x[n], int k, boolean b) { if (b) { t = sum(x * k); } else { t = max(x + k); } }
"""


class Array:
    """Elements in row-major order."""

    def __init__(self, kind, shape, elements):
        self.kind, self.shape, self.elements = kind, tuple(shape), list(elements)

    def at(self, index):
        flat = 0
        for extent, i in zip(self.shape, index):
            flat = flat * extent + i
        return self.elements[flat]


def indices(shape):
    return itertools.product(*(range(extent) for extent in shape))


def stretched(array, shape):
    """Elements of a scalar or an array as NumPy repeats them."""
    if not isinstance(array, Array):
        return [array] * math.prod(shape)
    skipped = len(shape) - len(array.shape)
    return [array.at([0 if extent == 1 else i for extent, i in zip(array.shape, index[skipped:])])
            for index in indices(shape)]


def joint(*operands):
    shapes = [o.shape for o in operands if isinstance(o, Array)]
    rank = max(len(shape) for shape in shapes)
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    return tuple(max(extents) if 0 not in extents else 0 for extents in zip(*padded))


def lift(kind, compute, *operands):
    shape = joint(*operands)
    columns = [stretched(o, shape) for o in operands]
    return Array(kind, shape, [compute(*values) for values in zip(*columns)])


def truncated(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.expected, self.arrays = [], [], []
        self.extents = {f"n{i}": self.random.choice((1, 2, 3, 4, 5)) for i in range(3)}

    def name(self):
        return f"a{len(self.lines)}_"

    def number(self, kind):
        if kind == "int":
            return self.random.randint(-9, 9)
        if kind == "boolean":
            return self.random.random() < 0.5
        return self.random.randint(-64, 64) / 8

    def literal(self, value):
        if isinstance(value, bool):
            return "true" if value else "false"
        return str(value) if value >= 0 else f"(-{-value})"

    def extent(self):
        """(text, value)"""
        return self.random.choice([*self.extents.items(), ("1", 1), ("4", 4)])

    # -- arrays that are there

    def declare(self):
        kind = self.random.choice(("float", "float", "int", "boolean"))
        extents = [self.extent() for _ in range(self.random.choice((1, 1, 2, 2, 3)))]
        shape = [value for _, value in extents]
        name, brackets = self.name(), ", ".join(text for text, _ in extents)
        self.lines.append(f"{kind} {name}[{brackets}];")
        counters = [f"i{axis}" for axis in range(len(shape))]
        factors = [self.random.randint(-3, 3) for _ in shape]
        base = self.number("float") if kind == "float" else self.random.randint(-5, 5)
        terms = " + ".join([self.literal(base), *(f"({f}) * {c}" for f, c in zip(factors, counters))])
        values = [base + sum(f * i for f, i in zip(factors, index)) for index in indices(shape)]
        if kind == "boolean":
            terms, values = f"({terms}) %% 2 == 0", [value % 2 == 0 for value in values]
        loops = ", ".join(f"{c} in [0:{text} - 1]" for c, (text, _) in zip(counters, extents))
        how = self.random.random()
        if how < 0.6 or shape[0] < 2:
            self.lines.append(f"foreach {loops} {{ {name}[{', '.join(counters)}] = {terms}; }}")
        else:  # by slices: the first rows by a loop, the others by one value
            inner = ", ".join([f"i0 in [0:0]", *(f"{c} in [0:{text} - 1]" for c, (text, _) in
                                                 zip(counters[1:], extents[1:]))])
            rest = self.number(kind)
            self.lines.append(f"foreach {inner} {{ {name}[{', '.join(counters)}] = {terms}; }}")
            self.lines.append(f"{name}[1:end{', :' * (len(shape) - 1)}] = {self.literal(rest)};")
            values = [value if index[0] == 0 else rest for index, value in zip(indices(shape), values)]
        self.keep(name, Array(kind, shape, values))

    def keep(self, name, array):
        self.arrays.append((name, array))
        self.lines.append(f'trace("{name}", {"flatten(" + name + ")" if len(array.shape) > 1 else name});')
        self.expected.append(f"trace: {name},[{', '.join(self.text(e) for e in array.elements)}]")
        if array.kind != "boolean":
            self.lines.append(f'trace("{name}", shape({name}));')
            self.expected.append(f"trace: {name},[{', '.join(map(str, array.shape))}]")

    def text(self, value):
        return ("true" if value else "false") if isinstance(value, bool) else text_of(value)

    # -- expressions: (text, value)

    def known(self, kind, shape):
        """An array of that kind that can be repeated to that shape, perhaps a slice."""
        found = []
        for name, array in self.arrays:
            if array.kind == kind and len(array.shape) <= len(shape):
                tail = shape[len(shape) - len(array.shape):]
                if all(a in (1, b) for a, b in zip(array.shape, tail)):
                    found.append((name, array))
        return self.random.choice(found) if found else (self.literal(v := self.number(kind)), v)

    def bound(self, high, extent):
        """The last index of a slice. A negative number is an error in the text, and an empty slice where it is computed."""
        if high < 0:
            return f"n0 - {self.extents['n0'] - high}"
        return str(high) if high < extent - 1 else "end"

    def slice_of(self, name, array):
        entries, chosen = [], []
        for extent in array.shape:
            how = self.random.random()
            if how < 0.3 or extent == 0:
                entries.append(":")
                chosen.append(range(extent))
            elif how < 0.45 and sum(isinstance(c, range) for c in chosen) + 1 < len(array.shape):
                i = self.random.randrange(extent)
                entries.append(str(i) if i < extent - 1 else "end")
                chosen.append(i)
            else:
                low = self.random.randrange(extent)
                high = low - 1 if self.random.random() < 0.1 else self.random.randrange(low, extent)
                step = self.random.choice((1, 1, 2, 3))
                entries.append(f"{low}:{self.bound(high, extent)}{'' if step == 1 else f':{step}'}")
                chosen.append(range(low, high + 1, step))
        kept = [c for c in chosen if isinstance(c, range)]
        if not kept:
            entries[0], chosen[0] = ":", range(array.shape[0])
            kept = [chosen[0]]
        elements = []
        for index in itertools.product(*kept):
            rest = iter(index)
            elements.append(array.at([next(rest) if isinstance(c, range) else c for c in chosen]))
        return f"{name}[{', '.join(entries)}]", Array(array.kind, [len(c) for c in kept], elements)

    def expression(self, kind, shape, depth):
        if depth == 0:
            return self.known(kind, shape)
        a = lambda k: self.expression(k, shape, depth - 1)
        if kind == "boolean":
            return self.truth(a)
        return self.whole(a) if kind == "int" else self.real(a)

    def combine(self, kind, form, compute, *parts):
        values = [value for _, value in parts]
        text = form.format(*(text for text, _ in parts))
        if not any(isinstance(value, Array) for value in values):
            return text, compute(*values)
        return text, lift(kind, compute, *values)

    def truth(self, a):
        form, compute, kind = self.random.choice((
            ("({} < {})", lambda x, y: x < y, "float"), ("({} >= {})", lambda x, y: x >= y, "int"),
            ("({} == {})", lambda x, y: x == y, "int"), ("({} && {})", lambda x, y: x and y, "boolean"),
            ("({} || {})", lambda x, y: x or y, "boolean"), ("(!{})", lambda x: not x, "boolean")))
        return self.combine("boolean", form, compute, *(a(kind) for _ in range(form.count("{}"))))

    def whole(self, a):
        form, compute = self.random.choice((
            ("(({} + {}) %% 1000)", lambda x, y: math.fmod(x + y, 1000)),
            ("(({} - {}) %% 1000)", lambda x, y: math.fmod(x - y, 1000)),
            ("(({} * {}) %% 1000)", lambda x, y: math.fmod(x * y, 1000)),
            ("({} %/ (abs({}) + 1))", lambda x, y: truncated(x, abs(y) + 1)),
            ("max({}, {})", max), ("(-{})", lambda x: -x), ("bool2int({} == {})", lambda x, y: x == y)))
        kinds = ["int"] * form.count("{}")
        if self.random.random() < 0.15:
            c, x, y = a("boolean"), a("int"), a("int")
            return self.combine("int", "where({}, {}, {})", lambda c, x, y: x if c else y, c, x, y)
        return self.combine("int", form, lambda *v: int(compute(*v)), *(a(kind) for kind in kinds))

    def real(self, a):
        form, compute, kinds = self.random.choice((
            ("({} + {})", lambda x, y: x + y, "ff"), ("({} - {})", lambda x, y: x - y, "fi"),
            ("({} * {})", lambda x, y: x * y, "if"), ("({} / (abs({}) + 1.0))", lambda x, y: x / (abs(y) + 1.0), "ff"),
            ("min({}, {})", lambda x, y: x if x < y else y, "ff"), ("sqrt(abs({}))", lambda x: math.sqrt(abs(x)), "f"),
            ("bent({}, {})", lambda x, k: x - k if x > k else 2.0 * (k - x), "ff"),
            ("floor({})", lambda x: x if x == 0 else float(math.floor(x)), "f"),
            ("where({}, {}, {})", lambda c, x, y: x if c else y, "bff"),
            ("where({0} > 0.0, sqrt({0}), 0.0)", lambda x: math.sqrt(x) if x > 0 else 0.0, "f")))
        names = {"f": "float", "i": "int", "b": "boolean"}
        made = self.combine("float", form, lambda *v: float(compute(*v)), *(a(names[k]) for k in kinds))
        elements = made[1].elements if isinstance(made[1], Array) else [made[1]]
        return made if all(abs(e) < 1e12 for e in elements) else a("float")

    # -- statements

    def rows(self, name):
        """A function that reduces, of each row of a matrix, in a loop."""
        found = [(known, array) for known, array in self.arrays
                 if len(array.shape) == 2 and array.kind != "boolean" and 0 not in array.shape]
        if not found:
            return self.declare()
        source, array = self.random.choice(found)
        count, length = array.shape
        rows = [array.elements[i * length:(i + 1) * length] for i in range(count)]
        if array.kind == "float":
            call, values = f"width({source}[i, :])", [2.0 * max(row) - 2.0 * min(row) for row in rows]
        else:
            k = self.random.randint(-3, 3)
            call = f"total({source}[i, :], {self.literal(k)}, i %% 2 == 0)"
            values = [k * sum(row) if i % 2 == 0 else max(row) + k for i, row in enumerate(rows)]
        self.lines.append(f"{array.kind} {name}[{count}];")
        self.lines.append(f"foreach i in [0:{count - 1}] {{ {name}[i] = {call}; }}")
        return self.keep(name, Array(array.kind, [count], values))

    def filling_loop(self, name):
        """A `for` that fills an array by what iterations before have made, and another one now and then."""
        backs = self.random.choice(((), (1,), (1, 2), (3,), (2, 5)))
        first, count = max(backs, default=0), self.random.choice((6, 40, 90))
        is_dense = self.random.random() < 0.5
        step = self.random.choice((1, -1) if is_dense else (1, -1, 2, -3))
        base = (0 if step == 1 else count - 1) if is_dense else self.random.randint(-40, 40)
        key = lambda t: base + step * t
        key_text = lambda back: f"{self.literal(base)} + {self.literal(step)} * (t - {back})"
        factors = [self.random.randint(-4, 4) for _ in backs]
        a, c, m, every = (self.random.randint(1, 9) for _ in range(4))
        self.lines.append(f"int {name}[{count if is_dense else ''}];\nint {name}s[];")
        made, some = {}, {}
        for t in range(first):
            made[key(t)] = self.number("int")
            self.lines.append(f"{name}[{self.literal(key(t))}] = {self.literal(made[key(t)])};")
        read = "".join(f" + ({f}) * {name}[{key_text(back)}]" for f, back in zip(factors, backs))
        self.lines.append(f"for (int t = {first}, int m = {m}; t < {count}; t = t + 1, m = v) {{")
        self.lines.append(f"  v = (m * {a} + {c}{read}) %% 1000;\n  {name}[{key_text(0)}] = v;")
        self.lines.append(f"  if (v %% {every} == 0) {{ {name}s[v * 1000 + t] = v - t; }}\n}}")
        for t in range(first, count):
            m = int(math.fmod(m * a + c + sum(f * made[key(t - back)] for f, back in zip(factors, backs)), 1000))
            made[key(t)] = m
            if m % every == 0:
                some[m * 1000 + t] = m - t
        self.lines.append(f'trace("{name}", size({name}s), sum({name}s));')
        self.expected.append(f"trace: {name},{len(some)},{sum(some.values())}")
        if is_dense:
            return self.keep(name, Array("int", [count], [made[i] for i in range(count)]))
        self.lines.append(f'trace("{name}", size({name}), sum({name}), {name}[{self.literal(key(count // 2))}]);')
        self.expected.append(f"trace: {name},{count},{sum(made.values())},{made[key(count // 2)]}")

    def carrying_loop(self, name):
        """A `for` that carries arrays from round to round, element by element; shapes may grow in the first one."""
        found = [(known, array) for known, array in self.arrays if array.kind == "int"]
        if not found:
            return self.declare()
        first, x = self.random.choice(found)
        alike = [(known, array) for known, array in found if len(array.shape) == len(x.shape) and self.fits(array, x)]
        second, y = self.random.choice(alike or [(first, x)])
        factors, m = [self.random.randint(-5, 9) for _ in range(3)], self.random.randint(0, 6)
        remainder = lambda v: int(math.fmod(v, 997))
        other, compute = self.random.choice((
            ("{0}", lambda u, w, n: u), ("{1} + 1", lambda u, w, n: w + 1),
            ("where({0} > {1}, {2} - {1}, {0})", lambda u, w, n: n - w if u > w else u),
            ("roll({1}, 1)", None), ("{2}", lambda u, w, n: n)))
        dimensions = ", ".join(":" * len(x.shape))
        self.lines.append(f"int {name}[{dimensions}], {name}w[{dimensions}];")
        next_other = other.format(name, name + "w", "n")
        self.lines.append(f"for ({name} = {first}, {name}w = {second}, int t = 0; t < {m};\n"
                          f"     t = t + 1, {name} = n, {name}w = ({next_other}) %% 500) {{")
        a, b, c = (self.literal(each) for each in factors)
        self.lines.append(f"  n = ({name} * {a} + {name}w * {b} + t * {c}) %% 997;\n}}")
        for t in range(m):
            n = lift("int", lambda u, w: remainder(u * factors[0] + w * factors[1] + t * factors[2]), x, y)
            w = lift("int", compute, x, y, n) if compute else Array("int", y.shape, y.elements[-1:] + y.elements[:-1])
            if other == "{0}":
                w = x
            elif other == "{1} + 1":
                w = lift("int", lambda v: v + 1, y)
            x, y = n, lift("int", lambda v: int(math.fmod(v, 500)), w)
        self.keep(name, x)
        return self.keep(name + "w", y)

    @staticmethod
    def fits(array, other):
        pairs = list(zip(array.shape, other.shape))
        return all(a == b or 1 in (a, b) for a, b in pairs) and 0 not in array.shape + other.shape

    def statement(self):
        how = self.random.random()
        name = self.name()
        if how < 0.2 or not self.arrays:
            return self.declare()
        if how < 0.25:
            return self.rows(name)
        if how < 0.3:
            return self.filling_loop(name)
        if how < 0.33:
            model = models.Model(self.random, name)
            self.lines += model.text()
            return self.keep(name, Array("int", [model.points], model.values()))
        if how < 0.38:
            return self.carrying_loop(name)
        if how < 0.44:
            source, array = self.random.choice(self.arrays)
            text, value = self.slice_of(source, array)
            self.lines.append(f"{array.kind} {name}[{', '.join(':' * len(value.shape))}] = {text};")
            return self.keep(name, value)
        shape = self.random.choice(self.arrays)[1].shape
        if how < 0.54:
            x, k = self.expression("int", shape, 1), self.random.randint(1, 4)
            if not isinstance(x[1], Array):
                return self.declare()
            self.lines.append(f"({name}q, {name}r) = parts({x[0]}, {k});")
            self.keep(name + "q", lift("int", lambda v: truncated(v, k), x[1]))
            return self.keep(name + "r", lift("int", lambda v: int(math.fmod(v, k)), x[1]))
        kind = self.random.choice(("float", "float", "int", "boolean"))
        text, value = self.expression(kind, shape, self.random.choice((1, 2, 3)))
        if not isinstance(value, Array):
            return self.declare()
        if how < 0.62 and kind == "int" and value.elements:
            rows = f"flatten({text})"
            self.lines.append(f'trace("{name}", sum({rows}), max({rows}), min({rows}));')
            self.expected.append(f"trace: {name},{sum(value.elements)},{max(value.elements)},{min(value.elements)}")
            return None
        self.lines.append(f"{name} = {text};")
        return self.keep(name, value)

    def program(self):
        for text, value in self.extents.items():
            self.lines.append(f"@param int {text} = {value};")
        for _ in range(self.random.randint(6, 14)):
            self.statement()
        return PRELUDE + "\n".join(self.lines) + "\n", sorted(self.expected)

    def failing_program(self):
        text, _ = self.program()
        wrong = self.random.choice((  # by numbers of the command line: else it is told before the run
            "w1 = ones(2) + ones(3 + n0 - n0);\ntrace(\"not reached\", w1);", "w1 = ones(3)[0 : 3 + n0 - n0];\ntrace(\"not reached\", w1);",
            "float w1[3];\nw1[0:1] = 1.0;\ntrace(\"not reached\", w1[2]);", "w1 = ones(2, 2)[n0 + 5, 0];\ntrace(\"not reached\", w1);",
            "w1 = sqrt(ones(4) - 2.0);\ntrace(\"not reached\", w1);", "w1 = reshape(ones(4), 3);\nwait (w1) { }"))
        return text + wrong + "\n"


def program_of(seed):
    """(text, expected lines or None)"""
    generator = Generator(seed)
    return (generator.failing_program(), None) if seed % 5 == 4 else generator.program()


def fault_of(raddle, seed, folder):
    text, expected = program_of(seed)
    script = pathlib.Path(folder, f"arrays_{seed}.df")
    script.write_text(text, encoding="utf-8")
    modes = [[*mode, "-q"] for mode in modes_of(seed)]
    return wrong_failure(raddle, modes, script) if expected is None else wrong_output(raddle, modes, script, expected)


if __name__ == "__main__":
    run_programs("arrays", "Random programs of dense arrays print the right numbers in every mode.",
                 lambda seed: program_of(seed)[0], fault_of)
