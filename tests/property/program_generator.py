"""Makes random well-typed programs that can not fail: what random_programs.py runs.

How failure is kept out: stored ints are taken modulo a small prime, stored floats are squashed into (-1, 1), stored
strings are cut, divisors are never zero, an index lies within the keys that are surely written, recursion has a falling
counter, and each variable is assigned once on every path. Every line of output starts with a tag of its own, so that
the lines can be compared sorted.
"""

import random

SCALARS = ("int", "float", "string", "boolean")
PRIME = 10007
WORDS = ("a", "bc", "xyz", "", "Q", "é")


class Scope:
    """What is visible: variables by type, and arrays with the number of keys 0.. that are surely written."""

    def __init__(self, outer=None):
        self.variables = {t: list(outer.variables[t]) if outer else [] for t in SCALARS}
        self.arrays = dict(outer.arrays) if outer else {}      # name -> (element type, size)
        self.structures = list(outer.structures) if outer else []


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0
        self.functions = []        # (name, input types, output types)
        self.array_functions = []  # (name, element type): T f(T a[], int size)
        self.lines = []

    # -- small things ------------------------------------------------------------------------------------------------

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, probability):
        return self.random.random() < probability

    def emit(self, depth, text):
        self.lines.append("  " * depth + text)

    # -- expressions -------------------------------------------------------------------------------------------------

    def literal(self, kind):
        if kind == "int":
            return str(self.random.randint(0, 99))
        if kind == "float":
            return repr(self.random.randint(0, 64) / 16)
        if kind == "string":
            return f'"{self.random.choice(WORDS)}"'
        return self.pick("true", "false")

    def index(self, size, scope, depth):
        """An int expression within 0..size-1."""
        if self.chance(0.5):
            return str(self.random.randrange(size))
        return f"(({self.expression('int', scope, depth - 1)}) %% {size} + {size}) %% {size}"

    def leaf_expression(self, kind, scope, depth):
        choices = list(scope.variables[kind])
        arrays = [(n, s) for n, (k, s) in scope.arrays.items() if k == kind]
        if arrays and self.chance(0.4):
            name, size = self.random.choice(arrays)
            return f"{name}[{self.index(size, scope, depth) if depth > 0 else self.random.randrange(size)}]"
        if scope.structures and kind != "boolean" and self.chance(0.2):
            return f"{self.random.choice(scope.structures)}.{ {'int': 'i', 'float': 'f', 'string': 's'}[kind] }"
        if choices and self.chance(0.8):
            return self.random.choice(choices)
        return self.literal(kind)

    def call(self, kind, scope, depth):
        """A call of a function with one output of that type, or None."""
        fitting = [(n, i) for n, i, o in self.functions if o == [kind]]
        if not fitting:
            return None
        name, inputs = self.random.choice(fitting)
        return f"{name}({', '.join(self.argument(t, scope, depth) for t in inputs)})"

    def argument(self, kind, scope, depth):
        if kind == "counter":  # how deep a recursion goes
            return str(self.random.randint(0, 6))
        return self.stored(kind, scope, depth - 1)

    def expression(self, kind, scope, depth):
        if depth <= 0:
            return self.leaf_expression(kind, scope, 0)
        if self.chance(0.2):
            made = self.call(kind, scope, depth)
            if made:
                return made
        sub = lambda k: self.expression(k, scope, depth - 1)  # noqa: E731
        return {
            "int": self.int_expression, "float": self.float_expression,
            "string": self.string_expression, "boolean": self.boolean_expression,
        }[kind](sub, scope, depth)

    def int_expression(self, sub, scope, depth):
        pattern = self.pick("leaf", "+", "-", "*", "%/", "%%", "neg", "max", "size")
        if pattern in ("+", "-"):
            return f"({sub('int')} {pattern} {sub('int')})"
        if pattern == "*":
            return f"(({sub('int')}) %% 1009 * (({sub('int')}) %% 1009))"
        if pattern in ("%/", "%%"):
            return f"(({sub('int')}) {pattern} (({sub('int')}) %% 5 + 7))"
        if pattern == "neg":
            return f"(-({sub('int')}))"
        if pattern == "max":
            return f"{self.pick('max', 'min')}({sub('int')}, {sub('int')})"
        if pattern == "size" and scope.arrays:
            return f"size({self.random.choice(list(scope.arrays))})"
        return self.leaf_expression("int", scope, depth)

    def float_expression(self, sub, scope, depth):
        pattern = self.pick("leaf", "+", "-", "*", "/", "widen", "sqrt", "max")
        if pattern in ("+", "-", "*"):
            return f"({sub('float')} {pattern} {sub('float')})"
        if pattern == "/":
            return f"({sub('float')} / (abs({sub('float')}) + 0.5))"
        if pattern == "widen":
            return f"({sub('float')} {self.pick('+', '-')} {sub('int')})"
        if pattern == "sqrt":
            return f"sqrt(abs({sub('float')}))"
        if pattern == "max":
            return f"{self.pick('max_float', 'min_float')}({sub('float')}, {sub('float')})"
        return self.leaf_expression("float", scope, depth)

    def string_expression(self, sub, scope, depth):
        pattern = self.pick("leaf", "+", "int", "float", "format")
        if pattern == "+":
            return f"({sub('string')} + {sub('string')})"
        if pattern in ("int", "float"):
            return f"({sub('string')} + ({self.stored(pattern, scope, depth - 1)}))"
        if pattern == "format":
            return f"(\"<%s|%i>\" % ({sub('string')}, {sub('int')}))"
        return self.leaf_expression("string", scope, depth)

    def boolean_expression(self, sub, scope, depth):
        pattern = self.pick("leaf", "compare", "compare", "equal", "and", "not")
        if pattern == "compare":
            kind = self.pick("int", "float")
            return f"({sub(kind)} {self.pick('<', '<=', '>', '>=')} {sub(kind)})"
        if pattern == "equal":
            kind = self.pick("int", "string", "boolean")
            return f"({sub(kind)} {self.pick('==', '!=')} {sub(kind)})"
        if pattern == "and":
            return f"({sub('boolean')} {self.pick('&&', '||')} {sub('boolean')})"
        if pattern == "not":
            return f"(!{sub('boolean')})"
        return self.leaf_expression("boolean", scope, depth)

    def stored(self, kind, scope, depth=2):
        """An expression kept small enough to be stored or passed on."""
        made = self.expression(kind, scope, depth)
        if kind == "int":
            return f"({made}) %% {PRIME}"
        if kind == "float":
            return f"squash({made})"
        if kind == "string" and ("+" in made or "%" in made):
            return f"clip({made})"
        return made

    # -- statements --------------------------------------------------------------------------------------------------

    def declare(self, depth, scope):
        kind = self.random.choice(SCALARS)
        name = self.name("v")
        self.emit(depth, f"{kind} {name} = {self.stored(kind, scope)};")
        scope.variables[kind].append(name)

    def assign_in_branches(self, depth, scope):
        kind = self.random.choice(SCALARS)
        name = self.name("v")
        self.emit(depth, f"{kind} {name};")
        self.branches(depth, scope, lambda d, s: self.emit(d, f"{name} = {self.stored(kind, s)};"))
        scope.variables[kind].append(name)

    def branches(self, depth, scope, body):
        """An if or a switch with `body` as last statement of each branch."""
        if self.chance(0.6):
            self.emit(depth, f"if ({self.expression('boolean', scope, 2)}) {{")
            self.branch(depth + 1, scope, body)
            self.emit(depth, "} else {")
            self.branch(depth + 1, scope, body)
            self.emit(depth, "}")
            return
        self.emit(depth, f"switch (({self.expression('int', scope, 2)}) %% 3 + 2) {{")
        for label in self.random.sample(range(5), self.random.randint(1, 3)):
            self.emit(depth + 1, f"case {label}:")
            self.branch(depth + 2, scope, body)
        self.emit(depth + 1, "default:")
        self.branch(depth + 2, scope, body)
        self.emit(depth, "}")

    def branch(self, depth, scope, body):
        inner = Scope(scope)
        if self.chance(0.4):
            self.declare(depth, inner)
        body(depth, inner)

    def fill_array(self, depth, scope):
        """An array with several writers: two loops, branches, single elements."""
        kind = self.pick("int", "float", "string")
        name, first = self.name("a"), self.random.randint(1, 6)
        self.emit(depth, f"{kind} {name}[];")
        i = self.name("i")
        self.emit(depth, f"foreach {i} in [0:{first - 1}] {{")
        inner = Scope(scope)
        inner.variables["int"].append(i)
        if self.chance(0.5):
            self.declare(depth + 1, inner)
        self.emit(depth + 1, f"{name}[{i}] = {self.stored(kind, inner)};")
        self.emit(depth, "}")
        self.branches(depth, scope, lambda d, s: self.emit(d, f"{name}[{first}] = {self.stored(kind, s)};"))
        self.emit(depth, f"{name}[{first + 1}] = {name}[{self.random.randint(0, first)}];")
        size, chain = first + 2, self.name("i")
        length = self.random.randint(1, 8)
        self.emit(depth, f"foreach {chain} in [{size}:{size + length - 1}] {{")
        inner = Scope(scope)
        inner.variables["int"].append(chain)
        previous = f"{name}[{chain} - 1]"
        step = {"int": f"({previous} + {self.stored('int', inner, 1)}) %% {PRIME}",
                "float": f"squash({previous} + {self.stored('float', inner, 1)})",
                "string": f'{self.stored("string", inner, 0)} + "." + {chain}'}[kind]
        self.emit(depth + 1, f"{name}[{chain}] = {step};")
        self.emit(depth, "}")
        scope.arrays[name] = (kind, size + length)

    def print_array(self, depth, scope):
        if not scope.arrays:
            return self.declare(depth, scope)
        array = self.random.choice(list(scope.arrays))
        value, key, tag = self.name("x"), self.name("k"), self.name("t")
        self.emit(depth, f"foreach {value}, {key} in {array} {{")
        inner = Scope(scope)
        inner.variables["int"].append(key)
        inner.variables[scope.arrays[array][0]].append(value)
        if depth < 3 and self.chance(0.5):
            self.statement(depth + 1, inner)
        self.emit(depth + 1, f'trace("{tag}", {key}, {value}, {self.stored("int", inner)});')
        self.emit(depth, "}")
        return None

    def loop(self, depth, scope):
        """A `for` with two carried variables; the outer one is used after it."""
        kind = self.pick("int", "float", "string")
        final, i, carried = self.name("v"), self.name("i"), self.name("c")
        self.emit(depth, f"{kind} {final};")
        inner = Scope(scope)
        inner.variables["int"] += [i, carried]
        inner.variables[kind].append(final)
        start = self.stored(kind, scope)
        before, self.lines = self.lines, []
        for _ in range(self.random.randint(0, 2)):
            self.random.choice((self.declare, self.assign_in_branches))(depth + 1, inner)
        body, self.lines = self.lines, before
        update = f'{final} + {self.literal("string")}' if kind == "string" else self.stored(kind, inner)
        self.emit(depth, f"for ({final} = {start}, int {i} = 0, int {carried} = {self.stored('int', scope)}; "
                         f"{i} < {self.random.randint(0, 9)}; "
                         f"{final} = {update}, {i} = {i} + 1, {carried} = {self.stored('int', inner)}) {{")
        self.lines += body
        self.emit(depth, "}")
        scope.variables[kind].append(final)

    def call_for_outputs(self, depth, scope):
        several = [f for f in self.functions if len(f[2]) > 1]
        if not several:
            return self.declare(depth, scope)
        name, inputs, outputs = self.random.choice(several)
        targets = [self.name("v") for _ in outputs]
        for target, kind in zip(targets, outputs):
            self.emit(depth, f"{kind} {target};")
        arguments = ", ".join(self.argument(t, scope, 2) for t in inputs)
        self.emit(depth, f"({', '.join(targets)}) = {name}({arguments});")
        for target, kind in zip(targets, outputs):
            scope.variables[kind].append(target)
        return None

    def reduce_array(self, depth, scope):
        fitting = [(f, a, s) for f, k in self.array_functions for a, (t, s) in scope.arrays.items() if t == k]
        if not fitting:
            return self.fill_array(depth, scope)
        function, array, _ = self.random.choice(fitting)
        kind = scope.arrays[array][0]
        name = self.name("v")
        self.emit(depth, f"{kind} {name} = {function}({array});")
        scope.variables[kind].append(name)
        return None

    def structure(self, depth, scope):
        name = self.name("r")
        values = [self.stored(kind, scope) for kind in ("int", "float", "string")]
        if self.chance(0.5):
            self.emit(depth, f"record {name} = record({', '.join(values)});")
        else:
            self.emit(depth, f"record {name};")
            for field, value in self.random.sample(list(zip("ifs", values)), 3):
                self.emit(depth, f"{name}.{field} = {value};")
        scope.structures.append(name)

    def print_values(self, depth, scope):
        kinds = self.random.sample(SCALARS, self.random.randint(1, 3))
        values = ", ".join(self.stored(kind, scope, 1) for kind in kinds)
        self.emit(depth, f'trace("{self.name("t")}", {values});')

    def wait(self, depth, scope):
        names = [*scope.arrays, *(n for kind in SCALARS for n in scope.variables[kind])]
        if not names:
            return self.declare(depth, scope)
        chosen = self.random.sample(names, min(2, len(names)))
        self.emit(depth, f"wait{self.pick('', ' deep')} ({', '.join(chosen)}) {{")
        self.print_values(depth + 1, Scope(scope))
        self.emit(depth, "}")
        return None

    def nested_array(self, depth, scope):
        """Rows of different length written by two nested loops, printed by two more."""
        name, rows = self.name("a"), self.random.randint(1, 5)
        i, j, row, value, tag = (self.name(p) for p in ("i", "j", "w", "x", "t"))
        inner = Scope(scope)
        inner.variables["int"] += [i, j]
        self.emit(depth, f"int {name}[][];")
        self.emit(depth, f"foreach {i} in [0:{rows}] {{ foreach {j} in [0:{i}] {{ "
                         f"{name}[{i}][{j}] = {self.stored('int', inner)}; }} }}")
        k, m = self.name("k"), self.name("k")
        self.emit(depth, f"foreach {row}, {k} in {name} {{ foreach {value}, {m} in {row} {{ "
                         f'trace("{tag}", {k}, {m}, {value}); }} }}')

    def statement(self, depth, scope):
        self.random.choice((self.declare, self.declare, self.assign_in_branches, self.fill_array, self.print_array,
                            self.loop, self.call_for_outputs, self.reduce_array, self.structure, self.print_values,
                            self.wait, self.nested_array))(depth, scope)

    # -- functions ---------------------------------------------------------------------------------------------------

    def signature(self, name, inputs, outputs):
        outs = ", ".join(f"{kind} {n}" for n, kind in outputs)
        ins = ", ".join(f"{'int' if kind == 'counter' else kind} {n}" for n, kind in inputs)
        return f"({outs}) {name}({ins}) {{"

    def function(self):
        """Scalars in, one to three scalars out; the body may branch, loop and call what was made before it."""
        name = self.name("f")
        inputs = [(self.name("p"), self.random.choice(SCALARS)) for _ in range(self.random.randint(0, 4))]
        outputs = [(self.name("o"), self.random.choice(SCALARS)) for _ in range(self.pick(1, 1, 2, 3))]
        self.emit(0, self.signature(name, inputs, outputs))
        scope = Scope()
        for n, kind in inputs:
            scope.variables[kind].append(n)
        for _ in range(self.random.randint(0, 3)):
            self.random.choice((self.declare, self.assign_in_branches, self.loop, self.fill_array))(1, scope)
        for n, kind in outputs:
            if self.chance(0.4):
                self.branches(1, scope, lambda d, s, n=n, kind=kind: self.emit(d, f"{n} = {self.stored(kind, s)};"))
            else:
                self.emit(1, f"{n} = {self.stored(kind, scope)};")
        self.emit(0, "}")
        self.functions.append((name, [kind for _, kind in inputs], [kind for _, kind in outputs]))

    def numeric_leaf(self):
        """What leaf inference must accept: @leaf demands it."""
        name, kind = self.name("f"), self.pick("int", "float")
        inputs = [(self.name("p"), self.pick("int", "float")) for _ in range(self.random.randint(1, 3))]
        result, i = self.name("o"), self.name("i")
        saved, self.functions = self.functions, []  # calls could reach strings
        scope = Scope()
        for n, input_kind in inputs:
            scope.variables[input_kind].append(n)
        inner = Scope(scope)
        inner.variables["int"].append(i)
        inner.variables[kind].append(result)
        self.emit(0, "@leaf " + self.signature(name, inputs, [(result, kind)]))
        self.emit(1, f"for ({result} = {self.numeric(kind, scope)}, int {i} = 0; {i} < {self.random.randint(0, 20)}; "
                     f"{result} = {self.numeric(kind, inner)}, {i} = {i} + 1) {{}}")
        self.emit(0, "}")
        self.functions = [*saved, (name, [k for _, k in inputs], [kind])]

    def numeric(self, kind, scope):
        """An expression without strings or booleans of strings: drawn again until it is one."""
        while True:
            made = self.stored(kind, scope)
            if '"' not in made:
                return made

    def recursion(self):
        name, kind = self.name("f"), self.pick("int", "float", "string")
        n, p, o = self.name("n"), self.name("p"), self.name("o")
        scope = Scope()
        scope.variables["int"].append(n)
        scope.variables[kind].append(p)
        self.emit(0, self.signature(name, [(n, "counter"), (p, kind)], [(o, kind)]))
        self.emit(1, f"if ({n} <= 0) {{")
        self.emit(2, f"{o} = {self.stored(kind, scope)};")
        self.emit(1, "} else {")
        again = f"{name}({n} - {self.pick(1, 2)}, {self.stored(kind, scope, 1) if kind != 'string' else p})"
        joined = {"int": f"({again} + {p} * {n}) %% {PRIME}", "float": f"squash({again} - {p})",
                  "string": f"{again} + {n}"}[kind]
        self.emit(2, f"{o} = {joined};")
        self.emit(1, "}")
        self.emit(0, "}")
        self.functions.append((name, ["counter", kind], [kind]))

    def array_function(self):
        """Folds an array: (T o) f(T a[])."""
        name, kind = self.name("f"), self.pick("int", "float", "string")
        o, a, i = self.name("o"), self.name("a"), self.name("i")
        zero, step = {"int": ("1", f"({o} * 3 + {a}[{i}]) %% {PRIME}"),
                      "float": ("0.5", f"squash({o} * 2.0 + {a}[{i}])"),
                      "string": ('"s"', f'{o} + {i}')}[kind]
        leaf = "@leaf " if kind != "string" and self.chance(0.5) else ""
        self.emit(0, f"{leaf}({kind} {o}) {name}({kind} {a}[]) {{")
        self.emit(1, f"for ({o} = {zero}, int {i} = 0; {i} < size({a}); {o} = {step}, {i} = {i} + 1) {{}}")
        self.emit(0, "}")
        self.array_functions.append((name, kind))

    # -- the whole ---------------------------------------------------------------------------------------------------

    def program(self):
        self.emit(0, "import math;")
        self.emit(0, "import string;")
        self.emit(0, "type record { int i; float f; string s; }")
        self.emit(0, "(float y) squash(float x) { y = x / (1.0 + abs(x)); }")
        self.emit(0, "(string y) clip(string s) { y = substring(s, 0, 40); }")
        for _ in range(self.random.randint(2, 6)):
            self.random.choice((self.function, self.function, self.numeric_leaf, self.recursion, self.array_function))()
        scope = Scope()
        for _ in range(self.random.randint(5, 16)):
            self.statement(0, scope)
        for kind in SCALARS:
            for name in scope.variables[kind]:
                self.emit(0, f'trace("end {name}", {name});')
        for name in scope.arrays:
            self.emit(0, f'trace("size {name}", size({name}));')
        self.emit(0, 'trace("end");')
        return "\n".join(self.lines) + "\n"
