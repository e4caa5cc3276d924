"""Makes random well-typed programs and evaluates them: what random_programs.py runs.

How failure is kept out: stored ints are taken modulo a small prime, stored floats are squashed into a small range of
multiples of 1/16, stored strings are cut, divisors are never zero, an index is a key that is surely written, recursion
has a falling counter, each variable is assigned once on every path, and products of floats are exact, so that fusing
them with an addition changes nothing. Within a block the statements stand in any order: only declarations come first.
"""

import random

from generator_expressions import SCALARS, Array, Expressions, Scope
from generator_failures import Failures
from program_tree import (PRELUDE, Environment, Expression, Statement, apply, indented, literal, literal_text,
                          quotient, remainder, run_all, trace, variable)

PRIME = 10007


class Generator(Failures, Expressions):
    def __init__(self, seed):
        super().__init__(random.Random(seed))
        self.definitions = []  # text of functions

    # -- blocks ------------------------------------------------------------------------------------------------------

    def layout(self, statements):
        """Lines of a block: as they were made, or declarations first and the rest in any order."""
        if self.chance(0.4):
            return [line for s in statements for line in self.in_order(s)]
        shuffled = self.random.sample(statements, len(statements))
        return [line for s in statements for line in s.declarations] + [line for s in shuffled for line in s.lines]

    def in_order(self, statement):
        """Declarations, then the rest; `int x; x = 1;` may become `int x = 1;`."""
        if len(statement.declarations) == len(statement.lines) == 1 and self.chance(0.7):
            declaration, line = statement.declarations[0].removesuffix(";"), statement.lines[0]
            if "[" not in declaration and line.startswith(declaration.split()[-1] + " = "):
                return [declaration.removesuffix(declaration.split()[-1]) + line]
        return [*statement.declarations, *statement.lines]

    def statement(self, run, lines):
        return Statement(run, lines)

    def block(self, head, statements):
        return [head, *indented(self.layout(statements)), "}"]

    def statements(self, scope, count, makers):
        made = []
        for _ in range(count):
            statement = self.random.choice(makers)(scope)
            if statement:
                made.append(statement)
        return made

    def target(self, kind, scope, prefix="v"):
        name = self.name(prefix)
        return name, f"{kind} {name};"

    # -- scalars and branches ----------------------------------------------------------------------------------------

    def declare(self, scope):
        kind = self.random.choice(("int", "float", "boolean") if self.is_numeric else SCALARS)
        value, (name, declaration) = self.stored(kind, scope), self.target(kind, scope)
        scope.variables[kind].append(name)
        return Statement(lambda env: env.declare(name, value.run(env)), [f"{name} = {value.text};"], [declaration])

    def assign(self, name, kind, scope):
        value = self.stored(kind, scope)
        return Statement(lambda env: env.assign(name, value.run(env)), [f"{name} = {value.text};"])

    def assign_in_branches(self, scope):
        kind = self.random.choice(SCALARS)
        name, declaration = self.target(kind, scope)
        branches = self.branches(scope, lambda inner: self.assign(name, kind, inner))
        scope.variables[kind].append(name)

        def run(env):
            env.declare(name)
            branches.run(env)
        return Statement(run, branches.lines, [declaration])

    def branches(self, scope, last):
        """An if or a switch; each branch ends with what `last(scope)` makes."""
        if self.chance(0.6):
            condition = self.expression("boolean", scope, 2)
            yes, no = self.branch(scope, last), self.branch(scope, last)
            lines = [*self.block(f"if ({condition.text}) {{", yes)[:-1], *self.block("} else {", no)]
            return Statement(lambda env: run_all(yes if condition.run(env) else no, Environment(env)), lines)
        selector = apply("({}) %% 3 + 2", lambda i: remainder(i, 3) + 2, self.expression("int", scope, 2))
        labels = self.random.sample(range(5), self.random.randint(1, 3))
        arms = {label: self.branch(scope, last) for label in labels}
        default = self.branch(scope, last)
        lines = [f"switch ({selector.text}) {{"]
        for label, arm in arms.items():
            lines += indented([f"case {label}:", *indented(self.layout(arm))])
        lines += indented(["default:", *indented(self.layout(default))])
        return Statement(lambda env: run_all(arms.get(selector.run(env), default), Environment(env)), [*lines, "}"])

    def branch(self, scope, last):
        inner = Scope(scope)
        makers = (self.declare,) if self.is_numeric else (self.declare, self.print_values)
        made = self.statements(inner, self.random.choice((0, 0, 1, 2)), makers)
        return [*made, last(inner)]

    # -- arrays ------------------------------------------------------------------------------------------------------

    def set_element(self, array, key, value):
        """array[key] = value, for two expressions."""
        return Statement(lambda env: env.get(array).__setitem__(key.run(env), value.run(env)),
                         [f"{array}[{key.text}] = {value.text};"])

    def foreach_range(self, name, low, high, body, step=1):
        stepped = f":{step}" if step != 1 else ""

        def run(env):
            for i in range(low, high + 1, step):
                inner = Environment(env)
                inner.declare(name, i)
                run_all(body, inner)
        return Statement(run, self.block(f"foreach {name} in [{low}:{high}{stepped}] {{", body))

    def fill_array(self, scope):
        """Several writers: a loop, branches, an element from an element, a chain through elements."""
        kind = self.random.choice(("int", "float", "string", "boolean"))
        name, first, i = self.name("a"), self.random.randint(1, 6), self.name("i")
        inner = Scope(scope)
        inner.variables["int"].append(i)
        body = self.statements(inner, self.random.randint(0, 1), (self.declare,))
        body.append(self.set_element(name, variable(i), self.stored(kind, inner)))
        parts = [self.foreach_range(i, 0, first - 1, body)]
        parts.append(self.branches(scope, lambda s: self.set_element(name, literal(first), self.stored(kind, s))))
        source = literal(self.random.randint(0, first))
        parts.append(self.set_element(name, literal(first + 1), Expression(
            f"{name}[{source.text}]", lambda env: env.get(name)[source.run(env)])))
        size, chain, length = first + 2, self.name("i"), self.random.randint(1, 8)
        inner = Scope(scope)
        inner.variables["int"].append(chain)
        previous = Expression(f"{name}[{chain} - 1]", lambda env: env.get(name)[env.get(chain) - 1])
        parts.append(self.foreach_range(chain, size, size + length - 1, [
            self.set_element(name, variable(chain), self.combined(kind, previous, inner))]))
        scope.arrays.append(Array(name, "int", kind, list(range(size + length))))
        return self.array_of_parts(f"{kind} {name}[];", name, parts)

    def array_of_parts(self, declaration, name, parts):
        def run(env):
            env.declare(name, {})
            run_all(parts, env)
        order = parts if self.chance(0.5) else self.random.sample(parts, len(parts))
        return Statement(run, [line for part in order for line in part.lines], [declaration])

    def combined(self, kind, previous, scope):
        """A value made of `previous` and something else."""
        if kind == "int":
            return apply("({} + {}) %% " + str(PRIME), lambda a, b: remainder(a + b, PRIME), previous,
                         self.stored("int", scope, 1))
        if kind == "float":
            return self.squashed(apply("{} + {}", lambda a, b: a + b, previous, self.stored("float", scope, 1)))
        if kind == "string":
            return self.clipped(apply("{} + {}", lambda a, b: a + b, previous, self.stored("string", scope, 0)))
        return apply("({} != {})", lambda a, b: a != b, previous, self.stored("boolean", scope, 1))

    def keyed_array(self, scope):
        """Keys that are strings or floats: a literal, or element by element."""
        kind, key_kind = self.random.choice(SCALARS), self.pick("string", "float", "int")
        keys = {"string": ["a", "b", "k 1", "é", ""], "float": [0.5, 1.0, 2.25, 100.0, 0.0625],
                "int": [-7, 0, 300, 70000, 5000000000]}[key_kind]
        keys = self.random.sample(keys, self.random.randint(1, 4))
        values = [self.stored(kind, scope) for _ in keys]
        name = self.name("a")
        scope.arrays.append(Array(name, key_kind, kind, keys))
        declaration = f"{kind} {name}[{'' if key_kind == 'int' and self.chance(0.5) else key_kind}];"
        if self.chance(0.5):
            entries = ", ".join(f"{literal_text(k)}: {v.text}" for k, v in zip(keys, values))
            return Statement(lambda env: env.declare(name, {k: v.run(env) for k, v in zip(keys, values)}),
                             [f"{name} = {{{entries}}};"], [declaration])
        return self.array_of_parts(declaration, name, [self.set_element(name, literal(k), v) for k, v in
                                                       zip(keys, values)])

    def nested_array(self, scope):
        """Rows of different length: written by two loops, or row by row as a whole; printed by two more."""
        name, rows = self.name("a"), self.random.randint(1, 5)
        i, j = self.name("i"), self.name("i")
        inner = Scope(scope)
        inner.variables["int"] += [i, j]
        value = self.stored("int", inner)

        def run(env):
            made = {}
            env.declare(name, made)
            for a in range(rows + 1):
                made[a] = {}
                for b in range(a + 1):
                    cell = Environment(env)
                    cell.declare(i, a)
                    cell.declare(j, b)
                    made[a][b] = value.run(cell)
        lines = [f"foreach {i} in [0:{rows}] {{", f"  foreach {j} in [0:{i}] {{",
                 f"    {name}[{i}][{j}] = {value.text};", "  }", "}"]
        scope.nested.append((name, rows))
        return Statement(run, lines, [f"int {name}[][];"])

    def print_nested(self, scope):
        if not scope.nested:
            return self.nested_array(scope)
        name, _ = self.random.choice(scope.nested)
        row, value, k, m, tag = (self.name(p) for p in ("w", "x", "k", "k", "t"))

        def run(env):
            for a, cells in env.get(name).items():
                for b, cell in cells.items():
                    env.lines.append(f"trace: {tag},{a},{b},{cell},{len(cells)}")
        return Statement(run, [f"foreach {row}, {k} in {name} {{", f"  foreach {value}, {m} in {row} {{",
                               f'    trace("{tag}", {k}, {m}, {value}, size({row}));', "  }", "}"])

    def print_array(self, scope):
        if not scope.arrays:
            return self.fill_array(scope)
        array = self.random.choice(scope.arrays)
        value, key, tag = self.name("x"), self.name("k"), self.name("t")
        inner = Scope(scope)
        inner.variables[array.kind].append(value)
        inner.variables[array.key_kind].append(key)
        body = self.statements(inner, self.random.choice((0, 0, 1, 2)), self.inner_makers) if scope.depth < 3 else []
        body.append(trace(literal(tag), variable(key), variable(value), self.stored("int", inner)))

        def run(env):
            for k, v in env.get(array.name).items():
                each = Environment(env)
                each.declare(value, v)
                each.declare(key, k)
                run_all(body, each)
        return Statement(run, self.block(f"foreach {value}, {key} in {array.name} {{", body))

    def bag(self, scope):
        """Appended to from a loop and from outside; walked along and counted."""
        kind, name, i = self.random.choice(SCALARS), self.name("b"), self.name("i")
        count, value, tag = self.random.randint(0, 5), self.name("x"), self.name("t")
        inner = Scope(scope)
        inner.variables["int"].append(i)
        append = self.stored(kind, inner)
        loop = self.foreach_range(i, 1, count, [Statement(lambda env: env.get(name).append(append.run(env)),
                                                          [f"{name} += {append.text};"])])
        single = self.stored(kind, scope)
        walk = Scope(scope)
        walk.variables[kind].append(value)
        printed = trace(literal(tag), variable(value), self.stored("string", walk))

        def run(env):
            env.declare(name, [])
            loop.run(env)
            env.get(name).append(single.run(env))
            env.lines.append(f"trace: {tag}size,{len(env.get(name))}")
            for each in env.get(name):
                one = Environment(env)
                one.declare(value, each)
                printed.run(one)
        parts = [loop.lines, [f"{name} += {single.text};"], [f'trace("{tag}size", bag_size({name}));'],
                 self.block(f"foreach {value} in {name} {{", [printed])]
        self.random.shuffle(parts)
        return Statement(run, [line for part in parts for line in part], [f"bag<{kind}> {name};"])

    # -- loops -------------------------------------------------------------------------------------------------------

    def loop(self, scope):
        """A `for` with two carried variables; one lives outside and is used after it."""
        kind = self.pick("int", "float", "string", "boolean")
        final, i, carried = self.name("v"), self.name("i"), self.name("c")
        start, other = self.stored(kind, scope), self.stored("int", scope)
        inner = Scope(scope)
        inner.variables["int"] += [i, carried]
        inner.variables[kind].append(final)
        body = self.statements(inner, self.random.randint(0, 2), self.inner_makers)
        update, next_carried = self.combined(kind, variable(final), inner), self.stored("int", inner)
        limit = self.random.randint(0, 9)

        def run(env):
            values = (start.run(env), 0, other.run(env))
            while True:
                each = Environment(env)
                for name, value in zip((final, i, carried), values):
                    each.declare(name, value)
                if values[1] >= limit:
                    break
                run_all(body, each)
                values = (update.run(each), values[1] + 1, next_carried.run(each))
            env.declare(final, values[0])
        head = (f"for ({final} = {start.text}, int {i} = 0, int {carried} = {other.text}; {i} < {limit}; "
                f"{final} = {update.text}, {i} = {i} + 1, {carried} = {next_carried.text}) {{")
        lines = self.block(head, body)
        scope.variables[kind].append(final)
        return Statement(run, lines, [f"{kind} {final};"])

    def iterate(self, scope):
        i, times = self.name("i"), self.random.randint(0, 4)
        inner = Scope(scope)
        inner.variables["int"].append(i)
        body = self.statements(inner, self.random.randint(0, 2), self.inner_makers)
        body.append(trace(literal(self.name("t")), variable(i), self.stored("string", inner)))

        def run(env):
            for count in range(times + 1):
                each = Environment(env)
                each.declare(i, count)
                run_all(body, each)
        return Statement(run, [*self.block(f"iterate {i} {{", body)[:-1], f"}} until ({i} >= {times});"])

    # -- structures, files, several outputs --------------------------------------------------------------------------

    def structure(self, scope):
        """As a whole, or by field; `list` is written by a loop."""
        name, i, count = self.name("r"), self.name("i"), self.random.randint(0, 3)
        values = {field: self.stored(kind, scope) for field, kind in
                  (("i", "int"), ("f", "float"), ("s", "string"), ("p.i", "int"), ("p.s", "string"))}
        inner = Scope(scope)
        inner.variables["int"].append(i)
        element = self.stored("int", inner)
        parts = [[f"{name}.{field} = {value.text};"] for field, value in values.items()]
        parts.append([f"foreach {i} in [0:{count}] {{", f"  {name}.list[{i}] = {element.text};", "}"])
        self.random.shuffle(parts)

        def run(env):
            made = {field: value.run(env) for field, value in values.items()}
            made["list"] = {}
            for k in range(count + 1):
                each = Environment(env)
                each.declare(i, k)
                made["list"][k] = element.run(each)
            env.declare(name, made)
        scope.structures.append((name, count))
        return Statement(run, [line for part in parts for line in part], [f"record {name};"])

    def copy_structure(self, scope):
        if not scope.structures:
            return self.structure(scope)
        source, count = self.random.choice(scope.structures)
        name = self.name("r")
        scope.structures.append((name, count))
        return Statement(lambda env: env.declare(name, env.get(source)), [f"{name} = {source};"], [f"record {name};"])

    def write_and_read(self, scope):
        """A file, mapped or not, written, read back."""
        name, text = self.name("f"), self.name("v")
        content = self.stored("string", scope)
        mapped = f' <"{self.name("out/file")}.txt">' if scope.is_top and self.chance(0.5) else ""
        scope.variables["string"].append(text)
        return Statement(lambda env: env.declare(text, content.run(env)),
                         [f"{name} = write({content.text});", f"{text} = read({name});"],
                         [f"file {name}{mapped};", f"string {text};"])

    def call_for_outputs(self, scope):
        several = [f for f in self.functions if len(f.outputs) > 1]
        if not several:
            return self.declare(scope)
        function = self.random.choice(several)
        arguments, texts = self.arguments(function, scope, 2)
        targets = [self.name("v") for _ in function.outputs]

        def run(env):
            for target, value in zip(targets, function.run(env, [a.run(env) for a in arguments])):
                env.declare(target, value)
        for target, kind in zip(targets, function.outputs):
            scope.variables[kind].append(target)
        left = ", ".join(targets)
        return Statement(run, [f"{self.pick('(' + left + ')', left)} = {function.name}({texts});"],
                         [f"{kind} {target};" for target, kind in zip(targets, function.outputs)])

    def feed_back(self, scope):
        """Calls do not wait for their arguments: one output may be an argument, by way of an array's element."""
        a, b, way = self.name("v"), self.name("v"), self.name("a")
        value = self.stored("int", scope)

        def run(env):
            given = value.run(env)
            env.declare(a, remainder(given * 3, 100))
            env.declare(b, env.get(a) + given)
        scope.variables["int"] += [a, b]
        parts = [f"({a}, {b}) = feed({way}[0], {value.text});", f"{way}[0] = {a};"]
        return Statement(run, self.random.sample(parts, 2), [f"int {a};", f"int {b};", f"int {way}[];"])

    def array_from_function(self, scope):
        name, count, value = self.name("a"), self.random.randint(0, 6), self.stored("int", scope)
        scope.arrays.append(Array(name, "int", "int", list(range(count + 1))))

        def run(env):
            factor = value.run(env)
            env.declare(name, {k: remainder(k * factor, PRIME) for k in range(count + 1)})
        return Statement(run, [f"{name} = multiples({count}, {value.text});"], [f"int {name}[];"])

    # -- order -------------------------------------------------------------------------------------------------------

    def print_values(self, scope):
        kinds = self.random.sample(SCALARS, self.random.randint(1, 3))
        return trace(literal(self.name("t")), *(self.stored(kind, scope, 1) for kind in kinds))

    def wait(self, scope):
        names = [*(a.name for a in scope.arrays), *(n for n, _ in scope.nested), *(n for n, _ in scope.structures),
                 *(n for kind in SCALARS for n in scope.variables[kind])]
        if not names:
            return self.declare(scope)
        chosen = self.random.sample(names, min(2, len(names)))
        inner = Scope(scope)
        body = self.statements(inner, self.random.randint(1, 2), (self.declare, self.print_values, self.loop))
        return Statement(lambda env: run_all(body, Environment(env)),
                         self.block(f"wait{self.pick('', ' deep')} ({', '.join(chosen)}) {{", body))

    def chain(self, scope):
        """Call, assignment or trace, then something else."""
        kind = self.random.choice(SCALARS)
        value, (name, declaration) = self.stored(kind, scope), self.target(kind, scope)
        first = self.print_values(scope)
        scope.variables[kind].append(name)
        last = self.print_values(scope)

        def run(env):
            env.declare(name, value.run(env))
            first.run(env)
            last.run(env)
        parts = [f"{name} = {value.text}", first.lines[0].removesuffix(";")]
        self.random.shuffle(parts)
        return Statement(run, [f"{parts[0]} => {parts[1]} => {last.lines[0]}"], [declaration])

    # -- the whole ---------------------------------------------------------------------------------------------------

    @property
    def inner_makers(self):
        return (self.declare, self.assign_in_branches, self.print_values, self.fill_array, self.call_for_outputs,
                self.chain, self.feed_back, self.keyed_array, self.bag)

    @property
    def makers(self):
        return (*self.inner_makers, self.declare, self.fill_array, self.print_array, self.print_array, self.loop,
                self.iterate, self.structure, self.copy_structure, self.write_and_read, self.wait, self.nested_array,
                self.print_nested, self.array_from_function)

    def make_statements(self):
        """The whole but for its fault, and the sorted lines it prints. Raises TooLong."""
        self.make_functions()
        scope = Scope(None)
        made = self.statements(scope, self.random.randint(5, 16), self.makers)
        for kind in SCALARS:
            made += [trace(literal(f"end {name}"), variable(name)) for name in scope.variables[kind]]
        made += [trace(literal(f"size {a.name}"), Expression(f"size({a.name})", lambda env, a=a: len(a.keys)))
                 for a in scope.arrays]
        env = Environment(lines=[])
        run_all(made, env)
        return made, sorted(env.lines)

    def program(self):
        """(text, the sorted lines it prints). Raises TooLong."""
        made, lines = self.make_statements()
        return PRELUDE + "".join(line + "\n" for line in [*self.definitions, *self.layout(made)]), lines
