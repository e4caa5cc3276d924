"""Cases of linear algebra and of Fourier transforms.

Of factors that are not unique what is unique goes into the table: singular values and eigenvalues, the products that are the
matrix again, the unit matrices of what is orthonormal. The functions whose names end in `_` stand in array_table.py.
"""

import itertools

import numpy as np
from scipy import linalg

from table_maker import EPSILON

SQUARE = ((1, 1), (2, 2), (3, 3), (5, 5), (8, 8), (17, 17))
ANY = SQUARE[:4] + ((3, 2), (2, 5), (9, 4), (4, 1), (1, 6), (20, 11))


def size_bound(factor=32):
    """Of sums of products of all elements of the matrix."""
    return lambda a, r: factor * max(a.shape) * EPSILON * max(np.max(np.abs(r)), np.linalg.norm(a, 2))


def solution_bound(a, *all_):
    return 32 * len(a) * EPSILON * np.linalg.cond(a) * np.max(np.abs(all_[-1]), initial=0.0)


def add_solutions(table):
    draw = table.pools.draw
    for name, compute in (("inv", np.linalg.inv), ("det", np.linalg.det)):
        table.section(f"{name}(#0)")
        for shape, part in itertools.product(SQUARE + ((2, 3),), ("plain", "unit")):
            if table.pools.has("F", part, shape):
                table.case([draw("F", part, shape)], compute, solution_bound)
    for name, compute in (("inv", np.linalg.inv), ("solve", None)):
        table.section("inv(#0)" if compute else "solve(#0, ones(2))")
        table.case([("zeros(2,2)", np.zeros((2, 2)))], compute or (lambda a: np.linalg.solve(a, np.ones(2))))
        table.case([("ones(2,2)", np.ones((2, 2)))], compute or (lambda a: np.linalg.solve(a, np.ones(2))))
    table.section("det(#0)")
    for n in (1, 2, 4):
        table.case([(f"zeros({n},{n})", np.zeros((n, n)))], np.linalg.det)
    table.section("solve(#0, #1)")
    for shape, columns in itertools.product(SQUARE, ((), (1,), (3,))):
        table.case([draw("F", "plain", shape), draw("F", "wide" if columns else "plain", (shape[0], *columns))], np.linalg.solve, solution_bound)
    table.case([draw("F", "plain", (3, 3)), draw("F", "plain", (2,))], np.linalg.solve)
    table.case([draw("F", "plain", (3, 2)), draw("F", "plain", (3,))], np.linalg.solve)
    least_squares = lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0]
    table.section("lstsq(#0, #1)")
    for shape, columns in itertools.product(ANY, ((), (2,))):
        table.case([draw("F", "plain", shape), draw("F", "plain", (shape[0], *columns))], least_squares,
                   lambda a, b, r: 64 * max(a.shape) * EPSILON * np.linalg.cond(a) ** 2 * max(np.max(np.abs(r)), np.max(np.abs(b))))
    table.case([("ones(3,2)", np.ones((3, 2))), draw("F", "plain", (3,))], least_squares, lambda a, b, r: 1e-14)
    table.section("pinv(#0)")
    for shape in ANY:
        table.case([draw("F", "plain", shape)], np.linalg.pinv, solution_bound)
    table.case([("ones(3,2)", np.ones((3, 2)))], np.linalg.pinv, lambda a, r: 1e-15)


