"""Expressions and functions of random programs; see program_generator.py."""

import math
from dataclasses import dataclass

from program_tree import (Environment, Expression, apply, indented, literal, literal_text, quotient, remainder,
                          run_all, squash, text_of, variable)

SCALARS = ("int", "float", "string", "boolean")
PRIME = 10007
WORDS = ("a", "bc", "xyz", "", "Q", "é")


@dataclass(frozen=True)
class Array:
    name: str
    key_kind: str
    kind: str
    keys: list  # surely written


@dataclass(frozen=True)
class Function:
    name: str
    inputs: list    # kinds; "counter": an int, how deep a recursion goes
    outputs: list   # kinds
    run: object     # (environment, arguments) -> list of outputs
    defaults: tuple = ()  # of the last inputs: (name, value)


class Scope:
    """What is visible."""

    def __init__(self, outer, depth=None):
        self.variables = {kind: list(outer.variables[kind]) if outer else [] for kind in SCALARS}
        self.arrays = list(outer.arrays) if outer else []
        self.nested = list(outer.nested) if outer else []          # (name, last row): row i has keys 0..i
        self.structures = list(outer.structures) if outer else []  # (name, last key of its field `list`)
        self.depth = depth if depth is not None else outer.depth + 1 if outer else 0

    @property
    def is_top(self):
        return self.depth == 0


