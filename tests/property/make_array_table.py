#!/usr/bin/env python3
"""Writes array_table.txt: what NumPy's functions give for thousands of arrays, for those of `import arrays;`.

    python3 tests/property/make_array_table.py     (needs NumPy 2 and SciPy; only for who changes the table)

array_table.py compares Raddle with it, and says how a line is read. What is made of matrices, of single numbers and of 32 bits
stands in table_of_matrices.py and table_of_numbers.py.
"""

import itertools
import math
import warnings

import numpy as np

import table_of_matrices
import table_of_numbers
from table_maker import (EPSILON, HIGHEST, LOWEST, LONG, SHAPES, Table, exact_ints, finite, fits_product, fits_sum, mean_bound, no_mean,
                         of_two_arrays, overflows, reductions, relative, sum_bound, var_bound)


def add_reductions(table):
    floats = ["plain", "wide", "special", "few_nan", "few_infinite"]
    reductions(table, "sum", "F", floats, np.sum, (1, 2, 3), sum_bound)
    reductions(table, "mean", "F", ["plain", "wide", "few_nan", "few_infinite"], np.mean, (1, 2, 3), mean_bound, no_mean)
    reductions(table, "var", "F", ["plain", "unit", "few_nan"], np.var, (1, 2, 3), var_bound, no_mean)
    reductions(table, "std", "F", ["positive", "unit", "few_nan"], np.std, (1, 2, 3),
               lambda a, axis, r: np.sqrt(var_bound(a, axis, r)), no_mean)
    reductions(table, "prod", "F", ["unit", "plain", "special"], np.prod, (1, 2, 3),
               lambda a, axis, r: a.size * 2 * EPSILON * np.abs(finite(r)), long=False)
    for call, function in (("sum", np.sum), ("prod", np.prod)):
        compute, refused = exact_ints(function, fits_sum if call == "sum" else fits_product)
        reductions(table, call, "I", ["small", "one", "ends", "middle"], compute, (1, 2, 3), refused=refused, long=call == "sum")
    for name, function in (("max", np.max), ("min", np.min)):
        for kind, parts in (("F", ["ties", "special", "few_nan", "plain"]), ("I", ["small", "ends"])):
            reductions(table, name, kind, parts, lambda a, axis, f=function: f(a), (1, 2, 3), axis=False)
            table.section(f"a{name}(#0, #1)")
            for rank in (2, 3):
                for shape, part in itertools.product(SHAPES[rank], parts):
                    for along in table.chance.sample(range(-rank, rank), 2):
                        table.case([table.pools.draw(kind, part, shape), along], lambda a, axis, f=function: f(a, axis=axis))
    for name, function in (("argmax", np.argmax), ("argmin", np.argmin)):
        reductions(table, name, "F", ["ties", "special", "few_nan"], function, (1, 2, 3))
        reductions(table, name, "I", ["small", "ends"], function, (1, 2, 3))
    for name, function in (("any", np.any), ("all", np.all), ("count", np.count_nonzero)):
        reductions(table, name, "B", ["mixed", "false", "true"], function, (1, 2, 3), long=False)
    reductions(table, "mean", "B", ["mixed"], np.mean, (1, 2, 3), lambda a, axis, r: relative(1)(r), no_mean, long=False)
    reductions(table, "median", "F", ["plain", "ties", "few_nan", "few_infinite"], np.median, (1, 2), None, no_mean)
    reductions(table, "norm", "F", ["plain", "ties"], lambda a, axis: np.linalg.norm(a, axis=axis), (1, 2), 
               lambda a, axis, r: 2 * a.size * EPSILON * np.abs(r))
    table.section("quantile(#0, #1)")
    for shape, part, share in itertools.product(SHAPES[1][1:], ["plain", "ties", "few_nan"], (0.0, 0.25, 0.5, 0.9, 1.0)):
        table.case([table.pools.draw("F", part, shape), share], np.quantile)
    for share in (-0.1, 1.5):
        table.case([table.pools.draw("F", "plain", (3,)), share], np.quantile)
    table.section("cov(#0)")
    for shape in ((1, 4), (2, 3), (3, 9), (5, 5)):
        table.case([table.pools.draw("F", "plain", shape)], lambda a: np.atleast_2d(np.cov(a)),
                   lambda a, r: 40 * a.size * EPSILON * np.max(np.square(a)))


