"""What make_array_table.py makes its table with: pools of numbers, cases with the results that NumPy has for them, bounds.

Arrays are stretches of five pools: floats (F), ints (I), booleans (B), float32 (G) and int32 (J). A result is to be equal in all
bits, or within a bound that is written behind it.
"""

import itertools
import math
import pathlib
import random

import numpy as np

TABLE = pathlib.Path(__file__).with_name("array_table.txt")
EPSILON = 2.0 ** -53
HIGHEST, LOWEST = 2 ** 63 - 1, -(2 ** 63)

# Where the language refuses on purpose what NumPy computes.
REASONS = {
    "empty": "no elements have no mean, deviation, median: NumPy gives NaN",
    "overflow": "an int that is too large, where NumPy's wrap around; a float that is too large for a float32",
    "domain": "logarithm or root of a negative number, an angle for what is no sine: NumPy gives NaN",
    "division": "an int divided by 0: NumPy gives 0",
}


def pools(chance):
    plain = [chance.gauss(0, 1) for _ in range(700)]
    ties = [float(chance.randint(-3, 3)) for _ in range(120)]
    signs = [chance.choice((0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.5, -2.5)) for _ in range(120)]
    special = [chance.choice((float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1.5, -2.0, 1e300)) for _ in range(160)]
    wide = [chance.gauss(0, 1) * 10.0 ** chance.randint(-30, 30) for _ in range(200)]
    few_nan = [float("nan") if chance.random() < 0.04 else chance.gauss(0, 10) for _ in range(200)]
    few_infinite = [float("inf") if chance.random() < 0.06 else chance.gauss(0, 10) for _ in range(120)]
    positive = [abs(chance.gauss(0, 3)) + 0.01 for _ in range(200)]
    unit = [chance.uniform(-1, 1) for _ in range(200)]
    floats = {"plain": plain, "ties": ties, "signs": signs, "special": special, "wide": wide, "few_nan": few_nan,
              "few_infinite": few_infinite, "positive": positive, "unit": unit}
    ints = {"small": [chance.randint(-5, 5) for _ in range(200)],
            "middle": [chance.randint(-10 ** 9, 10 ** 9) for _ in range(400)],
            "ends": [chance.choice((HIGHEST, LOWEST, HIGHEST - 1, LOWEST + 1, 0, 1, -1)) for _ in range(100)],
            "labels": [chance.randint(0, 6) for _ in range(200)],
            "one": [chance.choice((-1, 1, 1, 2)) for _ in range(200)]}
    booleans = {"mixed": [chance.random() < 0.5 for _ in range(200)], "false": [False] * 90, "true": [True] * 90}
    return {"F": floats, "I": ints, "B": booleans}


def later_pools(chance):
    """Drawn from another stream, behind the others, so that the cases of those stay what they are."""
    ends = (2 ** 31 - 1, -(2 ** 31), 2 ** 31 - 2, 1 - 2 ** 31, 0, 1, -1)
    special = (float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1.5, -2.0, 3e38, 1e-45)
    return {"F": {"exponents": [chance.uniform(-760, 720) for _ in range(100)],
                  "angles": [chance.gauss(0, 1) * 10.0 ** chance.randint(0, 15) for _ in range(100)],
                  "logs": [chance.uniform(1, 2) * 2.0 ** chance.randint(-1080, 1022) for _ in range(100)],
                  "near_one": [1.0 + chance.gauss(0, 1) * 10.0 ** chance.randint(-16, -1) for _ in range(100)],
                  "tiny": [chance.gauss(0, 1) * 10.0 ** chance.randint(-310, -1) for _ in range(100)]},
            "G": {"plain": [chance.gauss(0, 1) for _ in range(300)], "positive": [abs(chance.gauss(0, 3)) + 0.01 for _ in range(120)],
                  "unit": [chance.uniform(-1, 1) for _ in range(120)], "ties": [float(chance.randint(-3, 3)) for _ in range(120)],
                  "special": [chance.choice(special) for _ in range(120)]},
            "J": {"small": [chance.randint(-5, 5) for _ in range(200)], "middle": [chance.randint(-40000, 40000) for _ in range(200)],
                  "ends": [chance.choice(ends) for _ in range(100)], "one": [chance.choice((-1, 1, 1, 2)) for _ in range(100)]}}


