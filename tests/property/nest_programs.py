#!/usr/bin/env python3
"""Random programs whose nested loops write dense arrays print what this file computes for them, in every mode.

    nest_programs.py [--seed N] [--count N] [--seconds S] [--raddle PATH] [--show]

Loops over one to four ranges write each element of arrays of ints once: over ranges that begin anywhere, have steps or are
empty, one axis by several loops, triangles, ranges within that follow from what is around; in one `foreach` or in several
that lie in each other, with numbers computed between them, branches that write, elements that are read where they were
written, lines that are added up, rows that a point makes of an array of its own, edges that are made of what lies beside
them, elements that are made of earlier ones of the same array where there are such. Such loops become nests and launches or
are interpreted, and nothing else may tell which.
"""

import itertools
import random

from random_programs import run_computed_programs

MODULUS = 1009


class Array:
    def __init__(self, name, shape, values):
        self.name, self.shape, self.values = name, shape, values


class Loop:
    """`foreach variable in [low : high : step]`, bounds as texts and as functions of the variables around."""
    def __init__(self, axis, variable, low, high, step=1, shift=0):
        self.axis, self.variable, self.low, self.high, self.step, self.shift = axis, variable, low, high, step, shift

    def range_text(self):
        return f"{self.variable} in [{self.low[0]} : {self.high[0]}{f' : {self.step}' if self.step != 1 else ''}]"

    def index_text(self):
        if self.shift == 0:
            return self.variable
        return f"{self.variable} {'+' if self.shift > 0 else '-'} {abs(self.shift)}"

    def numbers(self, known):
        return range(self.low[1](known), self.high[1](known) + 1, self.step)


def remainder(number):
    """As `%%` has it: with the sign of what is divided."""
    return number % MODULUS if number >= 0 else -(-number % MODULUS)