def add_shapes(table):
    """What only moves elements, for floats and ints."""
    def each(call, ranks, compute, extras=((),), kinds="FI", parts=None):
        table.section(call)
        for kind, rank in itertools.product(kinds, ranks):
            part = parts or {"F": "special", "I": "ends", "B": "mixed"}[kind]
            for shape in SHAPES[rank]:
                for extra in extras:
                    table.case([table.pools.draw(kind, part, shape), *extra], compute)
    each("flip(#0)", (1, 2, 3), np.flip)
    each("flip(#0, #1)", (2, 3), np.flip, [(0,), (1,), (-1,), (3,)])
    each("transpose(#0)", (2,), np.transpose, kinds="FIB")
    each("shape(#0)", (1, 2, 3), lambda a: np.array(a.shape), kinds="FIB")
    each("size(#0)", (1, 2, 3), lambda a: a.size, kinds="FIB")
    each("size(#0, #1)", (1, 2, 3), lambda a, axis: np.sum(np.ones(a.shape, int), axis).size * 0 + a.shape[axis],
         [(0,), (-1,)], kinds="FIB")
    each("permute(#0, #1, #2, #3)", (3,), lambda a, *axes: np.transpose(a, axes), [(0, 2, 1), (2, 0, 1), (1, 2, 0), (0, 0, 1)])
    each("column(#0)", (1,), lambda a: a[:, None], kinds="FIB")
    each("row(#0)", (1,), lambda a: a[None, :], kinds="FIB")
    each("expand(#0, #1)", (1, 2), np.expand_dims, [(0,), (1,), (-1,), (4,)])
    each("diagonal(#0)", (2,), lambda a: np.diagonal(a))
    each("diag(#0)", (1,), np.diag)
    each("tril(#0)", (2,), np.tril)
    each("triu(#0)", (2,), np.triu)
    each("roll(#0, #1)", (1, 2, 3), np.roll, [(1,), (-2,), (100,), (HIGHEST,)])
    each("roll(#0, #1, #2)", (2, 3), np.roll, [(1, 0), (-1, 1), (7, -1), (2, 4)])
    each("repeat(#0, #1)", (1,), np.repeat, [(0,), (1,), (3,), (-1,)])
    each("repeat(#0, #1, #2)", (2,), np.repeat, [(2, 0), (3, 1), (0, 1), (1, -1)])
    each("tile(#0, #1)", (1,), np.tile, [(0,), (1,), (3,)])
    each("tile(#0, #1, #2)", (2,), lambda a, k, l: np.tile(a, (k, l)), [(2, 1), (1, 3), (0, 2)])
    each("pad(#0, #1)", (1, 2), np.pad, [(0,), (1,), (3,)])
    each("pad(#0, #1)", (3,), np.pad, [(1,)], kinds="F")
    each("pad(#0, #1, #2)", (1,), lambda a, before, behind: np.pad(a, (before, behind)), [(0, 2), (3, 1), (-1, 2)])
    each("diff(#0)", (1,), np.diff, kinds="F", parts="plain")
    each("diff(#0)", (1,), np.diff, kinds="I", parts="middle")
    each("diff(#0, #1)", (2,), lambda a, axis: np.diff(a, axis=axis), [(0,), (1,), (-2,)], kinds="F", parts="plain")
    each("diff(#0, #1)", (2,), lambda a, axis: np.diff(a, axis=axis), [(0,), (1,)], kinds="I", parts="middle")
    each("nonzero(#0)", (1,), lambda a: np.nonzero(a)[0], kinds="FIB", parts=None)
    pairs = {1: [((3,), (4,)), ((0,), (2,)), ((1,), (0,))], 2: [((2, 3), (4, 3)), ((2, 3), (2, 4)), ((0, 3), (2, 3)), ((2, 2), (2, 2))],
             3: [((2, 3, 4), (1, 3, 4)), ((2, 3, 4), (2, 2, 4)), ((2, 3, 4), (2, 3, 1)), ((1, 2, 0), (1, 2, 3))]}
    for kind in "FI":
        part = {"F": "special", "I": "ends"}[kind]
        for rank in (1, 2, 3):
            table.section("concat(#0, #1)")
            for one, other in pairs[rank]:
                table.case([table.pools.draw(kind, part, one), table.pools.draw(kind, part, other)], lambda a, b: np.concatenate((a, b)))
            if rank > 1:
                table.section("concat(#0, #1, axis=#2)")
                for (one, other), axis in itertools.product(pairs[rank], (0, 1, -1, 5)):
                    table.case([table.pools.draw(kind, part, one), table.pools.draw(kind, part, other), axis],
                               lambda a, b, axis: np.concatenate((a, b), axis=axis))
        table.section("stack(#0, #1)")
        for shape in ((0,), (3,), (2, 3), (1, 1)):
            table.case([table.pools.draw(kind, part, shape), table.pools.draw(kind, part, shape)], lambda a, b: np.stack((a, b)))
        table.case([table.pools.draw(kind, part, (2,)), table.pools.draw(kind, part, (3,))], lambda a, b: np.stack((a, b)))
        for call, count in (("broadcast(#0, #1, #2)", 2), ("broadcast(#0, #1, #2, #3)", 3)):
            table.section(call)
            for shape in ((1,), (3,), (2,), (2, 1), (1, 3), (2, 3)) + (((4, 1, 3), (1, 2, 1)) if count == 3 else ()):
                for extents in ((2, 3), (1, 3), (4, 2, 3)):
                    if len(extents) == count and len(shape) <= count:
                        table.case([table.pools.draw(kind, part, shape), *extents], lambda a, *e: np.broadcast_to(a, e))
        table.section("take(#0, #1)")
        for shape, chosen in itertools.product(((7,), (9,)), ((0,), (1,), (5,), (12,))):
            table.case([table.pools.draw(kind, part, shape), table.pools.draw("I", "labels", chosen)], np.take)
        table.case([table.pools.draw(kind, part, (3,)), table.pools.draw("I", "middle", (3,))], np.take)
        table.section("take(#0, #1, axis=#2)")
        for axis, chosen in itertools.product((0, 1, -1), ((0,), (1,), (5,))):
            table.case([table.pools.draw(kind, part, (7, 7)), table.pools.draw("I", "labels", chosen), axis],
                       lambda a, i, axis: np.take(a, i, axis=axis))

    def scattered(a, places, values):
        b = a.copy()
        for place, value in zip(places, values):
            b[place] = value
        return b
    table.section("scatter(#0, #1, #2)")
    for kind, count in itertools.product("FI", (0, 1, 4, 9)):
        part = {"F": "special", "I": "ends"}[kind]
        table.case([table.pools.draw(kind, part, (7,)), table.pools.draw("I", "labels", (count,)), table.pools.draw(kind, part, (count,))], scattered)
        table.case([table.pools.draw(kind, part, (2,)), table.pools.draw("I", "middle", (2,)), table.pools.draw(kind, part, (2,))], scattered)


