#!/usr/bin/env python3
"""Random programs that draw random numbers print what this file computes for them, in every mode.

    drawing_programs.py [--seed N] [--count N] [--seconds S] [--raddle PATH] [--show]

Calls, loops of all kinds, branches and recursion are drawn, in functions and at the top. What a program draws follows from
the streams that its calls and loops have: they are computed here once more, from what compiler/lower/name_streams.hpp and
vm/math/random.hpp say.
"""

import itertools
import pathlib
import random
import re

from random_programs import modes_of, run_programs, wrong_output

ALL = (1 << 64) - 1


def mixed(stream, told_apart_by):
    number = (stream ^ (told_apart_by + 0x9E3779B97F4A7C15) & ALL) * 0xBF58476D1CE4E5B9 & ALL
    return number ^ number >> 29


def name_hash(text):
    number = 0xCBF29CE484222325
    for byte in text.encode():
        number = (number ^ byte) * 0x100000001B3 & ALL
    return number


def bits_of(seed, stream, index):
    """Philox4x32-10, two of its words."""
    low = (1 << 32) - 1
    words = [index // 2 & low, index // 2 >> 32, stream & low, stream >> 32]
    keys = [seed & low, seed >> 32]
    for _ in range(10):
        products = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        words = [products[1] >> 32 ^ words[1] ^ keys[0], products[1] & low, products[0] >> 32 ^ words[3] ^ keys[1], products[0] & low]
        keys = [keys[0] + 0x9E3779B9 & low, keys[1] + 0xBB67AE85 & low]
    return words[index % 2 * 2] | words[index % 2 * 2 + 1] << 32


class Place:
    """A call or a loop; in the text of the program its mark is the name, with a number that is taken out again."""

    def __init__(self, marks, name):
        self.name, self.mark, self.hash = name, f"{name}@{len(marks)}@", None
        marks.append(self)


class TooLong(Exception):
    pass


class Program:
    """Each part of a program is its text and a function of (values of variables, stream) that computes it."""

    def __init__(self, seed):
        self.random, self.marks, self.functions, self.count = random.Random(seed), [], [], itertools.count()
        self.left = 3_000  # numbers that it may draw
        self.seed = self.random.choice((0, 1, 12345, 2**62 + 17))
        texts = [self.function(i) for i in range(self.random.randint(1, 4))]
        lines, outputs = [], []
        for _ in range(self.random.randint(2, 6)):
            name = f"r{next(self.count)}"
            text, compute = self.block(name, [], 3)
            lines.append(f"int {name};\n{text}trace(\"{name}\", {name});\n")
            outputs.append((name, compute))
        whole = "import arrays;\nimport random;\n" + "".join(texts) + "".join(lines)
        self.text = self.name_places(whole)
        self.expected = sorted(f"trace: {name},{compute({}, self.seed)}" for name, compute in outputs)

    def bits(self, stream, index=0):
        self.left -= 1
        if self.left < 0:
            raise TooLong
        return bits_of(self.seed, stream, index)

    def below(self, stream, count):
        """Where the lower half of the product is one too often, the next number."""
        for index in itertools.count():
            product = self.bits(stream, index) * count
            if product & ALL >= 2**64 % count:
                return product >> 64
        return None

    def name_places(self, whole):
        """Counts those of one name in each function, in the order of the text."""
        counts = {}
        for found in re.finditer(r"\(int y\) f|int r\d+;|@(\d+)@", whole):
            if found[1] is None:
                counts = {} if found[0].startswith("(") else counts if "top" in counts else {"top": 0}
                continue
            place = self.marks[int(found[1])]
            place.hash = name_hash(f"{place.name} {counts.get(place.name, 0)} 0")
            counts[place.name] = counts.get(place.name, 0) + 1
        return re.sub(r"@\d+@", "", whole)

    def function(self, number):
        name = f"f{number}"
        text, compute = self.block("y", ["x"], 3)
        if self.random.random() < 0.4:  # calls itself
            place, inner, weight = Place(self.marks, name), compute, self.random.randint(2, 4)
            head = f"if (x > 0 && x < 40) {{ y = {place.mark}(x %/ 2) + {weight}; }} else {{\n{text}}}\n"

            def compute(values, stream):
                x = values["x"]
                if 0 < x < 40:
                    return compute({"x": x // 2}, mixed(stream, place.hash)) + weight
                return inner(values, stream)

            text = head
        self.functions.append((name, compute))
        return f"(int y) {name}(int x) {{\n{text}}}\n"

    # ---- values

    def value(self, names, depth):
        """An int expression."""
        kind = self.random.choice(("draw", "draw", "draw", "number", "sum", "call") if depth > 0 else ("draw", "number"))
        if kind == "number" or kind == "call" and not self.functions:
            if names:
                name = self.random.choice(names)
                return name, lambda values, stream: values[name]
            number = self.random.randint(0, 50)
            return str(number), lambda values, stream: number
        if kind == "sum":
            (a, first), (b, second) = self.value(names, depth - 1), self.value(names, depth - 1)
            return f"({a} + 3 * ({b})) %% 1000", lambda values, stream: (first(values, stream) + 3 * second(values, stream)) % 1000
        if kind == "call":
            name, function = self.random.choice(self.functions)
            place, (argument, compute) = Place(self.marks, name), self.value(names, 0)
            return (f"{place.mark}({argument})",
                    lambda values, stream: function({"x": compute(values, stream)}, mixed(stream, place.hash)))
        if self.random.random() < 0.5:
            place, low, count = Place(self.marks, "randint"), self.random.randint(0, 9), self.random.choice((2, 7, 100, 2**40, 3 * 2**60, 2**62 + 1))
            return (f"{place.mark}({low}, {low + count}) %% 1000",
                    lambda values, stream: (low + self.below(mixed(stream, place.hash), count)) % 1000)
        place, scale = Place(self.marks, "random"), self.random.choice((10, 300, 1000))
        return (f"toInt({place.mark}() * {scale}.0)",
                lambda values, stream: int((self.bits(mixed(stream, place.hash)) >> 11) * 2.0**-53 * scale))

    # ---- statements: each assigns `target`

    def block(self, target, names, depth):
        kinds = (self.simple,) if depth == 0 else (self.simple, self.branch, self.counted, self.each, self.each, self.until)
        return self.random.choice(kinds)(target, names, depth)

    def simple(self, target, names, _):
        text, compute = self.value(names, 2)
        return f"{target} = {text};\n", compute

    def branch(self, target, names, depth):
        local = f"v{next(self.count)}"
        drawn, of_drawn = self.value(names, 1)
        yes, of_yes = self.block(target, [*names, local], depth - 1)
        no, of_no = self.block(target, [*names, local], depth - 1)

        def compute(values, stream):
            values = {**values, local: of_drawn(values, stream)}
            return (of_yes if values[local] % 2 == 0 else of_no)(values, stream)

        return f"int {local} = {drawn};\nif ({local} %% 2 == 0) {{\n{yes}}} else {{\n{no}}}\n", compute

    def counted(self, target, names, depth):
        """A `for` that carries a number on, or ends when it is large."""
        t, s, new = (f"{letter}{next(self.count)}" for letter in "tsn")
        place, rounds, most = Place(self.marks, "for"), self.random.randint(0, 12), self.random.choice((400, 10**6))
        text, inner = self.block(new, [*names, t, s], depth - 1)

        def compute(values, stream):
            stream, at = mixed(stream, place.hash), 0
            for step in range(rounds):
                if at >= most:
                    break
                at += inner({**values, t: step, s: at}, stream)
                stream = mixed(stream, 1)
            return at

        return (f"int {t}, {s};\n{place.mark} ({t} = 0, {s} = 0; {t} < {rounds} && {s} < {most}; {t} = {t} + 1, {s} = {s} + {new}) {{\n"
                f"int {new};\n{text}}}\n{target} = {s};\n", compute)

    def each(self, target, names, depth):
        i, a = (f"{letter}{next(self.count)}" for letter in "ia")
        place, low, step = Place(self.marks, "foreach"), self.random.choice((0, 0, 3)), self.random.choice((1, 1, 1, 4))
        count = self.random.choice((1, 6, 40))
        text, inner = self.block(f"{a}[{i}]", [*names, i], depth - 1)

        def compute(values, stream):
            loop = mixed(stream, place.hash)
            return sum(inner({**values, i: low + k * step}, mixed(loop, k)) for k in range(count)) % 1000

        bounds = f"{low}:{low + (count - 1) * step}" + (f":{step}" if step != 1 else "")
        return f"int {a}[];\n{place.mark} {i} in [{bounds}] {{\n{text}}}\n{target} = sum({a}) %% 1000;\n", compute

    def until(self, target, names, _):
        """Rolls dice until it is a six."""
        t, die, rolls = (f"{letter}{next(self.count)}" for letter in "tdr")
        loop, place = Place(self.marks, "iterate"), Place(self.marks, "randint")
        loop.name = "for"

        def compute(values, stream):
            stream = mixed(stream, loop.hash)
            for count in itertools.count():
                if 1 + (self.bits(mixed(stream, place.hash)) * 6 >> 64) == 6:
                    return count
                stream = mixed(stream, 1)

        return (f"int {rolls}[];\n{loop.mark} {t} {{\nint {die} = {place.mark}(1, 7);\nif ({die} == 6) {{ {rolls}[0] = {t}; }}\n"
                f"}} until ({die} == 6);\n{target} = {rolls}[0];\n", compute)


def program_of(seed):
    while True:
        try:
            return Program(seed)
        except TooLong:
            seed += 1_000_003


def fault_of(raddle, seed, folder):
    program = program_of(seed)
    script = pathlib.Path(folder, f"drawing_{seed}.df")
    script.write_text(program.text, encoding="utf-8")
    modes = [[*mode, "-q", f"--seed={program.seed}"] for mode in modes_of(seed)]
    return wrong_output(raddle, modes, script, program.expected)


if __name__ == "__main__":
    run_programs("drawing", "Random programs that draw random numbers print the right ones in every mode.",
                 lambda seed: program_of(seed).text, fault_of)
