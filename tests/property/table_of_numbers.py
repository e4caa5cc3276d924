"""Cases of functions of single numbers at the ends of their range, and of all sorts of functions of 32 bits."""

import itertools
import math

import numpy as np
from scipy import special

from table_maker import EPSILON, HIGHEST, LOWEST, SHAPES, no_mean, of_two_arrays, overflows

EPSILON_32 = 2.0 ** -24


def ulps(count):
    """Units of the last place: Raddle's functions are within one of the exact result (vm/math/README.md), NumPy's within some."""
    def bound(*all_):
        result = np.abs(np.asarray(all_[-1]))
        return count * np.spacing(np.where(np.isfinite(result), result, 0)).astype(float)
    return bound


def by_wider(compute):
    """What a function of float32 is near to: that of float, rounded."""
    return lambda *all_: compute(*(np.asarray(a, dtype=float) if isinstance(a, np.ndarray) else a for a in all_)).astype(np.float32)


def one_by_one(compute):
    return lambda a: np.vectorize(compute, otypes=[float])(a) if a.size else a.astype(float)


ERF, ERFC = one_by_one(math.erf), one_by_one(math.erfc)  # SciPy's are up to eight units of the last place off


def outside(low, high):
    return lambda a, *_: "domain" if np.any((a < low) | (a > high)) else None


def add_functions(table):
    def each(call, compute, parts, bound=None, refused=None, kind="F"):
        table.section(call)
        for part, shape in itertools.product(parts, ((0,), (1,), (7,), (2, 3), (33,))):
            table.case([table.pools.draw(kind, part, shape)], compute, bound, refused)
    anywhere = ["plain", "tiny", "special"]
    each("erf(#0)", ERF, anywhere + ["near_one", "positive"], ulps(3))
    each("erfc(#0)", ERFC, ["plain", "tiny", "special", "near_one"], ulps(5))
    each("exp(#0)", np.exp, ["exponents", "tiny", "special", "few_infinite"], ulps(2))
    each("exp2(#0)", np.exp2, ["exponents", "tiny", "special"], ulps(2))
    each("expm1(#0)", np.expm1, ["exponents", "tiny", "special"], ulps(2))
    for name, compute in (("sin", np.sin), ("cos", np.cos)):
        each(f"{name}(#0)", compute, ["angles", "tiny"], ulps(2))
    each("tan(#0)", np.tan, ["angles", "tiny"], ulps(2))
    for name, compute in (("sinh", np.sinh), ("cosh", np.cosh), ("tanh", np.tanh)):
        each(f"{name}(#0)", compute, ["exponents", "tiny", "special"], ulps(3))
    for name, compute in (("cbrt", np.cbrt), ("atan", np.arctan), ("asinh", np.arcsinh)):
        each(f"{name}(#0)", compute, ["tiny", "wide", "special"], ulps(2))
    for name, compute in (("log", np.log), ("log2", np.log2), ("log10", np.log10)):
        each(f"{name}(#0)", compute, ["logs", "near_one", "positive", "plain"], ulps(2),
             lambda a: "domain" if np.any(a <= 0) else None)
    each("log1p(#0)", np.log1p, ["tiny", "positive", "logs"], ulps(2), lambda a: "domain" if np.any(a <= -1) else None)
    each("lgamma(#0)", special.gammaln, ["logs"], lambda a, r: 16 * EPSILON * np.maximum(1.0, np.abs(r)), lambda a: "domain" if np.any(~np.isfinite(special.gammaln(a))) else None)
    each("sqrt(#0)", np.sqrt, ["logs", "tiny"], None, outside(0, np.inf))
    for call, compute in (("bool2int(#0)", lambda a: a.astype(np.int64)), ("!(#0)", np.logical_not)):
        each(call, compute, ["mixed"], kind="B")