def add_orders(table):
    for kind, parts in (("F", ["plain", "ties", "few_nan", "few_infinite"]), ("I", ["small", "ends"])):
        for shape, part in itertools.product(SHAPES[1] + [(90,)], parts):
            drawn = table.pools.draw(kind, part, shape)
            for call, compute in (("sort(#0)", np.sort), ("argsort(#0)", lambda a: np.argsort(a, kind="stable")),
                                  ("unique(#0)", np.unique)):
                table.section(call)
                table.case([drawn], compute)
            table.section("unique_counts(#0)", 2)
            table.case([drawn], lambda a: np.unique(a, return_counts=True))
            probes = table.pools.draw(kind, part, (table.chance.choice((0, 1, 6)),))
            ordered = (f"sort({drawn[0]})", np.sort(drawn[1]))
            for side in ("left", "right"):
                table.section("searchsorted(sort(#0), #1, #2)")
                table.case([drawn, probes, f'"{side}"'],
                           lambda a, v, _, s=side: np.searchsorted(np.sort(a), v, side=s))
        for shape, part, axis in itertools.product(SHAPES[2], parts, (0, 1)):
            drawn = table.pools.draw(kind, part, shape)
            table.section("sort(#0, axis=#1)")
            table.case([drawn, axis], lambda a, axis: np.sort(a, axis=axis))
            table.section("argsort(#0, axis=#1)")
            table.case([drawn, axis], lambda a, axis: np.argsort(a, axis=axis, kind="stable"))
    running = (("cumsum", np.cumsum, fits_sum), ("cumprod", np.cumprod, fits_product))
    for name, function, fits in running:
        for kind, part in (("F", "plain"), ("F", "special"), ("I", "small"), ("I", "one"), ("I", "ends")):
            refused = None if kind == "F" else lambda a, fits=fits: None if all(
                fits([int(v) for v in a[:k + 1]]) for k in range(len(a))) else "overflow"
            table.section(f"{name}(#0)")
            for shape in SHAPES[1]:
                table.case([table.pools.draw(kind, part, shape)], function, None, refused)
            if part in ("plain", "one"):
                table.section(f"{name}(#0, #1)")
                for shape, axis in itertools.product(SHAPES[2], (0, 1)):
                    table.case([table.pools.draw(kind, part, shape), axis], lambda a, axis, f=function: f(a, axis=axis))
    for name, function in (("cummax", np.maximum.accumulate), ("cummin", np.minimum.accumulate)):
        table.section(f"{name}(#0)")
        for (kind, part), shape in itertools.product((("F", "few_nan"), ("F", "ties"), ("I", "ends")), SHAPES[1]):
            table.case([table.pools.draw(kind, part, shape)], function)
    for shape in SHAPES[1]:
        labels = table.pools.draw("I", "labels", shape)
        table.section("bincount(#0)")
        table.case([labels], np.bincount)
        table.section("count_by(#0, 7)")
        table.case([labels], lambda a: np.bincount(a, minlength=7))
        table.section("sum_by(#0, #1, 7)")
        table.case([table.pools.draw("F", "plain", shape), labels], lambda a, l: np.bincount(l, weights=a, minlength=7).astype(float))
        table.section("histogram(#0, #1)", 2)
        for part, bins in itertools.product(("plain", "ties"), (1, 3, 10)):
            table.case([table.pools.draw("F", part, shape), bins], np.histogram,
                       lambda a, b, counts, edges: 4 * EPSILON * np.max(np.abs(edges)))
        table.section("histogram(#0, #1, #2, #3)", 2)
        table.case([table.pools.draw("F", "plain", shape), 4, -1.0, 1.0], lambda a, b, low, high: np.histogram(a, b, (low, high)))


