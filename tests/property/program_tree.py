"""Programs that know their results: each expression and statement is its text and a function that evaluates it.

The evaluator runs statements in the order in which they were made, which is one that dataflow allows; their text may
stand in another. It is the reference for what `raddle` prints: sorted lines.
"""

import math
from dataclasses import dataclass, field
from typing import Callable

STEP_LIMIT = 60_000
EMPTY = object()


class TooLong(Exception):
    """The program does more than a test should."""


class Environment:
    """Values of variables; arrays are dicts, bags lists, structures dicts by field."""

    def __init__(self, outer=None, lines=None):
        self.outer = outer
        self.values = {}
        self.lines = lines if lines is not None else outer.lines
        self.steps = outer.steps if outer else [0]

    def step(self):
        self.steps[0] += 1
        if self.steps[0] > STEP_LIMIT:
            raise TooLong

    def home(self, name):
        environment = self
        while name not in environment.values:
            environment = environment.outer
        return environment.values

    def get(self, name):
        return self.home(name)[name]

    def declare(self, name, value=EMPTY):
        self.values[name] = value

    def assign(self, name, value):
        self.home(name)[name] = value


@dataclass(frozen=True)
class Expression:
    text: str
    run: Callable  # Environment -> value


@dataclass
class Statement:
    """Declarations may stand anywhere before the lines."""

    run: Callable  # Environment -> None; declares and executes
    lines: list = field(default_factory=list)
    declarations: list = field(default_factory=list)


def literal_text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def literal(value):
    return Expression(literal_text(value), lambda env: value)


def variable(name):
    return Expression(name, lambda env: env.get(name))


def apply(pattern, function, *operands):
    """`pattern` has a {} for each operand."""
    def run(env):
        env.step()
        return function(*(operand.run(env) for operand in operands))
    return Expression(pattern.format(*(operand.text for operand in operands)), run)


def quotient(a, b):
    """Towards zero, as `%/`."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a, b):
    """With the sign of the dividend, as `%%`."""
    return a - b * quotient(a, b)


def squash(x):
    """The prelude's function of that name: a multiple of 1/16 in [-32, 32), so that products are exact."""
    return math.floor((x - 64.0 * math.floor(x / 64.0)) * 16.0) / 16.0 - 32.0


PRELUDE = """import math;
import string;
import files;
type pair { int i; string s; }
type record { int i; float f; string s; pair p; int list[]; }
(float y) squash(float x) { y = floor((x - 64.0 * floor(x / 64.0)) * 16.0) / 16.0 - 32.0; }
(string y) clip(string s) { y = substring(s, 0, 40); }
"""


def text_of(value):
    """As `trace` prints it."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float):
        return float_text(value)
    return str(value)


def float_text(value):
    text = repr(value)
    if "e" not in text:
        return text
    mantissa, exponent = text.removesuffix(".0").split("e")
    power = int(exponent)
    if power == 16:
        return f"{value:.1f}"
    return f"{mantissa}e{'+' if power > 0 else ''}{power}"


def indented(lines):
    return ["  " + line for line in lines]


def run_all(statements, env):
    for statement in statements:
        env.step()
        statement.run(env)


def trace(*expressions):
    def run(env):
        env.lines.append("trace: " + ",".join(text_of(e.run(env)) for e in expressions))
    return Statement(run, [f"trace({', '.join(e.text for e in expressions)});"])
