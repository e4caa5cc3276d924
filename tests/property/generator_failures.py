"""Programs with one fault: they must end in the same way in every mode. A mix-in of Generator."""

from program_tree import PRELUDE, Statement


class Failures:
    def fault(self, bad):
        """Statements that fail instead of setting `bad` if `fault_at` is the number, and the number."""
        x = self.random.randint(1, 50)
        return self.random.choice((
            [f"int {bad} = 10 %/ ({x} - fault_at);"],
            [f"int {bad} = 10 %% ({x} - fault_at);"],
            [f"int {bad} = 9223372036854775807 + (fault_at - {x} + 1);"],
            [f"int {bad} = missing[fault_at - {x} + 3];"],
            [f'string {bad} = words["x" + fault_at];'],
            [f"int {bad};", f'assert(fault_at != {x}, "the fault") => {bad} = 1;'],
            [f'int {bad} = string2int("a" + fault_at);'],
            [f"int {bad} = divide(fault_at, {x});"],
            [f"int {bad} = leaf_divide(fault_at, {x});"],
            [f"int {bad} = leaf_chained(5, fault_at - {x});"],
            [f"int {bad} = chained(5, fault_at - {x});"],
            # the first value stays, so that nothing depends on the fault
            [f"int {bad}_a[];", f"foreach {bad}_i in [0:1] {{ {bad}_a[fault_at] = 7; }}"],
            [f"int {bad};", f"if (fault_at != {x}) {{ {bad} = 1; }}"],
        )), x

    faults_prelude = """import assert;
(int o) divide(int a, int b) { trace("divide", a); o = 100 %/ (a - b); }
@leaf (int o) leaf_divide(int a, int b) { for (o = 1, int i = 3; i >= 0; o = o + 10 %/ (i + a - b), i = i - 1) {} }
(int o) leaf_chained(int n, int a) { if (n == 0) { o = 1 %/ a; } else { o = leaf_chained(n - 1, a) + 1; } }
(int o) chained(int n, int a) { trace("n", n); if (n == 0) { o = 1 %/ a; } else { o = chained(n - 1, a) + 1; } }
int missing[] = [1, 2, 3];
string words[string] = {"x": "y"};
"""

    def fault_statement(self):
        """The fault, where one of several iterations gets to it, and what depends on it."""
        bad = self.name("bad")
        lines, x = self.fault(bad)
        tail = [f'trace("not reached", {bad});'] if not lines[0].endswith("_a[];") else []
        where = self.pick("top", "foreach", "branch", "wait")
        if where == "foreach":
            i = self.name("i")
            return Statement(None, [f"foreach {i} in [{x - self.pick(0, 3)}:{x}] {{", f"  if ({i} == {x}) {{",
                                    f"    int fault_at = {i};", *("    " + line for line in lines + tail), "  }", "}"])
        start = f"int fault_at = {x};"
        if where == "branch":
            return Statement(None, [start, f"if (fault_at == {x}) {{", *("  " + line for line in lines + tail), "}"])
        if where == "wait":
            return Statement(None, [start, "wait (fault_at) {", *("  " + line for line in lines + tail), "}"])
        return Statement(None, [start, *lines, *tail])

    def failing_program(self):
        """Text only: what is printed before the run stops is not certain."""
        made, _ = self.make_statements()
        made.insert(self.random.randint(0, len(made)), self.fault_statement())
        lines = [*self.definitions, *self.layout(made)]
        return PRELUDE + self.faults_prelude + "".join(line + "\n" for line in lines)
