#!/usr/bin/env python3
"""Random programs that read elements around, in arrays that end, print what this file computes for them, in every mode.

    border_programs.py [--seed N] [--count N] [--seconds S] [--raddle PATH] [--show]

Loops over the elements of dense arrays of ints, of one to three dimensions. What they read lies at the point, at a
distance, at the other end, or at an index that another array has; conditions keep some reads away from the borders.
Extents are such that vectors of points are all inside, at a border, or longer than the array.
"""

import itertools
import random

from random_programs import run_computed_programs

VARIABLES = "ijk"


class Outside(Exception):
    """The program would fail."""


class Array:
    def __init__(self, name, shape, values):
        self.name, self.shape, self.values = name, shape, values

    def at(self, indices):
        if not all(0 <= index < extent for index, extent in zip(indices, self.shape)):
            raise Outside
        return self.values[indices]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.shape = [self.random.choice((1, 2, 3, 7, 8, 13, 16, 17, 33, 40)) for _ in range(self.random.randint(1, 3))]
        while len(self.shape) > 1 and self.count() > 1500:
            self.shape[self.random.randrange(len(self.shape))] = self.random.choice((1, 2, 3, 9))
        self.arrays, self.lines, self.expected = [], ["import arrays;"], []
        self.extents, self.lasts = [str(extent) for extent in self.shape], [str(extent - 1) for extent in self.shape]
        if self.random.random() < 0.6:  # not known when compiling
            for axis, extent in enumerate(self.shape):
                self.lines.append(f"@param int n{axis} = {extent};")
                self.extents[axis], self.lasts[axis] = f"n{axis}", f"n{axis} - 1"

    def count(self):
        total = 1
        for extent in self.shape:
            total *= extent
        return total

    # Each gives a text and a function of the point.

    def index(self, axis):
        v, extent, c = VARIABLES[axis], self.shape[axis], self.random.randint(0, 3)
        last = extent - 1
        n, end = self.extents[axis], self.lasts[axis]
        forms = [
            (f"max({v} - {c}, 0)", lambda p: max(p[axis] - c, 0)),
            (f"min({v} + {c}, {end})", lambda p: min(p[axis] + c, last)),
            (f"min(max({v} - {c}, 0), {end})", lambda p: min(max(p[axis] - c, 0), last)),
            (f"({v} + {c}) %% {n}", lambda p: (p[axis] + c) % extent),
            (f"({v} + {c} * {n} - {c}) %% {n}", lambda p: (p[axis] + c * extent - c) % extent),
            (f"where({v} > 0, {v} - 1, {end})", lambda p: p[axis] - 1 if p[axis] > 0 else last),
            (f"where({v} == {end}, 0, {v} + 1)", lambda p: 0 if p[axis] == last else p[axis] + 1),
            (f"where({v} < {c}, {v} - {c} + {n}, {v} - {c})", lambda p: p[axis] - c + (extent if p[axis] < c else 0)),
            (f"{end} - {v}", lambda p: last - p[axis]),
            (v, lambda p: p[axis]), (v, lambda p: p[axis]), (end, lambda p: last)]
        return self.random.choice(forms)

    def read(self, distances=None):
        array = self.random.choice(self.arrays)
        if distances is None:
            indices = [self.index(axis) for axis in range(len(self.shape))]
        else:
            texts = [f"{v} + {d}" if d > 0 else f"{v} - {-d}" if d < 0 else v for v, d in zip(VARIABLES, distances)]
            indices = [(texts[axis], lambda p, axis=axis, d=d: p[axis] + d) for axis, d in enumerate(distances)]
        return (f"{array.name}[{', '.join(text for text, _ in indices)}]",
                lambda p: array.at(tuple(of(p) for _, of in indices)))

    def gathered(self):
        """By an index that an array has."""
        array, (text, of), axis = self.random.choice(self.arrays), self.read(), self.random.randrange(len(self.shape))
        extent = self.shape[axis]
        texts = [f"abs({text}) %% {self.extents[axis]}" if a == axis else VARIABLES[a] for a in range(len(self.shape))]
        return (f"{array.name}[{', '.join(texts)}]",
                lambda p: array.at(tuple(abs(of(p)) % extent if a == axis else p[a] for a in range(len(self.shape)))))

    def guarded(self):
        """Reads at distances from the point, where these are inside; the condition may ask for more than that."""
        distances = [[self.random.choice((-2, -1, 0, 0, 1, 2)) for _ in self.shape]
                     for _ in range(self.random.randint(1, 4))]
        conditions = []
        for axis, extent in enumerate(self.shape):
            v = VARIABLES[axis]
            low = max(0, -min(each[axis] for each in distances)) + self.random.choice((0, 0, 0, 1))
            high = max(0, max(each[axis] for each in distances)) + self.random.choice((0, 0, 0, 1))
            if low > 0:
                conditions.append(self.random.choice([(f"{v} >= {low}", lambda p, a=axis, c=low: p[a] >= c),
                                                      (f"{v} > {low - 1}", lambda p, a=axis, c=low: p[a] >= c),
                                                      (f"!({v} < {low})", lambda p, a=axis, c=low: p[a] >= c)]))
            if high > 0:
                conditions.append(self.random.choice([
                    (f"{v} + {high} < {self.extents[axis]}", lambda p, a=axis, c=high, n=extent: p[a] + c < n),
                    (f"{v} <= {self.lasts[axis]} - {high}", lambda p, a=axis, c=high, n=extent: p[a] + c < n)]))
        reads = [self.read(each) for each in distances]
        inside = (" + ".join(text for text, _ in reads), lambda p: sum(of(p) for _, of in reads))
        if not conditions:
            return inside
        self.random.shuffle(conditions)
        holds = lambda p: all(of(p) for _, of in conditions)
        text = " && ".join(text for text, _ in conditions)
        other = self.read()
        if self.random.random() < 0.3:
            return f"where(!({text}), {other[0]}, {inside[0]})", lambda p: inside[1](p) if holds(p) else other[1](p)
        return f"where({text}, {inside[0]}, {other[0]})", lambda p: inside[1](p) if holds(p) else other[1](p)

    def expression(self):
        terms = [self.random.choice((self.read, self.read, self.guarded, self.guarded, self.gathered))()
                 for _ in range(self.random.randint(1, 4))]
        text = " + ".join(f"{k} * ({text})" for k, (text, _) in enumerate(terms, 1))
        return text, lambda p: sum(k * of(p) for k, (_, of) in enumerate(terms, 1))

    def loop(self):
        name = f"a{len(self.arrays)}"
        text, of = self.expression()
        if self.random.random() < 0.3:  # the same by branches that assign the element
            axis = self.random.randrange(len(self.shape))
            one, two = (text, of), self.expression()
            text = None
            of = lambda p: one[1](p) if p[axis] == 0 else two[1](p)
        modulus = 1009
        extents = ", ".join(self.extents)
        ranges = ", ".join(f"{VARIABLES[axis]} in [0 : {last}]" for axis, last in enumerate(self.lasts))
        target = f"{name}[{', '.join(VARIABLES[: len(self.shape)])}]"
        body = (f"{target} = ({text}) %% {modulus};" if text is not None else
                f"if ({VARIABLES[axis]} == 0) {{ {target} = ({one[0]}) %% {modulus}; }} "
                f"else {{ {target} = ({two[0]}) %% {modulus}; }}")
        values = {p: of(p) % modulus for p in itertools.product(*(range(extent) for extent in self.shape))}
        self.lines += [f"int {name}[{extents}];", f"foreach {ranges} {{ {body} }}"]
        self.keep(Array(name, self.shape, values))

    def keep(self, array):
        self.arrays.append(array)
        weights = sum(value * (n % 7 + 1) for n, value in enumerate(array.values.values()))
        size = self.count()
        weighted = f"sum(flatten({array.name}) * (arange({size}) %% 7 + 1))"
        self.lines.append(f'printf("{array.name} %i %i", sum({array.name}), {weighted});')
        self.expected.append(f"{array.name} {sum(array.values.values())} {weights}")

    def program(self):
        points = list(itertools.product(*(range(extent) for extent in self.shape)))
        first, step = self.random.randint(0, 50), self.random.randint(1, 99)
        size = self.count()
        extents = ", ".join(str(extent) for extent in self.shape)
        reshaped = f"reshape(made, {extents})" if len(self.shape) > 1 else "made"
        self.lines += [f"made = ({first} + {step} * arange({size})) %% 101;",
                       f"int a0[{', '.join([':'] * len(self.shape))}] = {reshaped};"]
        self.keep(Array("a0", self.shape, {p: (first + step * n) % 101 for n, p in enumerate(points)}))
        while len(self.arrays) < 6:
            try:
                self.loop()
            except Outside:
                continue
        return "\n".join(self.lines) + "\n", sorted(self.expected)


if __name__ == "__main__":
    run_computed_programs("border programs", "Random programs that read elements around.", lambda seed: Generator(seed).program())
