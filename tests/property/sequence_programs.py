#!/usr/bin/env python3
"""Random programs whose loops fill dense arrays from elements of their own print what this file computes, in every mode.

    sequence_programs.py [--seed N] [--count N] [--seconds S] [--raddle PATH] [--show]

One or two arrays of ints of one or two dimensions are filled by loops, forwards or backwards, with the first
line or column assigned before or in the loops: from elements before, from sums and maxima of lines of which a part is
there, from each other, in branches, with loops without an order within. Such a loop is a `for`, or a `foreach` whose
points wait for each other. They become one kernel or are interpreted, and nothing else may tell which.
"""

import random

from random_programs import run_computed_programs

MODULUS = 1009


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.n, self.m = (self.random.choice((1, 2, 3, 7, 16, 33, 40)) for _ in range(2))
        self.is_line = self.random.random() < 0.3  # one dimension
        if self.is_line:
            self.n, self.m = 1, self.random.choice((1, 2, 5, 40, 200, 1500))
        self.names = ["X", "Y"] if self.random.random() < 0.4 else ["X"]
        self.rows_down, self.columns_down = self.random.random() < 0.25, self.random.random() < 0.25
        self.unordered = self.random.choice((0, 0, 0.5, 1, 1))  # that a loop is a `foreach`, whose points wait

    def at(self, name, i, j):
        return f"{name}[{j}]" if self.is_line else f"{name}[{i}, {j}]"

    # What an element is made of: a text, and a function of the arrays and its place.

    def back(self, name):
        """An element before, where there is one, else a number."""
        di, dj = (1 if self.rows_down else -1), (1 if self.columns_down else -1)
        number = self.random.randint(0, 9)
        ways = [(0, dj * self.random.randint(1, 3))]
        if not self.is_line:
            ways += [(di, 0), (di, 0), (di, dj), (di, -dj), (2 * di, 0)]
        by_row, by_column = self.random.choice(ways)
        conditions = []
        for variable, by, extent in (("i", by_row, "n"), ("j", by_column, "m")):
            if by != 0:
                conditions.append(f"{variable} >= {-by}" if by < 0 else f"{variable} + {by} < {extent}")
        shift = lambda v, by: v if by == 0 else f"{v} {'+' if by > 0 else '-'} {abs(by)}"
        read = self.at(name, shift("i", by_row), shift("j", by_column))

        def of(arrays, i, j):
            row, column = i + by_row, j + by_column
            inside = 0 <= row < self.n and 0 <= column < self.m
            return arrays[name][row][column] if inside else number

        return f"where({' && '.join(conditions)}, {read}, {number})", of

    def line(self, name):
        """What a part of the own line, or of the column above, comes to."""
        what, start = self.random.choice((("sum", 0), ("max", None)))
        is_own = self.is_line or self.random.random() < 0.5
        if is_own:
            part = "j + 1 : m - 1" if self.columns_down else "0 : j - 1"
            text, some = self.at(name, "i", part), "j < m - 1" if self.columns_down else "j > 0"
            values = lambda arrays, i, j: (arrays[name][i][j + 1:] if self.columns_down else arrays[name][i][:j])
        else:
            part = "i + 1 : n - 1" if self.rows_down else "0 : i - 1"
            text, some = self.at(name, part, "j"), "i < n - 1" if self.rows_down else "i > 0"
            values = lambda arrays, i, j: [arrays[name][k][j] for k in
                                           (range(i + 1, self.n) if self.rows_down else range(i))]
        if what == "sum":
            return f"sum({text})", lambda arrays, i, j: sum(values(arrays, i, j))
        guard = self.random.randint(0, 9)
        return (f"where({some}, max({text}), {guard})",
                lambda arrays, i, j: max(values(arrays, i, j), default=guard))

    def expression(self, name, there):
        terms = []
        for _ in range(self.random.randint(1, 3)):
            draw = self.random.random()
            if draw < 0.55:
                terms.append(self.back(self.random.choice(self.names)))
            elif draw < 0.75:
                terms.append(self.line(name))
            elif draw < 0.85 and there:  # of the other array, at the same place
                other = self.random.choice(there)
                terms.append((self.at(other, "i", "j"), lambda arrays, i, j, other=other: arrays[other][i][j]))
            else:
                a, b = self.random.randint(1, 9), self.random.randint(1, 9)
                terms.append((f"{a} * i + {b} * j", lambda arrays, i, j, a=a, b=b: a * i + b * j))
        text = " + ".join(term for term, _ in terms)
        add = self.random.randint(0, 99)
        return (f"({text} + {add}) %% {MODULUS}",
                lambda arrays, i, j: (sum(of(arrays, i, j) for _, of in terms) + add) % MODULUS)

    def assignment(self, name, there):
        """Text of the loop's body, and what it computes."""
        text, of = self.expression(name, there)
        place = self.at(name, "i", "j")
        if self.random.random() < 0.7:
            return [f"{place} = {text};"], of
        other_text, other = self.expression(name, there)
        every = self.random.randint(2, 4)
        return ([f"if ((i + j) %% {every} == 0) {{ {place} = {text}; }} else {{ {place} = {other_text}; }}"],
                lambda arrays, i, j: (of if (i + j) % every == 0 else other)(arrays, i, j))

    def loop(self, variable, first, extent, is_down):
        if self.random.random() < self.unordered:
            return f"foreach {variable} in [{first} : {extent} - 1] {{"
        if is_down:
            return f"for (int {variable} = {extent} - 1; {variable} >= {first}; {variable} = {variable} - 1) {{"
        return f"for (int {variable} = {first}; {variable} < {extent}; {variable} = {variable} + 1) {{"

    def program(self):
        arrays = {name: [[0] * self.m for _ in range(self.n)] for name in self.names}
        bodies, rules, there = [], [], []
        for name in self.names:
            text, of = self.assignment(name, list(there))
            bodies += text
            rules.append((name, of))
            there.append(name)
        # a first part of each line that is a number, assigned by a loop without an order before, or within, the loops
        edge = self.random.choice((0, 0, 1, 3))
        edge = min(edge, self.m)
        value = self.random.randint(0, 99)
        for i in (range(self.n - 1, -1, -1) if self.rows_down else range(self.n)):
            if edge:
                for name in self.names:
                    arrays[name][i][:edge] = [value + k for k in range(edge)]
            for j in (range(self.m - 1, edge - 1, -1) if self.columns_down else range(edge, self.m)):
                for name, of in rules:
                    arrays[name][i][j] = of(arrays, i, j)
        shape = "m" if self.is_line else "n, m"
        lines = [f"({', '.join(f'int {name}[{shape}]' for name in self.names)}) fill(int n, int m) {{"]
        if self.is_line:
            lines.append("  int i = 0;")
        before, within = [], []
        if edge:
            for name in self.names:
                k_loop = f"foreach k in [0 : {edge - 1}] {{ {self.at(name, 'i', 'k')} = {value} + k; }}"
                (within if self.is_line or self.random.random() < 0.5 else before).append(k_loop)
        for each in before:
            lines.append(f"  foreach i in [0 : n - 1] {{ {each} }}")
        if not self.is_line:
            lines.append("  " + self.loop("i", 0, "n", self.rows_down))
        lines += [f"    {each}" for each in within]
        lines.append("    " + self.loop("j", edge, "m", self.columns_down))
        lines += [f"      {each}" for each in bodies] + ["    }"]
        if not self.is_line:
            lines.append("  }")
        lines.append("}")
        lines = ["import arrays;", f"@param int rows = {self.n};", f"@param int columns = {self.m};"] + lines
        results = [f"r{name}" for name in self.names]
        lines.append(f"{results[0] if len(results) == 1 else '(' + ', '.join(results) + ')'} = fill(rows, columns);")
        expected = []
        for name, result in zip(self.names, results):
            flat = [x for row in arrays[name] for x in row]
            lines.append(f'printf("{name} %i %i", sum(flatten({result}) * (arange(size({result})) %% 7 + 1)), '
                         f"flatten({result})[size({result}) - 1]);")
            expected.append(f"{name} {sum(x * (k % 7 + 1) for k, x in enumerate(flat))} {flat[-1]}")
        return "\n".join(lines) + "\n", sorted(expected)


if __name__ == "__main__":
    run_computed_programs("sequence programs", "Random programs whose loops in order fill arrays.",
                          lambda seed: Generator(seed).program())