def add_factors(table):
    draw = table.pools.draw
    same = lambda a: a

    def each(call, compute, shapes, parts=("plain", "positive"), bound=size_bound()):
        table.section(call)
        for shape, part in itertools.product(shapes, parts):
            if table.pools.has("F", part, shape):
                table.case([draw("F", part, shape)], compute, bound)
    each("cholesky(square_(#0))", lambda a: np.linalg.cholesky(a.T @ a), ((1, 1), (3, 2), (5, 3), (20, 9)), ("plain",),
         lambda a, r: 64 * len(a) * EPSILON * np.linalg.cond(a) ** 2 * np.max(np.abs(r)))
    table.section("cholesky(#0)")
    for text, a in (("(-eye(2))", -np.eye(2)), ("zeros(2,2)", np.zeros((2, 2)))):
        table.case([(text, a)], np.linalg.cholesky)
    each("q_r_(#0)", same, ANY)
    each("q_q_(#0)", lambda a: np.eye(min(a.shape)), ANY, bound=lambda a, r: 16 * max(a.shape) * EPSILON)
    each("r_(#0)", lambda a: np.abs(np.linalg.qr(a)[1]), ANY, bound=lambda a, r: 64 * max(a.shape) * EPSILON * np.linalg.cond(a) * np.max(np.abs(r)))
    each("singular_(#0)", lambda a: np.linalg.svd(a)[1], ANY)
    each("u_s_v_(#0)", same, ANY)
    each("u_u_(#0)", lambda a: np.eye(min(a.shape)), ANY, bound=lambda a, r: 32 * max(a.shape) * EPSILON)
    each("v_v_(#0)", lambda a: np.eye(min(a.shape)), ANY, bound=lambda a, r: 32 * max(a.shape) * EPSILON)
    each("eigen_(#0)", lambda a: np.linalg.eigvalsh(a + a.T), SQUARE)
    each("v_w_v_(#0)", lambda a: a + a.T, SQUARE)
    each("vectors_(#0)", lambda a: np.eye(len(a)), SQUARE, bound=lambda a, r: 32 * len(a) * EPSILON)
    each("p_l_u_(#0)", same, ANY)
    for call, which in (("l_(#0)", 1), ("u_(#0)", 2)):
        each(call, lambda a, i=which: linalg.lu(a)[i], ANY, bound=lambda a, r: 64 * max(a.shape) * EPSILON * np.linalg.cond(a) * np.max(np.abs(r)))
    each("sum(diagonal(#0))", np.trace, ANY)
    each("norm(#0)", np.linalg.norm, ANY)
    for axis in (0, 1):
        each(f"norm(#0, axis={axis})", lambda a, axis=axis: np.linalg.norm(a, axis=axis), ANY[3:7])
    product_bound = lambda a, b, r: 4 * EPSILON * a.shape[-1] * np.max(np.abs(a) @ np.abs(b))
    for one, other in (((25, 28), (28, 25)), ((12, 30), (30, 7)), ((26, 26), (26, 20)), ((1, 300), (300, 1)), ((300, 1), (1, 2))):
        for kind, part in (("F", "plain"), ("I", "middle")):
            table.section("matmul(#0, #1)")
            if table.pools.has(kind, part, one) and table.pools.has(kind, part, other):
                table.case([draw(kind, part, one), draw(kind, part, other)], np.matmul, product_bound if kind == "F" else None,
                           None if kind == "F" else overflows)


def overflows(a, b):
    """A sum on its way does."""
    products = a.astype(object)[:, :, None] * b.astype(object)[None, :, :]
    return "overflow" if any(not -2 ** 63 <= x < 2 ** 63 for x in np.cumsum(products, axis=1).ravel()) else None


def add_transforms(table):
    draw = table.pools.draw
    lengths = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 15, 16, 17, 25, 31, 32, 49, 60, 97, 128, 144, 199, 256, 300)
    sum_of = lambda *arrays: sum(np.sum(np.abs(a)) for a in arrays)
    parts = lambda z: (z.real, z.imag)
    for call, compute in (("fft", np.fft.fft), ("rfft", np.fft.rfft)):
        table.section(f"{call}(#0)", 2)
        for n in (0, *lengths):
            table.case([draw("F", "plain", (n,))], lambda x, f=compute: parts(f(x)) if len(x) else (np.zeros(0), np.zeros(0)), lambda x, *r: 32 * EPSILON * sum_of(x))
    for call, compute in (("fft", np.fft.fft), ("ifft", np.fft.ifft)):
        table.section(f"{call}(#0, #1)", 2)
        for n in lengths[::2]:
            table.case([draw("F", "plain", (n,)), draw("F", "plain", (n,))], lambda x, y, f=compute: parts(f(x + 1j * y)),
                       lambda x, y, *r, s=call: 32 * EPSILON * sum_of(x, y) / (len(x) if s == "ifft" else 1))
        table.case([draw("F", "plain", (3,)), draw("F", "plain", (2,))], lambda x, y, f=compute: parts(f(x + 1j * y)))
    table.section("irfft(#0, #1, #2)")
    for n in lengths:
        half = n // 2 + 1
        table.case([draw("F", "plain", (half,)), draw("F", "plain", (half,)), n], lambda x, y, n: np.fft.irfft(x + 1j * y, n), lambda x, y, n, r: 64 * EPSILON * sum_of(x, y) / n)
    table.section("irfft(#0, #1)")
    for half in (2, 3, 8, 33):
        table.case([draw("F", "plain", (half,)), draw("F", "plain", (half,))], lambda x, y: np.fft.irfft(x + 1j * y), lambda x, y, r: 64 * EPSILON * sum_of(x, y) / half)
    table.section("rfft_frequencies(#0, #1)")
    for n, rate in itertools.product((1, 2, 5, 8), (1.0, 100.0)):
        table.case([n, rate], lambda n, rate: np.fft.rfftfreq(n, 1 / rate), lambda n, rate, r: 4 * EPSILON * rate)


def add(table):
    for part in (add_solutions, add_factors, add_transforms):
        part(table)