class Expressions:
    def __init__(self, source):
        self.random = source
        self.count = 0
        self.functions = []
        self.array_functions = []  # Function of one array
        self.is_numeric = False    # no strings, no calls: for leaf functions

    # -- small things ------------------------------------------------------------------------------------------------

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, probability):
        return self.random.random() < probability

    # -- expressions -------------------------------------------------------------------------------------------------

    def some_literal(self, kind):
        return literal({"int": lambda: self.random.randint(0, 99), "float": lambda: self.random.randint(0, 64) / 16,
                        "string": lambda: self.random.choice(WORDS), "boolean": lambda: self.chance(0.5)}[kind]())

    def element(self, array, scope, depth):
        if array.key_kind == "int" and array.keys == list(range(len(array.keys))) and depth > 0 and self.chance(0.5):
            size = len(array.keys)
            index = apply(f"(({{}}) %% {size} + {size}) %% {size}",
                          lambda i: remainder(remainder(i, size) + size, size),
                          self.expression("int", scope, depth - 1))
        else:
            index = literal(self.random.choice(array.keys))
        return Expression(f"{array.name}[{index.text}]", lambda env: env.get(array.name)[index.run(env)])

    def field(self, kind, scope):
        name, last = self.random.choice(scope.structures)
        path = {"int": self.pick("i", "p.i", "list"), "float": "f", "string": self.pick("s", "p.s")}[kind]
        if path == "list":
            key = self.random.randint(0, last)
            return Expression(f"{name}.list[{key}]", lambda env: env.get(name)["list"][key])
        return Expression(f"{name}.{path}", lambda env: env.get(name)[path])

    def leaf_expression(self, kind, scope, depth=0):
        arrays = [a for a in scope.arrays if a.kind == kind and a.keys]
        if arrays and self.chance(0.4):
            return self.element(self.random.choice(arrays), scope, depth)
        if kind == "int" and scope.nested and self.chance(0.2):
            name, last = self.random.choice(scope.nested)
            row = self.random.randint(0, last)
            cell = self.random.randint(0, row)
            return Expression(f"{name}[{row}][{cell}]", lambda env: env.get(name)[row][cell])
        if scope.structures and kind != "boolean" and self.chance(0.2):
            return self.field(kind, scope)
        if scope.variables[kind] and self.chance(0.8):
            return variable(self.random.choice(scope.variables[kind]))
        return self.some_literal(kind)

    def arguments(self, function, scope, depth):
        """Expressions for all inputs, and the text of the list: defaults may be left out or given by name."""
        made = []
        for kind in function.inputs:
            made.append(literal(self.random.randint(0, 6)) if kind == "counter" else
                        self.stored(kind, scope, depth - 1))
        plain = len(function.inputs) - len(function.defaults)
        texts = [e.text for e in made[:plain]]
        by_name = False
        for i, (name, value) in enumerate(function.defaults, plain):
            if self.chance(0.4):
                made[i], by_name = literal(value), True
            else:
                texts.append(f"{name}={made[i].text}" if by_name or self.chance(0.3) else made[i].text)
                by_name |= "=" in texts[-1] and texts[-1].startswith(name)
        return made, ", ".join(texts)

    def call(self, kind, scope, depth):
        """A call of a function with one output of that kind, or None."""
        arrays = [(f, a) for f in self.array_functions if f.outputs == [kind] for a in scope.arrays
                  if [a.kind] == f.inputs and a.key_kind == "int" and a.keys == list(range(len(a.keys)))]
        if arrays and self.chance(0.5):
            function, array = self.random.choice(arrays)
            return Expression(f"{function.name}({array.name})",
                              lambda env: function.run(env, [env.get(array.name)])[0])
        fitting = [f for f in self.functions if f.outputs == [kind]]
        if not fitting:
            return None
        function = self.random.choice(fitting)
        arguments, texts = self.arguments(function, scope, depth)
        return Expression(f"{function.name}({texts})",
                          lambda env: function.run(env, [a.run(env) for a in arguments])[0])

    def expression(self, kind, scope, depth):
        if depth <= 0:
            return self.leaf_expression(kind, scope)
        if not self.is_numeric and self.chance(0.2):
            made = self.call(kind, scope, depth)
            if made:
                return made
        sub = lambda k: self.expression(k, scope, depth - 1)  # noqa: E731
        return {"int": self.int_expression, "float": self.float_expression, "string": self.string_expression,
                "boolean": self.boolean_expression}[kind](sub, scope, depth)

    def int_expression(self, sub, scope, depth):
        pattern = self.pick("leaf", "+", "-", "*", "%/", "%%", "neg", "max", "size", "strlen")
        if pattern == "+":
            return apply("({} + {})", lambda a, b: a + b, sub("int"), sub("int"))
        if pattern == "-":
            return apply("({} - {})", lambda a, b: a - b, sub("int"), sub("int"))
        if pattern == "*":
            return apply("(({}) %% 1009 * (({}) %% 1009))", lambda a, b: remainder(a, 1009) * remainder(b, 1009),
                         sub("int"), sub("int"))
        if pattern in ("%/", "%%"):
            function = quotient if pattern == "%/" else remainder
            return apply(f"(({{}}) {pattern} (({{}}) %% 5 + 7))", lambda a, b: function(a, remainder(b, 5) + 7),
                         sub("int"), sub("int"))
        if pattern == "neg":
            return apply("(-({}))", lambda a: -a, sub("int"))
        if pattern == "max":
            name = self.pick("max", "min")
            return apply(name + "({}, {})", max if name == "max" else min, sub("int"), sub("int"))
        if pattern == "size" and scope.arrays and not self.is_numeric:
            array = self.random.choice(scope.arrays)
            return Expression(f"size({array.name})", lambda env: len(array.keys))
        if pattern == "strlen" and not self.is_numeric:
            return apply("strlen({})", len, sub("string"))
        return self.leaf_expression("int", scope, depth)

    def float_expression(self, sub, scope, depth):
        pattern = self.pick("leaf", "+", "-", "*", "/", "widen", "sqrt", "max", "power")
        if pattern == "+":
            return apply("({} + {})", lambda a, b: a + b, sub("float"), sub("float"))
        if pattern == "-":
            return apply("({} - {})", lambda a, b: a - b, sub("float"), sub("float"))
        if pattern == "*":  # of stored values: exact
            return apply("({} * {})", lambda a, b: a * b, self.leaf_expression("float", scope),
                         self.leaf_expression("float", scope))
        if pattern == "/":
            return apply("({} / (abs({}) + 0.5))", lambda a, b: a / (abs(b) + 0.5), sub("float"), sub("float"))
        if pattern == "widen":
            return apply("({} + {})", lambda a, b: a + b, sub("float"), sub("int"))
        if pattern == "sqrt":
            return apply("sqrt(abs({}))", lambda a: math.sqrt(abs(a)), sub("float"))
        if pattern == "max":
            name = self.pick("max_float", "min_float")
            return apply(name + "({}, {})", max if name == "max_float" else min, sub("float"), sub("float"))
        if pattern == "power":
            return apply("(({}) %% 7) ** 2", lambda a: float(remainder(a, 7) ** 2), sub("int"))
        return self.leaf_expression("float", scope, depth)

    def string_expression(self, sub, scope, depth):
        pattern = self.pick("leaf", "+", "int", "float", "format", "upper")
        if pattern == "+":
            return apply("({} + {})", lambda a, b: a + b, sub("string"), sub("string"))
        if pattern in ("int", "float"):
            return apply("({} + ({}))", lambda a, b: a + text_of(b), sub("string"),
                         self.stored(pattern, scope, depth - 1))
        if pattern == "format":
            return apply('("<%s|%i>" % ({}, {}))', lambda a, b: f"<{a}|{b}>", sub("string"), sub("int"))
        return self.leaf_expression("string", scope, depth)

    def boolean_expression(self, sub, scope, depth):
        pattern = self.pick("leaf", "compare", "compare", "equal", "and", "not")
        if pattern == "compare":
            kind, sign = self.pick("int", "float"), self.pick("<", "<=", ">", ">=")
            function = {"<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b,
                        ">=": lambda a, b: a >= b}[sign]
            return apply(f"({{}} {sign} {{}})", function, sub(kind), sub(kind))
        if pattern == "equal":
            kind, sign = self.pick("int", "boolean") if self.is_numeric else self.pick("int", "string", "boolean"), \
                self.pick("==", "!=")
            return apply(f"({{}} {sign} {{}})", lambda a, b: (a == b) == (sign == "=="), sub(kind), sub(kind))
        if pattern == "and":
            sign = self.pick("&&", "||")
            return apply(f"({{}} {sign} {{}})", lambda a, b: (a and b) if sign == "&&" else (a or b), sub("boolean"),
                         sub("boolean"))
        if pattern == "not":
            return apply("(!{})", lambda a: not a, sub("boolean"))
        return self.leaf_expression("boolean", scope, depth)

    def squashed(self, made):
        return apply("squash({})", squash, made)

    def clipped(self, made):
        return apply("clip({})", lambda text: text[:40], made)

    def stored(self, kind, scope, depth=2):
        """An expression kept small enough to be stored or passed on."""
        made = self.expression(kind, scope, depth)
        if kind == "int":
            return apply(f"({{}}) %% {PRIME}", lambda i: remainder(i, PRIME), made)
        if kind == "float":
            return self.squashed(made)
        return self.clipped(made) if kind == "string" else made

    # -- functions ---------------------------------------------------------------------------------------------------

    def define(self, head, inputs, outputs, statements, name, defaults=(), values=None):
        """A function whose body is `statements`, which set `outputs` (name, kind); notes its text."""
        texts = [f"{'int' if kind == 'counter' else kind} {n}" for n, kind in inputs]
        given = dict(defaults)
        texts = [t + (f"={literal_text(given[n])}" if n in given else "") for t, (n, _) in zip(texts, inputs)]
        outs = ", ".join(f"{kind} {n}" for n, kind in outputs)
        self.definitions += [f"{head}({outs}) {name}({', '.join(texts)}) {{", *indented(self.layout(statements)), "}"]

        def run(env, arguments):
            env.step()
            inner = Environment(env)
            for (n, _), value in zip(inputs, arguments):
                inner.declare(n, value)
            for n, _ in outputs:
                inner.declare(n)
            run_all(statements, inner)
            return [inner.values[n] for n, _ in outputs]
        return Function(name, [kind for _, kind in inputs], [kind for _, kind in outputs], run, defaults)

    def formals(self, low, high):
        return [(self.name("p"), self.random.choice(SCALARS)) for _ in range(self.random.randint(low, high))]

    def outputs_of(self, outputs, scope):
        """Statements that set the outputs, some in branches."""
        made = []
        for n, kind in outputs:
            if self.chance(0.4):
                made.append(self.branches(scope, lambda s, n=n, kind=kind: self.assign(n, kind, s)))
            else:
                made.append(self.assign(n, kind, scope))
        return made

    def function(self):
        """Scalars in, one to three scalars out; may branch, loop, print and call what was made before it."""
        inputs = self.formals(0, 4)
        outputs = [(self.name("o"), self.random.choice(SCALARS)) for _ in range(self.pick(1, 1, 2, 3))]
        scope = Scope(None, depth=2)
        for n, kind in inputs:
            scope.variables[kind].append(n)
        makers = (self.declare, self.assign_in_branches, self.loop, self.fill_array, self.print_values, self.chain)
        body = [*self.statements(scope, self.random.randint(0, 3), makers), *self.outputs_of(outputs, scope)]
        defaults = ()
        if inputs and self.chance(0.4):
            last = inputs[-self.random.randint(1, len(inputs)):]
            defaults = tuple((n, self.some_literal(kind).run(None)) for n, kind in last)
        self.functions.append(self.define("", inputs, outputs, body, self.name("f"), defaults))

    def overloads(self):
        """Two functions of one name."""
        name, output = self.name("f"), self.random.choice(SCALARS)
        for kind in self.random.sample(SCALARS, 2):
            p, o = self.name("p"), self.name("o")
            scope = Scope(None, depth=2)
            scope.variables[kind].append(p)
            self.functions.append(self.define("", [(p, kind)], [(o, output)], [self.assign(o, output, scope)], name))

    def numeric_leaf(self):
        """What leaf inference must accept: @leaf demands it."""
        kind = self.pick("int", "float")
        inputs = [(self.name("p"), self.pick("int", "float", "boolean")) for _ in range(self.random.randint(1, 3))]
        output = self.name("o")
        scope = Scope(None, depth=2)
        for n, input_kind in inputs:
            scope.variables[input_kind].append(n)
        self.is_numeric = True
        if self.chance(0.6):
            body = [self.numeric_loop(output, kind, scope)]
        else:
            body = self.outputs_of([(output, kind)], scope)
        self.is_numeric = False
        self.functions.append(self.define("@leaf ", inputs, [(output, kind)], body, self.name("f")))

    def numeric_loop(self, output, kind, scope):
        i, limit = self.name("i"), self.random.randint(0, 20)
        start = self.stored(kind, scope)
        inner = Scope(scope)
        inner.variables["int"].append(i)
        inner.variables[kind].append(output)
        update = self.stored(kind, inner)

        def run(env):
            value = start.run(env)
            for k in range(limit):
                each = Environment(env)
                each.declare(i, k)
                each.declare(output, value)
                value = update.run(each)
            env.assign(output, value)
        line = (f"for ({output} = {start.text}, int {i} = 0; {i} < {limit}; {output} = {update.text}, "
                f"{i} = {i} + 1) {{}}")
        return self.statement(run, [line])

    def recursion(self):
        """A falling counter and a value; may have two calls of itself."""
        kind, name = self.pick("int", "float", "string"), self.name("f")
        n, p, o = self.name("n"), self.name("p"), self.name("o")
        scope = Scope(None, depth=2)
        scope.variables["int"].append(n)
        scope.variables[kind].append(p)
        base, passed, fall = self.stored(kind, scope), self.stored(kind, scope, 1), self.pick(1, 2)
        twice = self.chance(0.2)
        text = f"{name}({n} - {fall}, {passed.text})"
        join = {"int": (lambda a, b, k: remainder(a + b * k, PRIME), f"({text} + {p} * {n}) %% {PRIME}"),
                "float": (lambda a, b, k: squash(a - b), f"squash({text} - {p})"),
                "string": (lambda a, b, k: (a + str(k))[:40], f"clip({text} + {n})")}[kind]
        made = []

        def run(env):
            if env.get(n) <= 0:
                env.assign(o, base.run(env))
                return
            again = made[0].run(env, [env.get(n) - fall, passed.run(env)])[0]
            if twice:
                made[0].run(env, [env.get(n) - fall - 1, env.get(p)])
            env.assign(o, join[0](again, env.get(p), env.get(n)))
        lines = [f"if ({n} <= 0) {{", f"  {o} = {base.text};", "} else {", f"  {o} = {join[1]};",
                 *([f"  {name}({n} - {fall} - 1, {p});"] if twice else []), "}"]
        made.append(self.define("", [(n, "counter"), (p, kind)], [(o, kind)], [self.statement(run, lines)], name))
        self.functions.append(made[0])

    def array_function(self):
        """Folds an array: (T o) f(T a[])."""
        kind, name = self.pick("int", "float", "string"), self.name("f")
        o, a, i = self.name("o"), self.name("a"), self.name("i")
        start, step, text = {
            "int": (1, lambda x, e, k: remainder(x * 3 + e, PRIME), f"({o} * 3 + {a}[{i}]) %% {PRIME}"),
            "float": (0.5, lambda x, e, k: squash(x * 2.0 + e), f"squash({o} * 2.0 + {a}[{i}])"),
            "string": ("s", lambda x, e, k: x + str(k), f"{o} + {i}")}[kind]

        def run(env, arguments):
            env.step()
            value = start
            for k in range(len(arguments[0])):
                value = step(value, arguments[0][k], k)
            return [value]
        leaf = "@leaf " if kind != "string" and self.chance(0.5) else ""
        self.definitions += [
            f"{leaf}({kind} {o}) {name}({kind} {a}[]) {{",
            f"  for ({o} = {literal_text(start)}, int {i} = 0; {i} < size({a}); {o} = {text}, {i} = {i} + 1) {{}}", "}"]
        self.array_functions.append(Function(name, [kind], [kind], run))

    def make_functions(self):
        self.definitions += ["(int a, int b) feed(int x, int y) { a = y * 3 %% 100; b = x + y; }",
                             "(int r[]) multiples(int n, int x) { foreach i in [0:n] { r[i] = i * x %% 10007; } }"]
        makers = (self.function, self.function, self.numeric_leaf, self.recursion, self.array_function, self.overloads)
        for _ in range(self.random.randint(2, 6)):
            self.random.choice(makers)()
