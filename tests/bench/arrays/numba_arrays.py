"""The five programs of the paper about fusion with Numba, as loops: numba_arrays.py NAME N STEPS. They end with a number.

Compiled code is kept in __pycache__ of the folder NUMBA_CACHE_DIR."""

import math
import sys

import numba
import numpy as np

compiled = numba.njit(parallel=True, fastmath=True, cache=True)
random = np.random.default_rng(0).random


@numba.njit(fastmath=True, cache=True)
def cumulative_normal(d):
    k = 1.0 / (1.0 + 0.2316419 * abs(d))
    q = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = 0.3989422804014327 * math.exp(-0.5 * d * d) * q
    return 1.0 - tail if d > 0.0 else tail


@compiled
def prices(price, strike, years, rate, volatility, call, put):
    for i in numba.prange(price.size):
        s, x, t = price[i], strike[i], years[i]
        d1 = (math.log(s / x) + (rate + 0.5 * volatility * volatility) * t) / (volatility * math.sqrt(t))
        d2 = d1 - volatility * math.sqrt(t)
        c1, c2, e = cumulative_normal(d1), cumulative_normal(d2), x * math.exp(-rate * t)
        call[i] = s * c1 - e * c2
        put[i] = e * (1.0 - c2) - s * (1.0 - c1)


def black_scholes(n, steps):
    price, strike, years = (low + width * random(n) for low, width in ((5, 25), (1, 99), (0.25, 9.75)))
    call, put, total = np.empty(n), np.empty(n), 0.0
    for t in range(steps):
        prices(price, strike, years, 0.02 + 0.0001 * t, 0.3, call, put)
        total += call[t] + put[n - 1 - t]
    return total


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