class Pools:
    TYPES = {"F": np.float64, "I": np.int64, "B": np.bool_, "G": np.float32, "J": np.int32}

    def __init__(self, chance):
        self.chance, self.parts = chance, pools(chance)
        for kind, parts in later_pools(random.Random(32)).items():
            self.parts.setdefault(kind, {}).update(parts)
        self.starts, self.all = {}, {}
        for kind, parts in self.parts.items():
            self.all[kind] = list(itertools.chain(*parts.values()))
            start = 0
            for name, values in parts.items():
                self.starts[kind, name] = start
                start += len(values)

    def has(self, kind, part, shape):
        return np.prod(shape, dtype=int) <= len(self.parts[kind][part])

    def draw(self, kind, part, shape):
        """(text, array)"""
        count = int(np.prod(shape, dtype=int))
        values = self.parts[kind][part]
        at = self.chance.randint(0, len(values) - count)
        array = np.array(values[at:at + count], dtype=self.TYPES[kind]).reshape(shape)
        return f"{kind}{self.starts[kind, part] + at}:{','.join(map(str, shape))}", array


SHAPES = {
    1: [(0,), (1,), (2,), (3,), (7,), (8,), (9,), (17,)],
    2: [(0, 3), (3, 0), (1, 1), (1, 5), (4, 1), (2, 3), (3, 2), (5, 7), (9, 4), (8, 8)],
    3: [(0, 2, 3), (2, 0, 3), (2, 3, 0), (1, 1, 1), (2, 3, 4), (3, 1, 2), (1, 4, 3), (3, 5, 2)],
}
LONG = {1: [(300,), (520,)], 2: [(300, 2), (2, 290), (40, 17)], 3: [(3, 70, 2), (65, 2, 3), (2, 3, 60)]}


def text_of(value):
    if isinstance(value, (bool, np.bool_)):
        return "1" if value else "0"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    value = float(str(value))  # the shortest text that is this number, of 32 bits or 64
    return repr(int(value)) + "." if value == int_or_none(value) and abs(value) < 1e15 and str(value)[0:2] != "-0" else repr(value)


def int_or_none(value):
    return int(value) if np.isfinite(value) else None


def result_text(value):
    array = np.asarray(value)
    kind = {"float64": "f", "int64": "i", "bool": "b", "float32": "g", "int32": "j"}[array.dtype.name]
    return f"{kind}{','.join(map(str, array.shape))}:{' '.join(text_of(v) for v in array.ravel())}"


def limits_text(limits, results):
    """One for all elements, or of a single array one for each."""
    shape = np.shape(results[0])
    try:
        limits = np.broadcast_to(limits, shape).ravel() if len(results) == 1 else limits.ravel()
    except ValueError:
        limits = limits.ravel()
    is_each = len(results) == 1 and shape and limits.size == np.prod(shape) and limits.size and limits.min() != limits.max()
    return ",".join(f"{1.05 * x:.2g}" for x in (limits if is_each else [np.max(limits, initial=0.0)]))


class Table:
    def __init__(self):
        self.chance = random.Random(31)
        self.pools = Pools(self.chance)
        self.lines, self.count, self.seen = [], 0, set()

    def section(self, call, outputs=1):
        self.lines.append(f"[{call}]" if outputs == 1 else f"[{call}] {outputs}")
        self.seen = set()

    def case(self, arguments, compute, bound=None, refused=None):
        """@param bound  of the arrays and the results, the largest absolute error; none: equal in all bits"""
        texts = " ".join(a[0] if isinstance(a, tuple) else str(a) for a in arguments)
        values = [a[1] if isinstance(a, tuple) else a for a in arguments]
        if texts in self.seen:
            return
        self.seen.add(texts)
        reason = refused(*values) if refused else None
        if reason:
            found = f"refused {reason}"
        else:
            try:
                results = compute(*values)
            except (ValueError, IndexError):  # AxisError is both
                results = None
            if results is None:
                found = "error"
            else:
                results = results if isinstance(results, tuple) else (results,)
                found = " ".join(map(result_text, results))
                if bound:
                    found += " ~" + limits_text(np.asarray(bound(*values, *results), dtype=float), results)
        self.lines.append(f"{texts} -> {found}")
        self.count += 1

    def write(self):
        head = ["# Made by make_array_table.py with NumPy " + np.__version__ + ": see there, and array_table.py."]
        head += [f"# refused {name}: {text}" for name, text in REASONS.items()]
        for kind, values in self.pools.all.items():
            head.append(f"{kind} {' '.join(text_of(Pools.TYPES[kind](v)) for v in values)}")
        TABLE.write_text("\n".join(head + self.lines) + "\n", encoding="ascii")
        print(f"{self.count} cases, {TABLE.stat().st_size} bytes")


