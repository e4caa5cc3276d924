"""Random models: loops over points whose bodies fill arrays of their own, in an order or in none, carry them from round to round, reduce them."""

import math


def rest(a, b):
    return int(math.fmod(a, b))


class Model:
    """The text of a `foreach` that computes `name[p]`, and what it computes."""

    def __init__(self, random, name):
        self.random, self.name = random, name
        self.points, self.size, self.rounds = random.choice((20, 50)), random.randint(3, 24), random.randint(0, 5)
        self.a, self.b, self.c = (random.randint(-4, 4) for _ in range(3))
        self.lines = []
        self.steps = [random.choice((self.walk, self.table, self.backward, self.rows, self.library)) for _ in range(random.randint(1, 3))]
        self.last = random.choice((self.carry, self.wave, self.state, self.none))

    def text(self):
        n = self.size
        self.say(f"int {self.name}[{self.points}];", f"foreach p in [0:{self.points - 1}] {{", f"int v0[{n}];",
                 f"foreach i in [0:{n - 1}] {{ v0[i] = (p * ({self.a}) + i * ({self.b})) %% 50; }}")
        for number, step in enumerate(self.steps):
            step(number, None, None)
        self.last(len(self.steps), None, None)
        self.say(f"{self.name}[p] = sum(v{len(self.steps)}) * 3 + last;", "}")
        return self.lines

    def values(self):
        return [self.value(p) for p in range(self.points)]

    def value(self, p):
        v = [rest(p * self.a + i * self.b, 50) for i in range(self.size)]
        for number, step in enumerate(self.steps):
            v = step(number, p, v)
        return sum(v) * 3 + self.last(len(self.steps), p, v)

    def say(self, *lines):
        self.lines += lines

    # Each says its lines if there is no point, else it computes the next array of the one before.

    def walk(self, number, p, v):
        n, a, b = self.size, self.a, self.b
        if p is None:
            new, old = f"v{number + 1}", f"v{number}"
            return self.say(f"int {new}[{n}];", f"{new}[0] = p;", f"for (int t = 1; t < {n}; t = t + 1) {{",
                            f"if (({new}[t - 1] + t) %% 3 == 0) {{ {new}[t] = {new}[t - 1] + ({a}); }}",
                            f"else {{ {new}[t] = ({new}[t - 1] * ({b}) + {old}[t]) %% 100; }}", "}")
        new = [p]
        for t in range(1, n):
            new.append(new[-1] + a if rest(new[-1] + t, 3) == 0 else rest(new[-1] * b + v[t], 100))
        return new

    def table(self, number, p, v):
        n, c = self.size, self.c
        if p is None:
            new, old, d = f"v{number + 1}", f"v{number}", f"d{number}"
            return self.say(f"int {d}[3, {n}];", f"foreach j in [0:{n - 1}] {{ {d}[0, j] = {old}[j]; }}",
                            f"for (int i = 1; i < 3; i = i + 1) {{ for (int j = {n - 1}; j >= 0; j = j - 1) {{",
                            f"{d}[i, j] = ({d}[i - 1, {n - 1} - j] * i + p + ({c})) %% 90;", "} }",
                            f"{new} = {d}[2, :];")
        rows = [v]
        for i in (1, 2):
            rows.append([rest(rows[-1][n - 1 - j] * i + p + c, 90) for j in range(n)])
        return rows[2]

    def backward(self, number, p, v):
        """Only dataflow finds the order."""
        n = self.size
        if p is None:
            new, old = f"v{number + 1}", f"v{number}"
            return self.say(f"int {new}[{n}];", f"foreach i in [0:{n - 2}] {{ {new}[i] = ({new}[i + 1] + {old}[i]) %% 80; }}",
                            f"{new}[{n - 1}] = p;")
        new = [p]
        for i in range(n - 2, -1, -1):
            new.insert(0, rest(new[0] + v[i], 80))
        return new

    def rows(self, number, p, v):
        n, a = self.size, self.a
        if p is None:
            new, old = f"v{number + 1}", f"v{number}"
            return self.say(f"int {new}[{n}];", f"foreach i in [0:{n - 1}:2] {{ {new}[i] = {old}[i] + ({a}); }}",
                            f"foreach i in [1:{n - 1}:2] {{ {new}[i] = {new}[i - 1] - p; }}")
        new = [x + a for x in v]
        return [new[i - 1] - p if i % 2 else new[i] for i in range(n)]

    def library(self, number, p, v):
        """Functions that the kernel calls as they are, and two that are text of the library."""
        n, b, c = self.size, self.b, self.c
        which = c % 5
        if p is None:
            new, old = f"v{number + 1}", f"v{number}"
            return self.say((f"{new} = sort({old});", f"{new} = cumsum({old}) %% 100;", f"{new} = cummax({old}) - cummin({old});",
                             f"{new} = roll({old}, {b});", f"{new} = concat({old}[{n // 2} : {n - 1}], {old}[0 : {n // 2 - 1}]) + searchsorted(sort({old}), {old});")[which])
        if which == 0:
            return sorted(v)
        if which == 1:
            return [rest(sum(v[:i + 1]), 100) for i in range(n)]
        if which == 2:
            return [max(v[:i + 1]) - min(v[:i + 1]) for i in range(n)]
        if which == 3:
            return [v[(i - b) % n] for i in range(n)]
        return [x + sum(y < z for y in v) for x, z in zip(v[n // 2:] + v[:n // 2], v)]

    # The last step: the number `last`.

    def none(self, number, p, v):
        return self.say(f"int last = max(v{number});") if p is None else max(v)

    def carry(self, number, p, v):
        n, c, rounds = self.size, self.c, self.rounds
        if p is None:
            return self.say(f"int u[{n}];", "int s;",
                            f"for (u = v{number}, s = 0, int t = 0; t < {rounds}; u = next, s = s + k, t = t + 1) {{",
                            f"int next[{n}];", "next[0] = t;", f"next[{n - 1}] = u[0] %% 7;",
                            f"foreach i in [1:{n - 2}] {{ next[i] = (u[i - 1] + ({c}) * u[i + 1]) %% 100; }}",
                            "int k = sum(next * next);", "}", "int last = s + u[1];")
        s = 0
        for t in range(rounds):
            v = [t, *(rest(v[i - 1] + c * v[i + 1], 100) for i in range(1, n - 1)), rest(v[0], 7)]
            s += sum(x * x for x in v)
        return s + v[1]

    def wave(self, number, p, v):
        n, b, rounds = self.size, self.b, self.rounds
        if p is None:
            return self.say(f"int x[{n}], y[{n}];",
                            f"for (x = v{number}, y = v{number}, int t = 0; t < {rounds}; x = y, y = z, t = t + 1) {{",
                            f"z = (x * ({b}) - y + t) %% 70;", "}", "int last = sum(x) - y[0];")
        x = y = v
        for t in range(rounds):
            x, y = y, [rest(i * b - j + t, 70) for i, j in zip(x, y)]
        return sum(x) - y[0]

    def state(self, number, p, v):
        n, a = self.size, self.a
        if p is None:
            return self.say("Pair q;", f"q.a = v{number}[0];", "q.b = p;", "Pair e;",
                            f"for (e = q, int t = 1; t < {n}; e = onwards(e, v{number}[t], {a}), t = t + 1) {{ }}",
                            "int last = e.a - e.b;")
        q, r = v[0], p
        for t in range(1, n):
            q, r = rest(r + v[t], 60), q + a
        return q - r


PRELUDE = """type Pair { int a; int b; }
(Pair o) onwards(Pair s, int x, int k) { o.a = (s.b + x) %% 60; o.b = s.a + k; }
"""