def add_numbers(table):
    """Element by element, with broadcasting."""
    def each(call, compute, kinds, bound=None, refused=None, shapes=((0,), (1,), (7,), (2, 3), (33,))):
        table.section(call)
        for shape in shapes:
            for kind, part in kinds:
                table.case([table.pools.draw(kind, part, shape)], compute, bound, refused)
    floats = [("F", "plain"), ("F", "special"), ("F", "signs"), ("F", "wide")]
    tame = [("F", "plain"), ("F", "unit"), ("F", "signs")]
    domain = lambda low, high: lambda a: "domain" if np.any((a < low) | (a > high)) else None
    for name, compute in (("abs", np.abs), ("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc), ("sign", np.sign),
                          ("is_nan", np.isnan), ("is_inf", np.isinf), ("is_finite", np.isfinite)):
        each(f"{name}(#0)", compute, floats)
    each("round(#0)", lambda a: np.trunc(a) + np.where(np.abs(a - np.trunc(a)) >= 0.5, np.copysign(1.0, a), np.copysign(0.0, a)), [("F", "wide"), ("F", "signs"), ("F", "ties")])
    each("sqrt(#0)", np.sqrt, [("F", "positive"), ("F", "plain")], None, domain(0, np.inf))
    each("log(#0)", np.log, [("F", "positive"), ("F", "unit")], relative(1), lambda a: "domain" if np.any(a <= 0) else None)
    for name, compute in (("exp", np.exp), ("expm1", np.expm1), ("sin", np.sin), ("cos", np.cos), ("tan", np.tan), ("atan", np.arctan),
                          ("sinh", np.sinh), ("cosh", np.cosh), ("tanh", np.tanh), ("cbrt", np.cbrt), ("exp2", np.exp2)):
        each(f"{name}(#0)", compute, tame, relative(2))
    for name, compute in (("asin", np.arcsin), ("acos", np.arccos)):
        each(f"{name}(#0)", compute, [("F", "unit"), ("F", "plain")], relative(2), domain(-1, 1))
    each("log1p(#0)", np.log1p, [("F", "positive"), ("F", "unit")], relative(2))
    each("abs(#0)", np.abs, [("I", "small"), ("I", "ends")], None, lambda a: "overflow" if np.any(a == LOWEST) else None)
    each("sign(#0)", np.sign, [("I", "small"), ("I", "ends")])
    shapes = [((4,), (4,)), ((3, 1), (5,)), ((2, 3), (2, 3)), ((1,), (6,)), ((0,), (1,)), ((2, 1, 3), (4, 1)), ((2,), (3,)),
              ((2, 3), (3, 2)), ((0, 2), (2,)), ((1, 1), (2, 2)), ((2, 3, 2), (3, 2))]
    both = of_two_arrays(table, shapes)
    float_pairs = [(("F", "plain"), ("F", "special")), (("F", "wide"), ("F", "plain"))]
    int_pairs = [(("I", "small"), ("I", "middle")), (("I", "ends"), ("I", "small")), (("I", "ends"), ("I", "ends"))]
    for sign, compute, exact in (("+", np.add, lambda x, y: x + y), ("-", np.subtract, lambda x, y: x - y), ("*", np.multiply, lambda x, y: x * y)):
        both(f"(#0 {sign} #1)", compute, float_pairs)
        both(f"(#0 {sign} #1)", compute, int_pairs, None, overflows(exact, LOWEST, HIGHEST))
        both(f"(#0 {sign} #1)", compute, [(("I", "small"), ("F", "plain"))])
    both("(#0 / #1)", np.divide, [(("F", "plain"), ("F", "wide")), (("I", "middle"), ("F", "plain"))])
    for sign, compute in (("<", np.less), ("<=", np.less_equal), ("==", np.equal), ("!=", np.not_equal), (">", np.greater), (">=", np.greater_equal)):
        both(f"(#0 {sign} #1)", compute, [(("F", "ties"), ("F", "ties")), (("F", "special"), ("F", "special")), (("I", "small"), ("I", "small"))])
    both("(#0 && #1)", np.logical_and, [(("B", "mixed"), ("B", "mixed"))])
    both("(#0 || #1)", np.logical_or, [(("B", "mixed"), ("B", "mixed"))])
    for name, compute in (("max", np.maximum), ("min", np.minimum)):
        both(f"{name}(#0, #1)", compute, [(("F", "plain"), ("F", "few_nan")), (("F", "special"), ("F", "ties")), (("I", "ends"), ("I", "small"))])
    both("atan2(#0, #1)", np.arctan2, [(("F", "plain"), ("F", "signs"))], relative(2))
    both("hypot(#0, #1)", np.hypot, [(("F", "plain"), ("F", "wide"))], relative(2))
    both("is_close(#0, #1)", np.isclose, [(("F", "ties"), ("F", "ties")), (("F", "few_infinite"), ("F", "few_nan"))])

    def truncated(x, y):
        return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)

    def by_ints(operation):
        return np.frompyfunc(lambda x, y: operation(int(x), int(y)), 2, 1)
    both("(#0 %/ #1)", lambda a, b: by_ints(truncated)(a, b).astype(np.int64), [(("I", "middle"), ("I", "one"))])
    both("(#0 %% #1)", np.fmod, [(("I", "middle"), ("I", "one"))])
    table.section("clip(#0, #1, #2)")
    for kind, part, low, high in (("F", "few_nan", -2.5, 1.5), ("F", "special", 0.0, 1.0), ("I", "ends", -3, 4)):
        for shape in ((0,), (9,), (3, 4)):
            table.case([table.pools.draw(kind, part, shape), low, high], np.clip)
    table.section("where(#0, #1, #2)")
    for kind, part in (("F", "special"), ("I", "ends"), ("B", "mixed")):
        for shape in ((0,), (6,), (2, 3)):
            table.case([table.pools.draw("B", "mixed", shape), table.pools.draw(kind, part, shape), table.pools.draw(kind, part, shape)], np.where)