def constant(number):
    return str(number), lambda known: number


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        rank = self.random.choice((1, 2, 2, 3, 3, 3, 4))
        self.shape = [self.random.choice((0, 1, 2, 3, 5, 9, 17, 40)) for _ in range(rank)]
        while self.size() > 2500:
            self.shape[self.random.randrange(rank)] = self.random.choice((1, 2, 3, 5))
        self.lines, self.expected, self.arrays = ["import arrays;"], [], []
        self.extents = [str(extent) for extent in self.shape]
        if self.random.random() < 0.6:  # not known when compiling
            for axis, extent in enumerate(self.shape):
                self.lines.append(f"@param int n{axis} = {extent};")
                self.extents[axis] = f"n{axis}"
        self.names = 0

    def size(self):
        total = 1
        for extent in self.shape:
            total *= extent
        return total

    def name(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def bound(self, axis, minus):
        """The extent less a number."""
        if self.extents[axis].isdigit():
            return constant(self.shape[axis] - minus)
        return f"{self.extents[axis]} - {minus}", lambda known: self.shape[axis] - minus

    # ---- loops

    def parts(self, axis, around):
        """Loops that go over all of an axis together; `around` has loops over others."""
        extent, variable = self.shape[axis], self.name("i")
        shift = self.random.choice((0, 0, 0, 1, -2))
        low, high = constant(-shift), self.bound(axis, 1 + shift)
        way = self.random.random()
        whole = [Loop(axis, variable, low, high, shift=shift)]
        if way < 0.6:
            return whole
        if way < 0.75:  # a part, and the rest
            cut = self.random.randint(0, extent)
            return [Loop(axis, variable, low, constant(cut - 1 - shift), shift=shift),
                    Loop(axis, self.name("i"), constant(cut - shift), high, shift=shift)]
        if way < 0.85:  # every other one
            return [Loop(axis, variable, low, high, 2, shift),
                    Loop(axis, self.name("i"), constant(1 - shift), high, 2, shift)]
        fitting = [loop for loop in around if loop.shift == 0 and loop.step == 1 and self.shape[loop.axis] <= extent]
        if not fitting or shift != 0:
            return whole
        outer = self.random.choice(fitting).variable  # a triangle, and the other one
        return [Loop(axis, variable, low, (outer, lambda known: known[outer])),
                Loop(axis, self.name("i"), (f"{outer} + 1", lambda known: known[outer] + 1), high)]

    # ---- expressions: a text, and a function of what is known

    def element(self, array, indices):
        return (f"{array.name}[{', '.join(text for text, _ in indices)}]",
                lambda known: array.values[tuple(of(known) for _, of in indices)])

    def read(self, loops):
        array = self.random.choice(self.arrays)
        indices = []
        for loop in sorted(loops, key=lambda loop: loop.axis):
            own = (loop.index_text(), lambda known, loop=loop: known[loop.variable] + loop.shift)
            n, last = self.extents[loop.axis], self.shape[loop.axis] - 1
            indices.append(self.random.choice([
                own, own, own,
                (f"{n} - 1 - ({own[0]})", lambda known, last=last, own=own: last - own[1](known)),
                (f"max({own[0]} - 1, 0)", lambda known, own=own: max(own[1](known) - 1, 0))]))
        return self.element(array, indices)

    def reduced(self, loops):
        """What a line, or a part of one, comes to."""
        axis = self.random.randrange(len(self.shape))
        first = self.random.choice((0, 0, 1)) if self.shape[axis] > 1 else 0
        name, of_all = self.random.choice((("sum", sum), ("sum", sum), ("max", max), ("min", min)))
        parts = []
        for array in self.random.choices(self.arrays, k=self.random.choice((1, 1, 2)) if name == "sum" else 1):
            texts = [f"{first} : end" if loop.axis == axis and first else ":" if loop.axis == axis else loop.index_text()
                     for loop in sorted(loops, key=lambda loop: loop.axis)]
            parts.append((f"{array.name}[{', '.join(texts)}]", array))

        def of(known):
            place = {loop.axis: known[loop.variable] + loop.shift for loop in loops}
            total = []
            for number in range(first, self.shape[axis]):
                product = 1
                for _, array in parts:
                    product *= array.values[tuple(number if k == axis else place[k] for k in range(len(self.shape)))]
                total.append(product)
            return of_all(total)
        return f"{name}({' * '.join(text for text, _ in parts)})", of

    def number(self, loops, scalars):
        forms = [constant(self.random.randint(0, 9))]
        forms += [(loop.variable, lambda known, v=loop.variable: known[v]) for loop in loops]
        forms += [(scalar, lambda known, s=scalar: known[s]) for scalar in scalars]
        return self.random.choice(forms)

    def expression(self, loops, scalars, written=()):
        terms = [self.number(loops, scalars) for _ in range(self.random.randint(1, 2))]
        if len(loops) == len(self.shape):
            terms += [self.read(loops) for _ in range(self.random.randint(0, 2))] + list(written)
            if self.random.random() < 0.2:
                terms.append(self.reduced(loops))
        text = " + ".join(f"{k} * ({text})" for k, (text, _) in enumerate(terms, 1))
        return f"({text}) %% {MODULUS}", lambda known: remainder(sum(k * of(known) for k, (_, of) in enumerate(terms, 1)))

    # ---- statements

    def nest(self, axes, loops, scalars, targets, body):
        """@param body  what a point does  @return the text; a function that runs it"""
        if not axes:
            return body(loops, scalars, targets)
        axis, rest = axes[0], axes[1:]
        texts, runs = [], []
        for loop in self.parts(axis, loops):
            own = list(scalars)
            between, computed = self.scalars(loops + [loop], own) if self.random.random() < 0.3 else ("", [])
            text, inner = self.nest(rest, loops + [loop], own, targets, body)
            joins = not between and text.startswith("foreach ") and text.count("foreach") == 1 and self.random.random() < 0.5
            texts.append(f"foreach {loop.range_text()}, {text[len('foreach '):]}" if joins else
                         f"foreach {loop.range_text()} {{ {between}{text} }}")
            runs.append((loop, computed, inner))

        def run(known):
            for loop, computed, inner in runs:
                for number in loop.numbers(known):
                    here = {**known, loop.variable: number}
                    for name, of in computed:
                        here[name] = of(here)
                    inner(here)
        return " ".join(texts), run

    def scalars(self, loops, scalars):
        text, computed = "", []
        for _ in range(self.random.randint(1, 2)):
            name, (value, of) = self.name("s"), self.expression(loops, scalars)
            text += f"int {name} = {value}; "
            computed.append((name, of))
            scalars.append(name)
        return text, computed

    def writes(self, loops, scalars, targets):
        text, steps, written = "", [], []
        in_order = sorted(loops, key=lambda loop: loop.axis)
        indices = [(loop.index_text(), lambda known, loop=loop: known[loop.variable] + loop.shift) for loop in in_order]
        for target in targets:
            element, at = self.element(target, indices)
            value, of = self.expression(loops, scalars, self.random.sample(written, self.random.randint(0, len(written))))
            if self.random.random() < 0.25:
                test, holds = self.number(loops, scalars)
                other, of_other = self.expression(loops, scalars)
                border = self.random.randint(0, 5)
                text += f"if ({test} < {border}) {{ {element} = {value}; }} else {{ {element} = {other}; }} "
                of = lambda known, a=of, b=of_other, h=holds, c=border: a(known) if h(known) < c else b(known)
            else:
                text += f"{element} = {value}; "
            steps.append((target, of))
            written.append((element, at))

        def run(known):
            place = tuple(of(known) for _, of in indices)
            for target, of in steps:
                assert place not in target.values
                target.values[place] = of(known)
        return text, run

    def row(self, loops, scalars, targets):
        """All elements that differ in the one axis over which no loop goes, of an array of the point's own."""
        axis = next(k for k in range(len(self.shape)) if all(loop.axis != k for loop in loops))
        extent, high, text, steps = self.shape[axis], self.bound(axis, 1), "", []
        for target in targets:
            own, total, number = self.name("p"), self.name("s"), self.random.randint(1, 9)
            first, second = (Loop(axis, self.name("i"), constant(0), high) for _ in range(2))
            value, of = self.expression(loops + [first], scalars)
            element, _ = self.element(target, [(loop.index_text(), None) for loop in
                                               sorted([*loops, second], key=lambda loop: loop.axis)])
            back, text_back = self.random.choice(((False, second.variable),
                                                  (True, f"{self.extents[axis]} - 1 - {second.variable}")))
            text += (f"int {own}[{self.extents[axis]}]; foreach {first.range_text()} {{ {own}[{first.variable}] = {value}; }} "
                     f"int {total} = sum({own}); foreach {second.range_text()} "
                     f"{{ {element} = ({number} * {own}[{text_back}] + {total}) %% {MODULUS}; }} ")
            steps.append((target, first, of, number, back))

        def run(known):
            place = {loop.axis: known[loop.variable] + loop.shift for loop in loops}
            for target, first, of, number, back in steps:
                numbers = [of({**known, first.variable: k}) for k in range(extent)]
                for k in range(extent):
                    where = tuple(k if at == axis else place[at] for at in range(len(self.shape)))
                    assert where not in target.values
                    target.values[where] = remainder(number * numbers[extent - 1 - k if back else k] + sum(numbers))
        return text, run

    def statement(self):
        targets = [Array(self.name("a"), self.shape, {}) for _ in range(self.random.choice((1, 1, 2)))]
        axes = list(range(len(self.shape)))
        if self.random.random() < 0.3:
            self.random.shuffle(axes)
        body = self.writes
        if len(axes) > 1 and self.random.random() < 0.3:
            axes, body = axes[:-1], self.row
        text, run = self.nest(axes, [], [], targets, body)
        self.lines += [f"int {target.name}[{', '.join(self.extents)}];" for target in targets] + [text]
        run({})
        for target in targets:
            assert len(target.values) == self.size()
            self.keep(target)

    def edge(self):
        """One loop writes all but an edge of an array, another one the edge, from what lies beside it and other arrays."""
        axis = self.random.choice([axis for axis, extent in enumerate(self.shape) if extent > 1])
        target, after = Array(self.name("a"), self.shape, {}), self.random.random() < 0.5
        edge, beside = (0, 1) if self.random.random() < 0.5 else (self.shape[axis] - 1, self.shape[axis] - 2)
        inside = [Loop(k, self.name("i"), constant(int(k == axis and edge == 0)),
                       self.bound(k, 1 + int(k == axis and edge != 0))) for k in range(len(self.shape))]
        along = [Loop(k, self.name("i"), constant(0), self.bound(k, 1)) for k in range(len(self.shape)) if k != axis]
        written, write = self.writes(inside, [], [target])
        fixed = {place: Loop(axis, str(place), None, None) for place in (edge, beside)}
        at = lambda place: [(loop.index_text(), lambda known, loop=loop: known[loop.variable] if loop.axis != axis else place)
                            for loop in sorted([*along, fixed[place]], key=lambda loop: loop.axis)]
        element, _ = self.element(target, at(edge))
        terms = [self.element(target, at(beside)), *(self.element(self.random.choice(self.arrays), at(beside))
                                                     for _ in range(self.random.randint(0, 2)))]
        self.random.shuffle(terms)
        value = " + ".join(f"{k} * ({text})" for k, (text, _) in enumerate(terms, 1))
        over = lambda loops, body: f"foreach {', '.join(loop.range_text() for loop in loops)} {{ {body} }}"
        texts = [over(inside, written), over(along, f"{element} = ({value}) %% {MODULUS};")]
        self.lines += [f"int {target.name}[{', '.join(self.extents)}];", *(reversed(texts) if after else texts)]
        for loops, each in ((inside, write), (along, None)):
            for numbers in itertools.product(*(loop.numbers({}) for loop in loops)):
                known = {loop.variable: number for loop, number in zip(loops, numbers)}
                if each is not None:
                    each(known)
                    continue
                place = tuple(of(known) for _, of in at(edge))
                target.values[place] = remainder(sum(k * of(known) for k, (_, of) in enumerate(terms, 1)))
        self.keep(target)

    # ---- of elements before

    def history(self):
        """An element is made of some before it, if all of them are in the array."""
        target = Array(self.name("a"), self.shape, {})
        loops = [Loop(k, self.name("i"), constant(0), self.bound(k, 1)) for k in range(len(self.shape))]
        offsets = [self.earlier() for _ in range(self.random.randint(1, 3))]
        borders = [border for loop in loops for border in self.borders(loop, offsets)]
        others = [self.expression(loops, []) for _ in borders]
        rest, of_rest = self.expression(loops, [])
        element, _ = self.element(target, [(loop.variable, None) for loop in loops])
        terms = [f"{target.name}[{', '.join(self.moved(loop.variable, by) for loop, by in zip(loops, offset))}]"
                 for offset in offsets]
        value = f"{element} = ({' + '.join(terms)} + {rest}) %% {MODULUS};"
        way = self.random.choice(("or", "and", "chain"))
        if way == "chain":
            text = "".join(f"if ({border}) {{ {element} = {other[0]}; }} else " + "{ "
                           for (border, _), other in zip(borders, others)) + value + " }" * len(borders)
        else:
            tests = [border if way == "or" else f"!({border})" for border, _ in borders]
            arms = [f"{{ {element} = {others[0][0]}; }}", f"{{ {value} }}"]
            text = "if ({}) {} else {}".format((" || " if way == "or" else " && ").join(tests),
                                               *(arms if way == "or" else reversed(arms)))
        for loop in reversed(loops):
            joins = text.startswith("foreach") and self.random.random() < 0.5
            text = f"foreach {loop.range_text()}, {text[8:]}" if joins else f"foreach {loop.range_text()} {{ {text} }}"
        self.lines += [f"int {target.name}[{', '.join(self.extents)}];", text]
        for place in itertools.product(*(range(extent) for extent in self.shape)):
            known = {loop.variable: number for loop, number in zip(loops, place)}
            at = next((n for n, (_, holds) in enumerate(borders) if holds(known)), None)
            if at is not None:
                target.values[place] = others[at if way == "chain" else 0][1](known)
            else:
                before = [target.values[tuple(map(sum, zip(place, offset)))] for offset in offsets]
                target.values[place] = remainder(sum(before) + of_rest(known))
        self.keep(target)

    @staticmethod
    def moved(variable, by):
        return variable if by == 0 else f"{variable} {'+' if by > 0 else '-'} {abs(by)}"

    def earlier(self):
        """Of an element before: how many indices further in each axis."""
        first = self.random.randrange(len(self.shape))
        return tuple(0 if k < first else -self.random.choice((1, 1, 2)) if k == first else
                     self.random.choice((-1, 0, 0, 1)) for k in range(len(self.shape)))

    def borders(self, loop, offsets):
        """Where the elements before are none."""
        n, variable, made = self.extents[loop.axis], loop.variable, []
        low, high = max(-o[loop.axis] for o in offsets), max(o[loop.axis] for o in offsets)
        last = self.shape[loop.axis] - 1
        if low > 0:
            texts = [f"{variable} < {low}", f"{variable} <= {low - 1}", f"{low} > {variable}", f"{variable} - {low} < 0"]
            if low == 1:
                texts += [f"{variable} == 0"] * 3
            made.append((self.random.choice(texts), lambda known: known[variable] < low))
        if high > 0:
            texts = [f"{variable} > {n} - 1 - {high}", f"{variable} + {high} >= {n}", f"{variable} + {high} > {n} - 1"]
            if high == 1:
                texts += [f"{variable} == {n} - 1"] * 3
            made.append((self.random.choice(texts), lambda known: known[variable] > last - high))
        self.random.shuffle(made)
        return made

    def keep(self, array):
        self.arrays.append(array)
        values = [array.values[p] for p in itertools.product(*(range(extent) for extent in self.shape))]
        weights = sum(value * (n % 7 + 1) for n, value in enumerate(values))
        weighted = f"sum(flatten({array.name}) * (arange({len(values)}) %% 7 + 1))"
        self.lines.append(f'printf("{array.name} %i %i", sum({array.name}), {weighted});')
        self.expected.append(f"{array.name} {sum(values)} {weights}")

    def program(self):
        first, step, size = self.random.randint(0, 50), self.random.randint(1, 99), self.size()
        reshaped = f"reshape(made, {', '.join(map(str, self.shape))})" if len(self.shape) > 1 else "made"
        self.lines += [f"made = ({first} + {step} * arange({size})) %% 101;",
                       f"int a0[{', '.join([':'] * len(self.shape))}] = {reshaped};"]
        points = itertools.product(*(range(extent) for extent in self.shape))
        self.keep(Array("a0", self.shape, {p: (first + step * n) % 101 for n, p in enumerate(points)}))
        for _ in range(5):
            if len(self.shape) > 1 and max(self.shape) > 1 and self.random.random() < 0.3:
                self.edge()
            elif self.random.random() < 0.3:
                self.history()
            else:
                self.statement()
        return "\n".join(self.lines) + "\n", sorted(self.expected)


if __name__ == "__main__":
    run_computed_programs("nest programs", "Random programs whose nested loops write dense arrays.",
                          lambda seed: Generator(seed).program())