def add_pairs(table):
    both = of_two_arrays(table, (((9,), (9,)), ((3, 1), (5,)), ((2, 3), (2, 3)), ((1,), (6,)), ((0,), (1,)), ((2,), (3,))))

    both("(#0 ** #1)", np.power, [(("F", "positive"), ("F", "plain")), (("F", "plain"), ("F", "ties")), (("F", "wide"), ("F", "unit")),
                                  (("F", "special"), ("F", "special")), (("F", "near_one"), ("F", "wide"))], ulps(2))
    both("(#0 ** #1)", lambda a, b: np.power(a.astype(float), b.astype(float)), [(("I", "small"), ("I", "labels")), (("I", "one"), ("I", "small"))], ulps(2))
    both("hypot(#0, #1)", np.hypot, [(("F", "logs"), ("F", "tiny")), (("F", "special"), ("F", "special"))], ulps(2))
    both("atan2(#0, #1)", np.arctan2, [(("F", "signs"), ("F", "signs")), (("F", "special"), ("F", "special")), (("F", "tiny"), ("F", "wide"))], ulps(2))
    both("bitand(#0, #1)", np.bitwise_and, [(("I", "ends"), ("I", "middle"))])
    both("bitor(#0, #1)", np.bitwise_or, [(("I", "ends"), ("I", "middle"))])
    both("bitxor(#0, #1)", np.bitwise_xor, [(("I", "ends"), ("I", "middle"))])
    table.section("log(#0, #1)")
    for part, base in itertools.product(("positive", "logs"), (2.0, 10.0, 0.5)):
        table.case([table.pools.draw("F", part, (7,)), base], lambda a, b: np.log(a) / math.log(b), ulps(3))


# ---- 32 bits

def wide(a):
    return a.astype(np.int64 if a.dtype.kind == "i" else float)