# ---- what a case is given

def reductions(table, call, kind, parts, compute, ranks, bound=None, refused=None, axis=True, long=True):
    """A function of a whole array and along its axes; one of them there is not."""
    for with_axis in (False, True) if axis else (False,):
        table.section(call + ("(#0, axis=#1)" if with_axis else "(#0)"))
        for rank in ranks:
            if with_axis and rank == 1:
                continue
            for shape in SHAPES[rank] + (LONG[rank] if long else []):
                for part in (part for part in parts if table.pools.has(kind, part, shape)):
                    drawn = table.pools.draw(kind, part, shape)
                    if with_axis:
                        chosen = table.chance.sample(range(-rank, rank), 2)
                        if table.chance.random() < 0.03:
                            chosen.append(rank)
                        for along in chosen:
                            table.case([drawn, along], compute, bound, refused)
                    else:
                        table.case([drawn], lambda a: compute(a, None), bound and (lambda a, r: bound(a, None, r)),
                                   refused and (lambda a: refused(a, None)))


def of_two_arrays(table, shapes):
    """Returns what makes cases of a function of two arrays, for all pairs of shapes and of kinds."""
    def both(call, compute, kinds, bound=None, refused=None):
        table.section(call)
        for (one, other), ((kind_a, a), (kind_b, b)) in itertools.product(shapes, kinds):
            table.case([table.pools.draw(kind_a, a, one), table.pools.draw(kind_b, b, other)], compute, bound, refused)
    return both


def overflows(operation, lowest, highest):
    """@param operation  of two of Python's ints"""
    def refused(a, b):
        try:
            a, b = np.broadcast_arrays(a.astype(object), b.astype(object))
        except ValueError:
            return None
        return "overflow" if any(not lowest <= operation(int(x), int(y)) <= highest for x, y in zip(a.ravel(), b.ravel())) else None
    return refused


def is_empty(a, axis):
    if axis is not None and not -a.ndim <= axis < a.ndim:
        return None
    return a.size == 0 if axis is None else a.shape[axis] == 0 and a.size == 0 and np.prod(
        [e for i, e in enumerate(a.shape) if i != axis % a.ndim], dtype=int) > 0


def no_mean(a, axis):
    return "empty" if is_empty(a, axis) else None


def finite(a):
    return np.where(np.isfinite(a), a, 0.0)


def sum_bound(a, axis, _):
    """Of adding n numbers in any order, rounded each time."""
    return a.size * 2 * EPSILON * np.sum(np.abs(finite(a)), axis=axis)


def mean_bound(a, axis, r):
    return sum_bound(a, axis, r) / max(1, a.size if axis is None else a.shape[axis])


def var_bound(a, axis, _):
    return 8 * (4 + a.size) * EPSILON * np.mean(np.square(finite(a)), axis=axis)


def relative(ulps):
    return lambda *all_: ulps * 2 * EPSILON * np.abs(finite(np.asarray(all_[-1], dtype=float))) + 0.0


def exact_ints(compute, fold):
    """@param fold  the same of Python's ints"""
    def refused(a, axis):
        if axis is not None and not -a.ndim <= axis < a.ndim:
            return None
        lines = [a.ravel()] if axis is None else np.moveaxis(a, axis, -1).reshape(-1, a.shape[axis]) if a.size else []
        return "overflow" if any(not fold([int(v) for v in line]) for line in lines) else None
    return compute, refused


def fits_sum(values):
    return LOWEST <= sum(values) <= HIGHEST


def fits_product(values):
    product = 1
    for value in values:
        product *= value
        if not LOWEST <= product <= HIGHEST:
            return False
    return True