def add_products(table):
    bound = lambda a, b, r: 4 * (a.size + b.size) * EPSILON * (np.sum(np.abs(a)) * np.max(np.abs(b), initial=0))
    for kind, part in (("F", "plain"), ("I", "small")):
        limit = bound if kind == "F" else None
        table.section("matmul(#0, #1)")
        for one, other in (((2, 3), (3, 4)), ((1, 1), (1, 1)), ((3, 0), (0, 2)), ((5, 7), (7,)), ((7,), (7, 2)), ((2, 3), (2, 3)), ((9, 9), (9, 9)),
                           ((0, 2), (2, 3)), ((4, 5), (5, 0))):
            table.case([table.pools.draw(kind, part, one), table.pools.draw(kind, part, other)], np.matmul, limit)
        table.section("dot(#0, #1)")
        for shape in SHAPES[1]:
            table.case([table.pools.draw(kind, part, shape), table.pools.draw(kind, part, shape)], np.dot, limit)
        table.case([table.pools.draw(kind, part, (2,)), table.pools.draw(kind, part, (3,))], np.dot, limit)
        table.section("outer(#0, #1)")
        for one, other in (((3,), (4,)), ((0,), (2,)), ((1,), (1,))):
            table.case([table.pools.draw(kind, part, one), table.pools.draw(kind, part, other)], np.outer)
        table.section("kron(#0, #1)")
        for one, other in (((2, 3), (2, 2)), ((1, 1), (3, 2)), ((2, 1), (1, 2))):
            table.case([table.pools.draw(kind, part, one), table.pools.draw(kind, part, other)], np.kron)
    for call, compute in (("cross(#0, #1)", np.cross), ("convolve(#0, #1)", np.convolve)):
        table.section(call)
        for one, other in (((3,), (3,)),) + (() if "cross" in call else (((1,), (4,)), ((5,), (2,)), ((9,), (9,)))):
            for part in ("plain", "unit", "positive"):
                table.case([table.pools.draw("F", part, one), table.pools.draw("F", part, other)], compute, bound)
    table.section("trapezoid(#0, #1)")
    for shape, distance in itertools.product(SHAPES[1][1:], (1.0, 0.25)):
        table.case([table.pools.draw("F", "plain", shape), distance], lambda y, d: np.trapezoid(y, dx=d), lambda y, d, r: sum_bound(y, None, r))
    table.section("gradient(#0, #1)")
    for shape, distance in itertools.product(SHAPES[1][2:], (1.0, 0.5)):
        table.case([table.pools.draw("F", "plain", shape), distance], np.gradient, relative(1))
    table.section("interp(#0, sort(#1), #2)")
    for count, points in itertools.product((0, 1, 9), (1, 2, 7)):
        for part in ("plain", "few_nan"):
            table.case([table.pools.draw("F", part, (count,)), table.pools.draw("F", "plain", (points,)), table.pools.draw("F", "unit", (points,))],
                       lambda x, p, v: np.interp(x, np.sort(p), v), lambda x, p, v, r: 8 * EPSILON * np.max(np.abs(v)))
    table.section("linspace(#0, #1, #2)")
    for first, last, count in ((0.0, 1.0, 0), (0.0, 1.0, 1), (0.0, 1.0, 7), (-2.5, 3.5, 10), (1.0, 1.0, 3), (5.0, -5.0, 11)):
        table.case([first, last, count], np.linspace, lambda a, b, n, r: 4 * EPSILON * max(abs(a), abs(b)))
    table.section("arange(#0, #1, #2)")
    for first, last, step in ((0, 10, 3), (10, 0, -3), (0, 0, 1), (5, 1, 1), (-4, 4, 2), (0.0, 1.0, 0.25), (1.0, 0.0, -0.3), (0, 9, 3)):
        table.case([first, last, step], np.arange, lambda a, b, c, r: 8 * EPSILON * max(abs(a), abs(b)))
    table.section("eye(#0, #1)")
    for n, m in ((0, 0), (1, 1), (2, 3), (3, 2)):
        table.case([n, m], np.eye)


