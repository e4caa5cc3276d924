#!/usr/bin/env python3
"""Random programs of loops in order whose rounds work with small arrays print what this file computes, in every mode.

    chain_programs.py [--seed N] [--count N] [--seconds S] [--raddle PATH] [--show]

One or two vectors of ints, and a number, go through many rounds or few, up or down. What a round makes of them are
sums, maxima and places along an axis of a matrix, parts, sorted and running ones, branches, loops within; rows of a
table may keep them, and be read by the next round. Such a loop is one kernel where its rounds are many and its arrays
small, and nothing else may tell which.
"""

import itertools
import random

from random_programs import run_computed_programs

MODULUS = 1009


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.rounds = self.random.choice((0, 1, 3, 999, 1000, 1001, 1200))
        self.k = self.random.choice((1, 2, 3, 5, 5, 8))
        if self.random.random() < 0.04:
            self.k, self.rounds = 1100, 1001  # too large for a chain
        self.is_down = self.random.random() < 0.3
        self.names = ["x", "y"] if self.random.random() < 0.5 else ["x"]
        self.keeps = self.random.random() < 0.6  # rows of a table
        self.in_function = self.random.random() < 0.5
        self.matrix = [[(i * 7 + j * 3) % 11 for j in range(self.k)] for i in range(self.k)] if self.k < 100 else None

    # Vectors: a text, and a function of what is there and the round's number.

    def vector(self, depth=2):
        ways = ["name", "name", "shifted", "rolled", "flipped", "running", "sorted", "where", "sum", "scaled"]
        if self.matrix:
            ways += ["column_sums", "column_maxima", "places", "row", "row_sums"]
        if self.keeps:
            ways += ["kept"]
        way = self.random.choice(ways if depth > 0 else ["name"])
        if way == "name":
            name = self.random.choice(self.names)
            return name, lambda now, t: list(now[name])
        if way == "row":
            return f"M[t %% {self.k}, :]", lambda now, t: list(self.matrix[t % self.k])
        if way == "kept":
            return "before", lambda now, t: list(now["before"])
        text, of = self.vector(depth - 1)
        if way == "sum":
            other, of_other = self.vector(depth - 1)
            return (f"({text} + {other})",
                    lambda now, t: [a + b for a, b in zip(of(now, t), of_other(now, t))])
        if way == "where":
            other, of_other = self.vector(depth - 1)
            by = self.random.randint(2, 4)
            return (f"where({text} %% {by} == 0, {text}, {other})",
                    lambda now, t: [a if a % by == 0 else b for a, b in zip(of(now, t), of_other(now, t))])
        number = self.random.randint(1, 9)
        simple = {
            "shifted": (f"({text} + {number})", lambda v: [a + number for a in v]),
            "scaled": (f"({text} * {number})", lambda v: [a * number for a in v]),
            "rolled": (f"roll({text}, {number})", lambda v: [v[(i - number) % len(v)] for i in range(len(v))]),
            "flipped": (f"flip({text})", lambda v: v[::-1]),
            "running": (f"cumsum({text})", lambda v: list(itertools.accumulate(v))),
            "sorted": (f"sort({text})", sorted),
            "column_sums": (f"sum(column({text}) + M, axis=0)",
                            lambda v: [sum(v[i] + self.matrix[i][j] for i in range(self.k)) for j in range(self.k)]),
            "row_sums": (f"sum(row({text}) * M, axis=1)",
                         lambda v: [sum(v[j] * self.matrix[i][j] for j in range(self.k)) for i in range(self.k)]),
            "column_maxima": (f"max(column({text}) + M, axis=0)",
                              lambda v: [max(v[i] + self.matrix[i][j] for i in range(self.k))
                                         for j in range(self.k)]),
            "places": (f"argmax(column({text}) + M, axis=0)",
                       lambda v: [max(range(self.k), key=lambda i: v[i] + self.matrix[i][j])
                                  for j in range(self.k)]),
        }
        made, function = simple[way]
        return made, lambda now, t: function(of(now, t))

    def number(self):
        text, of = self.vector(1)
        way = self.random.choice(("sum", "max", "argmax", "element"))
        if way == "sum":
            return f"sum({text})", lambda now, t: sum(of(now, t))
        if way == "max":
            return f"max({text})", lambda now, t: max(of(now, t))
        if way == "argmax":
            return f"argmax({text})", lambda now, t: (lambda v: v.index(max(v)))(of(now, t))
        return f"p[t %% {self.k}]", None

    def step(self, name):
        """Statements that make `next_name`, and what that is."""
        text, of = self.vector()
        scalar, of_scalar = self.number()
        if of_scalar is None:
            part, of_part = self.vector(1)
            before = [f"int p_{name}[:] = {part};"]
            scalar = scalar.replace("p[", f"p_{name}[")
            of_scalar = lambda now, t: of_part(now, t)[t % self.k]
        else:
            before = []
        add = self.random.randint(0, 99)
        form = self.random.random()
        value = f"({text} + {scalar} + {add}) %% {MODULUS}"

        def of_value(now, t):
            more = of_scalar(now, t) + add
            return [(a + more) % MODULUS for a in of(now, t)]

        if form < 0.6:
            return before + [f"int next_{name}[:] = {value};"], of_value
        other, of_other = self.vector()
        by = self.random.randint(2, 5)
        if form < 0.8:
            return (before + [f"int next_{name}[:];", f"if (t %% {by} == 0) {{ next_{name} = {value}; }} "
                              f"else {{ next_{name} = {other} %% {MODULUS}; }}"],
                    lambda now, t: of_value(now, t) if t % by == 0 else [a % MODULUS for a in of_other(now, t)])

        def of_loop(now, t):
            v = of_value(now, t)
            for _ in range(t % by):
                v = [(3 * a + 1) % MODULUS for a in v]
            return v

        return (before + [f"int begun_{name}[:] = {value};", f"int next_{name}[:];",
                          f"for (next_{name} = begun_{name}, int q = 0; q < t %% {by}; q = q + 1, "
                          f"next_{name} = (3 * next_{name} + 1) %% {MODULUS}) {{}}"], of_loop)

    def program(self):
        k, rounds = self.k, self.rounds
        steps = {name: self.step(name) for name in self.names}
        count_of = {name: self.random.randint(0, 5) for name in self.names}
        now = {name: [(i * 5 + count_of[name]) % 17 for i in range(k)] for name in self.names}
        table, total = [list(now["x"])], 0
        for r in range(rounds):
            t = rounds - 1 - r if self.is_down else r
            now["before"] = table[-1]
            made = {name: of(now, t) for name, (_, of) in steps.items()}
            total = (total + made["x"][0]) % MODULUS
            now.update(made)
            table.append(list(now["x"]))
        first = [f"int first_{name}[k];\n  foreach i in [0 : k - 1] {{ first_{name}[i] = (i * 5 + {count_of[name]}) %% 17; }}"
                 for name in self.names]
        lines = [f"  {each}" for each in first]
        lines += [f"  int {name}[:];" for name in self.names] + ["  int total;"]
        if self.keeps:
            lines += ["  int u[rounds + 1, k];", "  u[0, :] = first_x;"]
        initial = ", ".join([f"{name} = first_{name}" for name in self.names] + ["total = 0"])
        if self.is_down:
            loop = f"for ({initial}, int t = rounds - 1; t >= 0; t = t - 1"
        else:
            loop = f"for ({initial}, int t = 0; t < rounds; t = t + 1"
        loop += "".join(f", {name} = next_{name}" for name in self.names)
        loop += f", total = (total + next_x[0]) %% {MODULUS}) {{"
        lines.append("  " + loop)
        at = "rounds - 1 - t" if self.is_down else "t"
        if self.keeps:
            lines.append(f"    int before[:] = u[{at}, :];")
        for name in self.names:
            lines += [f"    {each}" for each in steps[name][0]]
        if self.keeps:
            lines.append(f"    u[{at} + 1, :] = next_x;")
        lines.append("  }")
        prints = [f'printf("{name} %i %i", sum({name} * (arange(k) %% 7 + 1)), {name}[k - 1]);' for name in self.names]
        prints.append('printf("total %i", total);')
        expected = [f"{name} {sum(a * (i % 7 + 1) for i, a in enumerate(now[name]))} {now[name][-1]}"
                    for name in self.names] + [f"total {total}"]
        if self.keeps:
            prints.append('printf("u %i", sum(flatten(u) * (arange(size(u)) %% 5 + 1)));')
            flat = [a for row in table for a in row]
            expected.append(f"u {sum(a * (i % 5 + 1) for i, a in enumerate(flat))}")
        head = ["import arrays;", f"@param int rounds = {rounds};", f"@param int k = {k};"]
        if self.matrix:
            head += ["int M[k, k];", "foreach i in [0 : k - 1], j in [0 : k - 1] { M[i, j] = (i * 7 + j * 3) %% 11; }"]
        if not self.in_function:
            return "\n".join(head + lines + prints) + "\n", sorted(expected)
        matrix, given = (", int M[k, k]", ", M") if self.matrix else ("", "")
        body = [f"(void done) run(int rounds, int k{matrix}) {{"] + lines + [f"  {each}" for each in prints]
        return "\n".join(head + body + ["  done = propagate();", "}", f"run(rounds, k{given});"]) + "\n", sorted(expected)


if __name__ == "__main__":
    run_computed_programs("chain programs", "Random programs of loops in order over small arrays.",
                          lambda seed: Generator(seed).program())
