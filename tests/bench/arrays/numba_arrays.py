"""The five programs of the paper about fusion with Numba, as loops: numba_arrays.py NAME N STEPS. They end with a number.

Compiled code is kept in __pycache__ of the folder NUMBA_CACHE_DIR."""

import math
import sys

import numba
import numpy as np

compiled = numba.njit(parallel=True, fastmath=True, cache=True)
random = np.random.default_rng(0).random


def prices_of(real):
    """Numbers of a text are doubles, and what they are added to becomes one: so these are made of the type at hand."""
    half, one, scale, density = real(0.5), real(1.0), real(0.2316419), real(0.3989422804014327)
    k1, k2, k3, k4, k5 = map(real, (0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429))

    @numba.njit(fastmath=True)
    def cumulative_normal(d):
        k = one / (one + scale * abs(d))
        q = k * (k1 + k * (k2 + k * (k3 + k * (k4 + k * k5))))
        tail = density * math.exp(-half * d * d) * q
        return one - tail if d > real(0.0) else tail

    @numba.njit(parallel=True, fastmath=True)
    def prices(price, strike, years, rate, volatility, call, put):
        for i in numba.prange(price.size):
            s, x, t = price[i], strike[i], years[i]
            d1 = (math.log(s / x) + (rate + half * volatility * volatility) * t) / (volatility * math.sqrt(t))
            d2 = d1 - volatility * math.sqrt(t)
            c1, c2, e = cumulative_normal(d1), cumulative_normal(d2), x * math.exp(-rate * t)
            call[i] = s * c1 - e * c2
            put[i] = e * (one - c2) - s * (one - c1)

    return prices


def black_scholes(n, steps, real=np.float64):
    prices = prices_of(real)
    price, strike, years = ((low + width * random(n)).astype(real) for low, width in ((5, 25), (1, 99), (0.25, 9.75)))
    call, put, total = np.empty(n, real), np.empty(n, real), 0.0
    for t in range(steps):
        prices(price, strike, years, real(0.02 + 0.0001 * t), real(0.3), call, put)
        total += call[t] + put[n - 1 - t]
    return total


@compiled
def escape(cr, ci, zero, two, four, count):
    n = cr.size
    for i in numba.prange(n):
        for j in range(n):
            x, y, k = zero, zero, 0
            while k < 100 and x * x + y * y < four:
                x, y = x * x - y * y + cr[j], two * x * y + ci[i]
                k += 1
            count[i, j] = k


def mandelbrot(n, steps, real=np.float64, integer=np.int64):
    count, ci, total = np.empty((n, n), dtype=integer), np.linspace(-1.5, 1.5, n).astype(real), 0.0
    for t in range(steps):
        left = -2.0 + 1e-6 * t
        escape(np.linspace(left, left + 3.0, n).astype(real), ci, real(0.0), real(2.0), real(4.0), count)
        total += count[n // 2, t]
    return total


def mandelbrot_float32(n, steps):
    return mandelbrot(n, steps, np.float32, np.int32)


@compiled
def gradient(x, y, w, parts, zero, one):
    n, m = x.shape
    gradients = np.zeros((parts, m), w.dtype)
    for part in numba.prange(parts):
        for i in range(part * n // parts, (part + 1) * n // parts):
            z = zero
            for j in range(m):
                z += x[i, j] * w[j]
            error = one / (one + math.exp(-z)) - y[i]
            for j in range(m):
                gradients[part, j] += error * x[i, j]
    return gradients.sum(axis=0)


def logistic_regression(n, steps, real=np.float64):
    x, y, w = random((n, 32)).astype(real), (random(n) > 0.5).astype(real), np.zeros(32, real)
    for _ in range(steps):
        w = w - real(0.1 / n) * gradient(x, y, w, numba.get_num_threads(), real(0.0), real(1.0))
    return w.sum()


@compiled
def sweep(r, b, d, x, zero):
    n = b.size
    after = np.empty(n, x.dtype)
    for i in numba.prange(n):
        dot = zero
        for j in range(n):
            dot += r[i, j] * x[j]
        after[i] = (b[i] - dot) / d[i]
    return after


def jacobi(n, steps, real=np.float64):
    a, b = (random((n, n)) + n * np.eye(n)).astype(real), random(n).astype(real)
    d = np.diag(a).copy()
    r, x = a - np.diag(d), np.zeros(n, real)
    for _ in range(steps):
        x = sweep(r, b, d, x, real(0.0))
    return np.linalg.norm(a @ x - b)


@compiled
def means(u, v, part):
    n = u.shape[0]
    for i in numba.prange(1, n - 1):
        row = np.empty(n, u.dtype)
        for j in range(1, n - 1):
            for k in range(n):
                row[k] = (u[i - 1, j - 1, k] + u[i - 1, j, k] + u[i - 1, j + 1, k] + u[i, j - 1, k] + u[i, j, k] +
                          u[i, j + 1, k] + u[i + 1, j - 1, k] + u[i + 1, j, k] + u[i + 1, j + 1, k])
            for k in range(1, n - 1):
                v[i, j, k] = (row[k - 1] + row[k] + row[k + 1]) * part


def stencil27(n, steps, real=np.float64):
    u = random((n, n, n)).astype(real)
    v = u.copy()
    for _ in range(steps):
        means(u, v, real(1.0 / 27.0))
        u, v = v, u
    return u.mean()


def of_32_bits(program):
    return lambda n, steps: program(n, steps, np.float32)


black_scholes_float32, jacobi_float32, logistic_regression_float32, stencil27_float32 = map(
    of_32_bits, (black_scholes, jacobi, logistic_regression, stencil27))

print(globals()[sys.argv[1]](*map(int, sys.argv[2:])))