def add_later_functions(table):
    """Behind all others, so that the cases above stay what they are."""
    def each(call, compute, kinds, bound=None, refused=None):
        table.section(call)
        for (kind, part), shape in itertools.product(kinds, ((0,), (1,), (7,), (2, 3), (33,))):
            table.case([table.pools.draw(kind, part, shape)], compute, bound, refused)
    tame = [("F", "plain"), ("F", "unit"), ("F", "signs"), ("F", "special")]
    each("asinh(#0)", np.arcsinh, tame, relative(2))
    each("acosh(#0)", np.arccosh, [("F", "positive"), ("F", "special")], relative(2), lambda a: "domain" if np.any(a < 1) else None)
    each("atanh(#0)", np.arctanh, [("F", "unit"), ("F", "signs")], relative(2), lambda a: "domain" if np.any(np.abs(a) > 1) else None)
    each("lgamma(#0)", lambda a: np.frompyfunc(math.lgamma, 1, 1)(a).astype(float), [("F", "positive")], lambda a, r: 16 * EPSILON * np.maximum(1.0, np.abs(r)))
    each("square(#0)", np.square, tame)
    each("square(#0)", np.square, [("I", "middle"), ("I", "small")], None,
         lambda a: "overflow" if any(int(v) ** 2 > HIGHEST for v in a.ravel()) else None)
    table.section("logaddexp(#0, #1)")
    for (one, other), part in itertools.product((((4,), (4,)), ((3, 1), (5,)), ((0,), (1,)), ((2,), (3,))), ("positive", "special", "few_infinite")):
        table.case([table.pools.draw("F", part, one), table.pools.draw("F", part, other)], np.logaddexp, relative(3))
    for kind, part in (("F", "plain"), ("I", "small"), ("B", "mixed")):
        for rank, shapes in SHAPES.items():
            table.section("rank(#0)")
            for shape in shapes[:3]:
                table.case([table.pools.draw(kind, part, shape)], np.ndim)
            table.section("squeeze(#0, axis=#1)")
            for shape, axis in itertools.product(shapes if rank > 1 else (), range(-rank, rank + 1)):
                table.case([table.pools.draw(kind, part, shape), axis], lambda a, axis: np.squeeze(a, axis=axis))
        table.section("split(#0, #1)")
        for shape, parts in itertools.product(SHAPES[1] + SHAPES[2], (1, 2, 4)):
            if shape[0] > 0:
                table.case([table.pools.draw(kind, part, shape), parts], lambda a, k: np.array(np.split(a, k)))
    table.section("fft2(#0)", 2)
    for shape in SHAPES[2]:
        if min(shape) > 0:
            table.case([table.pools.draw("F", "plain", shape)], lambda a: (np.fft.fft2(a).real, np.fft.fft2(a).imag),
                       lambda a, re, im: 32 * EPSILON * np.sum(np.abs(a)))
    table.section("ifft2(#0, #1)", 2)
    for shape in SHAPES[2]:
        if min(shape) > 0:
            table.case([table.pools.draw("F", "plain", shape), table.pools.draw("F", "unit", shape)],
                       lambda a, b: (np.fft.ifft2(a + 1j * b).real, np.fft.ifft2(a + 1j * b).imag),
                       lambda a, b, re, im: 32 * EPSILON * (np.sum(np.abs(a)) + np.sum(np.abs(b))) / a.size)


