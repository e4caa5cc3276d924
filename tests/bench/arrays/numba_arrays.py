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


def black_scholes_float32(n, steps):
    return black_scholes(n, steps, np.float32)


@compiled
def escape(n, left, count):
    for i in numba.prange(n):
        ci = -1.5 + 3.0 * i / (n - 1)
        for j in range(n):
            cr, x, y, k = left + 3.0 * j / (n - 1), 0.0, 0.0, 0
            while k < 100 and x * x + y * y < 4.0:
                x, y = x * x - y * y + cr, 2.0 * x * y + ci
                k += 1
            count[i, j] = k


def mandelbrot(n, steps):
    count, total = np.empty((n, n), dtype=np.int64), 0.0
    for t in range(steps):
        escape(n, -2.0 + 1e-6 * t, count)
        total += count[n // 2, t]
    return total


@compiled
def gradient(x, y, w, parts):
    n, m = x.shape
    gradients = np.zeros((parts, m))
    for part in numba.prange(parts):
        for i in range(part * n // parts, (part + 1) * n // parts):
            z = 0.0
            for j in range(m):
                z += x[i, j] * w[j]
            error = 1.0 / (1.0 + math.exp(-z)) - y[i]
            for j in range(m):
                gradients[part, j] += error * x[i, j]
    return gradients.sum(axis=0)


def logistic_regression(n, steps):
    x, y, w = random((n, 32)), (random(n) > 0.5).astype(float), np.zeros(32)
    for _ in range(steps):
        w = w - 0.1 / n * gradient(x, y, w, numba.get_num_threads())
    return w.sum()


@compiled
def sweep(r, b, d, x):
    n = b.size
    after = np.empty(n)
    for i in numba.prange(n):
        dot = 0.0
        for j in range(n):
            dot += r[i, j] * x[j]
        after[i] = (b[i] - dot) / d[i]
    return after


def jacobi(n, steps):
    a, b = random((n, n)) + n * np.eye(n), random(n)
    d = np.diag(a).copy()
    r, x = a - np.diag(d), np.zeros(n)
    for _ in range(steps):
        x = sweep(r, b, d, x)
    return np.linalg.norm(a @ x - b)


@compiled
def means(u, v):
    n = u.shape[0]
    for i in numba.prange(1, n - 1):
        row = np.empty(n)
        for j in range(1, n - 1):
            for k in range(n):
                row[k] = (u[i - 1, j - 1, k] + u[i - 1, j, k] + u[i - 1, j + 1, k] + u[i, j - 1, k] + u[i, j, k] +
                          u[i, j + 1, k] + u[i + 1, j - 1, k] + u[i + 1, j, k] + u[i + 1, j + 1, k])
            for k in range(1, n - 1):
                v[i, j, k] = (row[k - 1] + row[k] + row[k + 1]) * (1.0 / 27.0)


def stencil27(n, steps):
    u = random((n, n, n))
    v = u.copy()
    for _ in range(steps):
        means(u, v)
        u, v = v, u
    return u.mean()


print(globals()[sys.argv[1]](*map(int, sys.argv[2:])))