def add_elements_of_32_bits(table):
    def each(call, compute, kinds, refused=None, bound=None):
        table.section(call)
        for (kind, part), shape in itertools.product(kinds, ((0,), (1,), (7,), (2, 3), (33,))):
            table.case([table.pools.draw(kind, part, shape)], compute, bound, refused)
    floats, unit = [("G", "plain"), ("G", "special")], [("G", "unit")]
    for name, compute in (("exp", np.exp), ("expm1", np.expm1), ("sin", np.sin), ("cos", np.cos), ("tan", np.tan), ("atan", np.arctan), ("sinh", np.sinh),
                          ("cosh", np.cosh), ("tanh", np.tanh), ("cbrt", np.cbrt), ("exp2", np.exp2), ("erf", ERF), ("erfc", ERFC),
                          ("asin", np.arcsin), ("acos", np.arccos), ("asinh", np.arcsinh), ("atanh", np.arctanh)):
        each(f"{name}(#0)", by_wider(compute), bound=ulps(1), kinds=unit if name in ("asin", "acos", "atanh", "sin", "cos", "tan") else floats)
    for name, compute in (("sqrt", np.sqrt), ("log", np.log), ("log2", np.log2), ("log10", np.log10), ("log1p", np.log1p)):
        each(f"{name}(#0)", by_wider(compute), [("G", "positive")], bound=ulps(1))
    for name, compute in (("abs", np.abs), ("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc), ("sign", np.sign), ("square", np.square), ("-", np.negative)):
        each(f"{name}(#0)", compute, floats)
    for name, compute in (("is_nan", np.isnan), ("is_inf", np.isinf), ("is_finite", np.isfinite)):
        each(f"{name}(#0)", compute, floats)
    small = [("J", "small"), ("J", "ends"), ("J", "middle")]
    each("abs(#0)", np.abs, small, lambda a: "overflow" if np.any(a == -2 ** 31) else None)
    each("sign(#0)", lambda a: np.sign(wide(a)), small)
    each("square(#0)", lambda a: np.square(wide(a)), small)
    each("float32(#0)", lambda a: a.astype(np.float32), [("F", "plain"), ("F", "special"), ("I", "ends"), ("J", "ends")],
         lambda a: "overflow" if np.any(np.isfinite(a) & (np.abs(a.astype(float)) > 3.5e38)) else None)
    both = of_two_arrays(table, (((4,), (4,)), ((3, 1), (5,)), ((2, 3), (2, 3)), ((0,), (1,)), ((2,), (3,))))
    ints = [(("J", "small"), ("J", "small")), (("J", "middle"), ("J", "middle")), (("J", "ends"), ("J", "small"))]
    same = [(("G", "plain"), ("G", "special")), (("G", "plain"), ("G", "unit"))]
    mixed = [(("G", "plain"), ("F", "plain")), (("G", "unit"), ("J", "middle")), (("J", "ends"), ("I", "small")), (("J", "ends"), ("F", "plain"))]
    for sign, compute, exact in (("+", np.add, lambda x, y: x + y), ("-", np.subtract, lambda x, y: x - y), ("*", np.multiply, lambda x, y: x * y)):
        both(f"(#0 {sign} #1)", compute, same)
        both(f"(#0 {sign} #1)", compute, ints, None, overflows(exact, -2 ** 31, 2 ** 31 - 1))
        both(f"(#0 {sign} #1)", lambda a, b, c=compute: c(wide(a), wide(b)), mixed)
    both("(#0 / #1)", np.divide, same)
    both("(#0 / #1)", lambda a, b: wide(a) / wide(b), ints[:2] + mixed)
    for sign, compute in (("<", np.less), ("==", np.equal), (">=", np.greater_equal), ("!=", np.not_equal)):
        both(f"(#0 {sign} #1)", lambda a, b, c=compute: c(wide(a), wide(b)), same + ints + mixed)
    for name, compute in (("max", np.maximum), ("min", np.minimum)):
        both(f"{name}(#0, #1)", compute, same + ints)


def add_arrays_of_32_bits(table):
    kinds = [("G", "plain"), ("G", "ties"), ("J", "small"), ("J", "ends")]
    shapes = [(0,), (1,), (9,), (17,), (2, 3), (5, 7), (0, 3), (2, 3, 4), (3, 2, 2, 2)]

    def each(call, compute, chosen=kinds, extras=((),), bound=None, refused=None, ranks=(1, 2, 3, 4)):
        table.section(call)
        for shape, (kind, part), extra in itertools.product((s for s in shapes if len(s) in ranks), chosen, extras):
            table.case([table.pools.draw(kind, part, shape), *extra], compute, bound, refused)
    floats, ints = kinds[:2], kinds[2:]
    total = lambda a, axis, r: 4 * EPSILON_32 * np.sum(np.abs(wide(a)), axis=axis)
    part_of = lambda a, axis: max(1, a.size if axis is None else a.shape[axis])
    whole = lambda bound: lambda a, r: bound(a, None, r)
    limits = {"sum": total, "mean": lambda a, axis, r: total(a, axis, r) / part_of(a, axis),
              "var": lambda a, axis, r: 8 * EPSILON_32 * np.mean(np.square(wide(a)), axis=axis), "std": lambda a, axis, r: 8 * EPSILON_32 * np.abs(r) + 1e-9,
              "prod": lambda a, axis, r: 2 * a.size * EPSILON_32 * np.abs(r)}
    narrow = lambda f: lambda a, *axis: f(wide(a), *axis).astype(np.float32)
    for name, compute in (("sum", np.sum), ("mean", np.mean), ("var", np.var), ("std", np.std), ("prod", np.prod)):
        refused = (lambda a: no_mean(a, None)) if name in ("mean", "var", "std") else None
        each(f"{name}(#0)", narrow(compute), floats, bound=whole(limits[name]), refused=refused)
        along = (lambda a, axis: no_mean(a, axis)) if refused else None
        each(f"{name}(#0, axis=#1)", narrow(compute), floats, ((0,), (-1,)), limits[name], along, (2, 3, 4))
    each("sum(#0)", lambda a: np.sum(wide(a)), ints)
    each("sum(#0, axis=#1)", lambda a, axis: np.sum(wide(a), axis), ints, ((0,), (-1,)), ranks=(2, 3, 4))
    each("mean(#0)", lambda a: np.mean(wide(a)), ints, bound=lambda a, r: 2 * EPSILON * np.abs(r), refused=lambda a: no_mean(a, None))
    for name, compute in (("max", np.max), ("min", np.min)):
        each(f"{name}(#0)", compute)
        each(f"{name}(#0, axis=#1)", lambda a, axis, c=compute: c(a, axis=axis), kinds, ((0,), (-1,)), ranks=(2, 3, 4))
    for name, compute in (("argmax", np.argmax), ("argmin", np.argmin)):
        each(f"{name}(#0)", compute)
        each(f"{name}(#0, axis=#1)", compute, kinds, ((0,), (-1,)), ranks=(2, 3, 4))
    # what takes ints, not numbers of each type, gives ints
    as_int = lambda f: lambda a, *more: f(a, *more).astype(np.int64 if a.dtype == np.int32 else a.dtype)
    each("sort(#0)", as_int(np.sort), ranks=(1,))
    each("sort(#0, axis=#1)", as_int(np.sort), kinds, ((0,), (-1,)), ranks=(2, 3, 4))
    each("argsort(#0)", lambda a: np.argsort(a, kind="stable"), ranks=(1,))
    each("unique(#0)", as_int(np.unique), ranks=(1,))
    each("cumsum(#0)", lambda a: np.cumsum(wide(a)), ints, ranks=(1,))
    each("cumsum(#0)", narrow(np.cumsum), floats, ranks=(1,), bound=lambda a, r: 4 * a.size * EPSILON_32 * np.sum(np.abs(a)))
    each("diff(#0)", lambda a: np.diff(wide(a)), ints, ranks=(1,))
    each("diff(#0)", np.diff, floats, ranks=(1,))
    each("median(#0)", narrow(np.median), floats, ranks=(1, 2), refused=lambda a: no_mean(a, None))
    each("norm(#0)", narrow(lambda a: np.sqrt(np.sum(a * a))), floats, bound=lambda a, r: 8 * EPSILON_32 * np.abs(r))
    each("flip(#0)", np.flip)
    each("flip(#0, #1)", np.flip, kinds, ((0,), (-1,)), ranks=(2, 3))
    each("roll(#0, #1)", np.roll, kinds, ((2,),))
    each("transpose(#0)", np.transpose, ranks=(2, 3, 4))
    each("flatten(#0)", np.ravel)
    each("diag(#0)", np.diag, ranks=(1,))
    each("tril(#0)", np.tril, ranks=(2,))
    each("pad(#0, #1)", np.pad, kinds, ((1,),), ranks=(1, 2))
    each("repeat(#0, #1)", np.repeat, kinds, ((3,),), ranks=(1,))
    each("tile(#0, #1)", np.tile, kinds, ((2,),), ranks=(1,))
    each("nonzero(#0)", lambda a: np.nonzero(a)[0], ranks=(1,))
    table.section("concat(#0, #1)")
    for (one, other), (kind, part) in itertools.product((((3,), (4,)), ((2, 3), (1, 3)), ((2, 3), (1, 2))), kinds):
        table.case([table.pools.draw(kind, part, one), table.pools.draw(kind, part, other)], lambda a, b: np.concatenate((a, b)))
    table.section("where(#0, #1, #2)")
    for shape, (kind, part) in itertools.product(((5,), (2, 3)), kinds):
        table.case([table.pools.draw("B", "mixed", shape), table.pools.draw(kind, part, shape), table.pools.draw(kind, part, shape)], np.where)
    table.section("take(#0, #1)")
    for kind, part in kinds:
        table.case([table.pools.draw(kind, part, (7,)), table.pools.draw("I", "labels", (4,))], np.take)
    products = ((((2, 3), (3, 4)), "matmul"), (((5, 7), (7,)), "matmul"), (((7,), (7, 2)), "matmul"), (((7,), (7,)), "dot"), (((12, 9), (9, 11)), "matmul"))
    for (one, other), name in products:
        table.section(f"{name}(#0, #1)")
        table.case([table.pools.draw("G", "plain", one), table.pools.draw("G", "plain", other)],
                   lambda a, b: np.matmul(wide(a), wide(b)).astype(np.float32), lambda a, b, r: 8 * EPSILON_32 * np.sum(np.abs(a)) * np.max(np.abs(b)))
        table.case([table.pools.draw("J", "small", one), table.pools.draw("J", "small", other)], lambda a, b: np.matmul(wide(a), wide(b)))


# ---- what the other sections leave out

def add_remaining(table):
    draw = table.pools.draw
    table.section("polyval(#0, #1)")
    for factors, places in itertools.product((0, 1, 4), (0, 1, 5)):
        table.case([draw("F", "plain", (factors,)), draw("F", "plain", (places,))], np.polyval, lambda p, x, r: 8 * len(p) * EPSILON * np.polyval(np.abs(p), np.abs(x)))
    table.section("polyfit(#0, #1, #2)")
    for degree in (0, 1, 3):
        table.case([draw("F", "unit", (12,)), draw("F", "plain", (12,)), degree], np.polyfit, lambda x, y, d, r: 1e-11 * np.max(np.abs(r)))
    table.section("corrcoef(#0)")
    for shape in ((2, 5), (3, 9), (5, 20)):
        table.case([draw("F", "plain", shape)], np.corrcoef, lambda a, r: 1e-14)
    table.section("digitize(#0, sort(#1))")
    for count, edges in itertools.product((0, 1, 9), (1, 2, 5)):
        table.case([draw("F", "ties", (count,)), draw("F", "ties", (edges,))], lambda x, e: np.digitize(x, np.sort(e)))
    table.section("digitize(#0, flip(sort(#1)))")
    for count, edges in itertools.product((1, 9), (2, 5)):
        table.case([draw("F", "plain", (count,)), draw("F", "plain", (edges,))], lambda x, e: np.digitize(x, np.sort(e)[::-1]))
    table.section("meshgrid(#0, #1)", 2)
    for n, m in ((1, 1), (2, 3), (0, 2)):
        table.case([draw("I", "ends", (n,)), draw("I", "ends", (m,))], lambda x, y: tuple(np.meshgrid(x, y)))
    for name in ("sum", "mean", "std", "max", "min", "median"):
        table.section(f"nan{name}(#0)")
        for shape in ((1,), (9,), (33,), (3, 5)):
            table.case([draw("F", "few_nan", shape)], getattr(np, f"nan{name}"), lambda a, r: 8 * a.size * EPSILON * np.nansum(np.abs(a)))
    for mode, (kind, part), shape in itertools.product(("edge", "wrap", "reflect", "symmetric"), (("F", "special"), ("I", "ends")), ((1,), (4,), (3, 2), (2, 3, 2))):
        for width in (0, 1, 5) if len(shape) < 3 else (0, 1, 3):
            table.section(f'pad(#0, #1, "{mode}")')
            table.case([draw(kind, part, shape), width], lambda a, w, m=mode: np.pad(a, w, m))
    for call, compute in (("concat", np.concatenate), ("stack", np.stack)):
        for count, shape in itertools.product((3, 4), ((0,), (3,), (2, 3))):
            names = ", ".join(f"#{i}" for i in range(count))
            table.section(f"{call}({names})")
            table.case([draw("I", "ends", shape) for _ in range(count)], lambda *a, f=compute: f(a))
            for axis in range(len(shape) + (call == "stack")) if len(shape) > 1 or call == "stack" else ():
                table.section(f"{call}({names}, axis={axis})")
                table.case([draw("F", "special", shape) for _ in range(count)], lambda *a, f=compute, x=axis: f(a, axis=x))
    table.section("histogram(#0, sort(#1))", 2)
    for count, edges in ((0, 2), (9, 3), (33, 6)):
        table.case([draw("F", "plain", (count,)), draw("F", "plain", (edges,))], lambda a, e: np.histogram(a, np.sort(e)))
    table.section("bincount(#0, #1)")
    for count, least in itertools.product((0, 5), (0, 3, 10)):
        table.case([draw("I", "labels", (count,)), least], lambda a, k: np.bincount(a, minlength=k))
    table.section("trapezoid(#0, #1)")
    for count in (1, 2, 9):
        table.case([draw("F", "plain", (count,)), draw("F", "plain", (count,))], np.trapezoid, lambda y, x, r: 8 * len(x) * EPSILON * np.sum(np.abs(y)) * np.max(np.abs(x)))
    for call, compute in (("eye", np.eye), ("diag", None)):
        table.section(f"{call}(#0, #1)" if call == "diag" else "eye(#0, #1, #2)")
        for k in (-2, 0, 1, 4):
            if call == "diag":
                table.case([draw("I", "ends", (3,)), k], np.diag)
            else:
                table.case([3, 4, k], lambda n, m, k: np.eye(n, m, k))
    table.section("quantile(#0, #1)")
    table.case([draw("F", "ties", (9,)), ("[0.1,0.5,1.0]", np.array([0.1, 0.5, 1.0]))], np.quantile, lambda a, s, r: 4 * EPSILON * np.max(np.abs(a)))
    for name, compute in (("sum", np.sum), ("argmax", np.argmax), ("argmin", np.argmin)):
        table.section(f"{name}(#0)")
        for shape in SHAPES[1] + SHAPES[2]:
            table.case([draw("B", "mixed", shape)], compute)
        table.section(f"{name}(#0, axis=#1)")
        for shape, axis in itertools.product(SHAPES[2], (0, 1)):
            table.case([draw("B", "mixed", shape), axis], compute)
    for name, compute in (("max", np.max), ("min", np.min)):
        table.section(f"{name}(#0, axis=#1)")
        for shape, axis in itertools.product(SHAPES[1][1:] + SHAPES[2] + SHAPES[3], (0, -1)):
            table.case([draw("F", "few_nan", shape), axis], lambda a, axis, f=compute: f(a, axis=axis))
    for name, compute in (("mean", np.mean), ("std", np.std), ("var", np.var), ("median", np.median)):
        table.section(f"{name}(#0)")
        for shape in SHAPES[1]:
            table.case([draw("I", "small", shape)], compute, lambda a, r: 16 * EPSILON * max(1.0, np.abs(r)), lambda a: no_mean(a, None))
    table.section("gradient(#0, #1)")
    table.case([draw("F", "plain", (1,)), 1.0], np.gradient)
    table.section("update_slice(#0, #1, #2)")
    for count, at in ((2, 0), (2, 3), (0, 4), (3, 3), (1, -1)):
        table.case([draw("I", "middle", (5,)), draw("I", "small", (count,)), at], updated)
    table.section("update_slice(#0, #1, #2, #3)")
    for shape, at in itertools.product(((1, 2), (0, 1), (3, 4), (3, 5)), ((0, 0), (0, 1), (2, 2))):
        table.case([draw("F", "special", (3, 4)), draw("F", "plain", shape), *at], updated)


def updated(a, part, *at):
    b = a.copy()
    if any(x < 0 or x + k > n for x, k, n in zip(at, part.shape, a.shape)):
        raise ValueError("it is not inside")
    b[tuple(slice(x, x + k) for x, k in zip(at, part.shape))] = part
    return b


def add(table):
    for part in (add_functions, add_pairs, add_elements_of_32_bits, add_arrays_of_32_bits, add_remaining):
        part(table)