def add_many_axes(table):
    """Arrays of four axes and of five, and what goes along axes of three; behind all others, too."""
    three = [(2, 3, 4), (3, 1, 2), (0, 2, 3), (3, 5, 2)]
    many = [(2, 3, 2, 4), (1, 2, 1, 3), (2, 0, 3, 1), (0, 1, 2, 2), (2, 1, 3, 2, 2), (3, 2, 2, 2), (1, 1, 1, 1, 1)]

    def each(call, compute, kinds, shapes, extras=((),), bound=None, refused=None):
        table.section(call)
        for shape in shapes:
            for (kind, part), extra in itertools.product(kinds, extras):
                table.case([table.pools.draw(kind, part, shape), *extra], compute, bound, refused)

    def along(call, compute, kinds, shapes, bound=None, refused=None):
        """And one axis that there is not."""
        table.section(call)
        for shape in shapes:
            axes = [*range(-len(shape), len(shape)), len(shape)]
            for kind, part in kinds:
                drawn = table.pools.draw(kind, part, shape)
                for axis in table.chance.sample(axes, 3):
                    table.case([drawn, axis], compute, bound, refused)

    floats, ints, booleans = [("F", "plain"), ("F", "special")], [("I", "small")], [("B", "mixed")]
    tame = [("F", "plain"), ("F", "few_nan")]
    whole = lambda bound: bound and (lambda a, r: bound(a, None, r))
    for name, compute, kinds, bound, refused in (
            ("sum", np.sum, floats + ints, sum_bound, None), ("mean", np.mean, tame, mean_bound, no_mean), ("var", np.var, tame, var_bound, no_mean),
            ("std", np.std, [("F", "positive")], lambda a, axis, r: np.sqrt(var_bound(a, axis, r)), no_mean),
            ("prod", np.prod, [("F", "unit")], lambda a, axis, r: a.size * 2 * EPSILON * np.abs(finite(r)), None),
            ("argmax", np.argmax, floats + ints, None, None), ("argmin", np.argmin, [("F", "ties")], None, None),
            ("any", np.any, booleans, None, None), ("all", np.all, booleans, None, None), ("count", np.count_nonzero, booleans, None, None)):
        each(f"{name}(#0)", lambda a, f=compute: f(a), kinds, many, ((),), whole(bound), refused and (lambda a: refused(a, None)))
        along(f"{name}(#0, axis=#1)", lambda a, axis, f=compute: f(a, axis=axis), kinds, many, bound, refused)
        along(f"{name}(#0, axis=#1, keepdims=true)", lambda a, axis, f=compute: f(a, axis=axis, keepdims=True), kinds[:1], many[:5],
              bound and (lambda a, axis, r, b=bound: np.expand_dims(np.asarray(b(a, axis, r)), axis)), refused)
    for name, compute in (("max", np.max), ("min", np.min)):
        each(f"{name}(#0)", compute, floats + ints, many)
        along(f"a{name}(#0, #1)", lambda a, axis, f=compute: f(a, axis=axis), floats + ints, many)
    each("median(#0)", np.median, tame, many, refused=lambda a: no_mean(a, None))
    along("median(#0, axis=#1)", lambda a, axis: np.median(a, axis=axis), tame, three + many, refused=no_mean)
    table.section("quantile(#0, #1, axis=#2)")
    for shape, share in itertools.product([s for s in three + many if 0 not in s], (0.0, 0.3, 1.0)):
        drawn = table.pools.draw("F", "ties", shape)
        for axis in range(-1, len(shape) - 1):
            table.case([drawn, share, axis], lambda a, share, axis: np.quantile(a, share, axis=axis))
    norm_bound = lambda a, axis, r: 2 * a.size * EPSILON * np.abs(r)
    along("norm(#0, axis=#1)", lambda a, axis: np.sqrt(np.sum(a * a, axis=axis)), [("F", "plain")], many, norm_bound)
    along("sort(#0, axis=#1)", lambda a, axis: np.sort(a, axis=axis), [("F", "few_nan"), ("I", "ends")], three + many)
    along("argsort(#0, axis=#1)", lambda a, axis: np.argsort(a, axis=axis, kind="stable"), [("F", "ties"), ("I", "small")], three + many)
    along("cumsum(#0, #1)", lambda a, axis: np.cumsum(a, axis=axis), [("F", "plain"), ("I", "small")], many)
    along("cumprod(#0, #1)", lambda a, axis: np.cumprod(a, axis=axis), [("F", "unit")], many)
    along("diff(#0, #1)", lambda a, axis: np.diff(a, axis=axis), [("F", "plain"), ("I", "middle")], three + many)
    moved = [("F", "special"), ("I", "ends"), ("B", "mixed")]
    each("flip(#0)", np.flip, moved, many)
    along("flip(#0, #1)", lambda a, axis: np.flip(a, axis), moved, many)
    each("roll(#0, #1)", np.roll, moved[:2], many, ((1,), (-5,)))
    table.section("roll(#0, #1, #2)")
    for shape, axis in itertools.product(many, (0, 2, -1, 5)):
        table.case([table.pools.draw("F", "special", shape), table.chance.choice((1, -2, 9)), axis], np.roll)
    each("transpose(#0)", np.transpose, moved, many)
    table.section("permute(#0, #1, #2, #3, #4)")
    for axes in [*itertools.permutations(range(4))][::3] + [(0, -1, 1, 2), (0, 0, 1, 2), (0, 1, 2, 4)]:
        table.case([table.pools.draw("I", "ends", (2, 3, 1, 4)), *axes], lambda a, *axes: np.transpose(a, axes))
    for call, compute in (("shape(#0)", lambda a: np.array(a.shape)), ("size(#0)", np.size), ("rank(#0)", np.ndim)):
        each(call, compute, moved, many)
    along("size(#0, #1)", lambda a, axis: np.sum(np.ones(a.shape, int), axis).size * 0 + a.shape[axis], ints, many)
    along("expand(#0, #1)", np.expand_dims, moved[:1], three + many)
    along("squeeze(#0, axis=#1)", lambda a, axis: np.squeeze(a, axis=axis), moved[:1], many)
    each("pad(#0, #1)", np.pad, moved[:2], many[:5], ((1,), (0,)))
    table.section("repeat(#0, #1, #2)")
    for shape, axis, times in itertools.product(three + many[:5], (0, -1, 1), (0, 2)):
        table.case([table.pools.draw("F", "special", shape), times, axis], np.repeat)
    table.section("take(#0, #1, axis=#2)")
    for shape, axis, chosen in itertools.product(((7, 7, 7), (7, 1, 7, 7), (7, 7, 1, 1, 7)), (0, -1), ((0,), (3,))):
        table.case([table.pools.draw("I", "middle", shape), table.pools.draw("I", "labels", chosen), axis], lambda a, i, axis: np.take(a, i, axis=axis))
    for kind, part in moved[:2]:
        table.section("concat(#0, #1, axis=#2)")
        for (one, other), axis in itertools.product((((2, 3, 1, 2), (2, 3, 4, 2)), ((2, 3, 1, 2), (2, 3, 1, 2)), ((1, 2, 2, 0), (1, 2, 2, 3)),
                                                     ((2, 1, 2, 1, 3), (2, 3, 2, 1, 3))), (0, 1, -2, -1, 6)):
            table.case([table.pools.draw(kind, part, one), table.pools.draw(kind, part, other), axis],
                       lambda a, b, axis: np.concatenate((a, b), axis=axis))
        table.section("stack(#0, #1, #2)")
        for shape, axis in itertools.product(three + many[:5], (0, 2, -1)):
            table.case([table.pools.draw(kind, part, shape), table.pools.draw(kind, part, shape), axis], lambda a, b, axis: np.stack((a, b), axis=axis))
        table.section("broadcast(#0, #1, #2, #3, #4)")
        for shape in ((1,), (3,), (2, 1), (4, 1, 3), (1, 2, 1), (2, 4, 1, 3), (1, 1, 1, 3), (3, 4, 2, 3)):
            table.case([table.pools.draw(kind, part, shape), 2, 4, 2, 3], lambda a, *e: np.broadcast_to(a, e))
    each("nonzero(#0)", np.argwhere, [("B", "mixed"), ("I", "small"), ("F", "ties")], three + many)
    each("split(#0, 2)", lambda a: a.reshape(2, a.shape[0] // 2, *a.shape[1:]), ints, [s for s in three + many if s[0] in (0, 2)])
    for name in ("sum", "mean", "max", "min", "median"):
        compute = getattr(np, "nan" + name)
        limit = {"sum": sum_bound, "mean": mean_bound}.get(name)
        along(f"nan{name}(#0, #1)", lambda a, axis, f=compute: f(a, axis=axis), [("F", "few_nan")], [(3, 4, 5), (2, 3, 4, 5)],
              limit and (lambda a, axis, r, b=limit: b(np.nan_to_num(a), axis, r)), lambda a, axis: "empty" if -a.ndim <= axis < a.ndim and name != "sum" and np.isnan(a).all(axis=axis).any() else None)
    both = [(((2, 1, 3, 2), (4, 3, 1))), ((2, 3, 2, 2), (2, 3, 2, 2)), ((2, 3, 2, 2), (2, 2, 2, 2)), ((1, 2, 1, 2, 1), (3, 1, 2))]
    table.section("(#0 * #1)")
    for one, other in both:
        table.case([table.pools.draw("F", "plain", one), table.pools.draw("F", "special", other)], np.multiply)
    table.section("where(#0, #1, #2)")
    for shape in many[:4]:
        table.case([table.pools.draw("B", "mixed", shape), table.pools.draw("I", "ends", shape), table.pools.draw("I", "small", shape)], np.where)


def main():
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    table = Table()
    for add in (add_reductions, add_shapes, add_orders, add_numbers, add_products, add_later_functions, add_many_axes,
                table_of_numbers.add, table_of_matrices.add):
        add(table)
    table.write()


if __name__ == "__main__":
    main()
