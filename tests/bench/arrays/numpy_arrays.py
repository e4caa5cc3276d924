"""The programs of examples/arrays with NumPy: numpy_arrays.py NAME N [STEPS]. They end with a number, as those do."""

import sys

import numpy as np


def black_scholes(n, steps, real=np.float64):
    random = np.random.default_rng(0)
    price, strike, years = (low + width * random.random(n, real) for low, width in ((5, 25), (1, 99), (0.25, 9.75)))
    volatility, total = 0.3, 0.0

    def cumulative_normal(d):
        k = 1.0 / (1.0 + 0.2316419 * np.abs(d))
        q = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
        tail = 0.3989422804014327 * np.exp(-0.5 * d * d) * q
        return np.where(d > 0.0, 1.0 - tail, tail)

    for t in range(steps):
        rate = 0.02 + 0.0001 * t
        d1 = (np.log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / (volatility * np.sqrt(years))
        d2 = d1 - volatility * np.sqrt(years)
        c1, c2, e = cumulative_normal(d1), cumulative_normal(d2), strike * np.exp(-rate * years)
        call, put = price * c1 - e * c2, e * (1.0 - c2) - price * (1.0 - c1)
        total += call[t] + put[n - 1 - t]
    return total


def heat(n, steps):
    u = np.zeros((n, n))
    u[0] = 100.0
    for _ in range(steps):
        v = u.copy()
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u = v
    return u[1, n // 2]


def jacobi(n, steps, real=np.float64):
    random = np.random.default_rng(0)
    a, b = (random.random((n, n)) + n * np.eye(n)).astype(real), random.random(n, real)
    d = np.diag(a)
    r = a - np.diag(d)
    x = np.zeros(n, real)
    for _ in range(steps):
        x = (b - r @ x) / d
    return np.linalg.norm(a @ x - b)


def life(n, steps):
    a = (np.random.default_rng(0).random((n, n)) < 0.3).astype(np.int64)
    for _ in range(steps):
        rows = np.roll(a, 1, 0) + a + np.roll(a, -1, 0)
        neighbours = np.roll(rows, 1, 1) + rows + np.roll(rows, -1, 1) - a
        a = np.where((neighbours == 3) | ((neighbours == 2) & (a == 1)), 1, 0)
    return a.sum()


def logistic_regression(n, steps, real=np.float64):
    random = np.random.default_rng(0)
    x, y, w = random.random((n, 32), real), (random.random(n) > 0.5).astype(real), np.zeros(32, real)
    for _ in range(steps):
        error = 1.0 / (1.0 + np.exp(-(x @ w))) - y
        w = w - 0.1 / n * (error @ x)
    return w.sum()


def mandelbrot(n, steps, number=np.complex128, count=np.int64):
    total = 0.0
    for t in range(steps):
        left = -2.0 + 1e-6 * t
        c = (np.linspace(left, left + 3.0, n)[None, :] + 1j * np.linspace(-1.5, 1.5, n)[:, None]).astype(number)
        z, k = np.zeros_like(c), np.zeros(c.shape, dtype=count)
        for _ in range(100):
            stays = z.real * z.real + z.imag * z.imag < 4.0
            z = np.where(stays, z * z + c, z)
            k += stays
        total += k[n // 2, t]
    return total


def nbody(n, steps):
    p, v, m = np.random.default_rng(0).standard_normal((n, 3)), np.zeros((n, 3)), np.full(n, 1.0 / n)
    for _ in range(steps):
        d = p[None, :, :] - p[:, None, :]
        r2 = (d * d).sum(axis=2) + 1e-4
        v = v + 0.001 * ((m / (r2 * np.sqrt(r2)))[:, :, None] * d).sum(axis=1)
        p = p + 0.001 * v
    return p.mean()


def runge_kutta(steps):
    def change(y):
        return np.array([-0.3 * y[0] * y[1], 0.3 * y[0] * y[1] - 0.1 * y[1], 0.1 * y[1]])

    y = np.array([0.99, 0.01, 0.0])
    for _ in range(steps):
        k1 = change(y)
        k2 = change(y + 0.0005 * k1)
        k3 = change(y + 0.0005 * k2)
        k4 = change(y + 0.001 * k3)
        y = y + 0.001 / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return y[1]


def monte_carlo(n):
    random, payoffs = np.random.default_rng(0), []
    for part in np.array_split(np.arange(n), max(n // 10_000, 1)):  # what a cache holds
        at, total = np.full(part.size, 100.0), np.zeros(part.size)
        for _ in range(12):
            total = total + at
            at = at * np.exp(0.02 / 12 - 0.045 / 12 + 0.3 * np.sqrt(1 / 12) * random.standard_normal(part.size))
        payoffs.append(np.maximum(total / 12 - 100, 0))
    return np.exp(-0.02) * np.concatenate(payoffs).mean()


def tridiagonal(n):
    c, d, u = np.empty(n), np.empty(n), np.empty(n)
    c[0], d[0] = -0.25, 0.25
    for i in range(1, n):
        w = 4.0 + c[i - 1]
        c[i] = -1.0 / w
        d[i] = (1.0 + i % 7 + d[i - 1]) / w
    u[n - 1] = d[n - 1]
    for i in range(n - 2, -1, -1):
        u[i] = d[i] - c[i] * u[i + 1]
    return u.mean()


def stencil27(n, steps, real=np.float64):
    u = np.random.default_rng(0).random((n, n, n), real)
    for _ in range(steps):
        total = sum(u[i:i + n - 2, j:j + n - 2, k:k + n - 2] for i in range(3) for j in range(3) for k in range(3))
        v = u.copy()
        v[1:-1, 1:-1, 1:-1] = total / 27.0
        u = v
    return u.mean()


def of_32_bits(program):
    return lambda n, steps: program(n, steps, np.float32)


black_scholes_float32, jacobi_float32, logistic_regression_float32, stencil27_float32 = map(
    of_32_bits, (black_scholes, jacobi, logistic_regression, stencil27))


def mandelbrot_float32(n, steps):
    return mandelbrot(n, steps, np.complex64, np.int32)


print(globals()[sys.argv[1]](*map(int, sys.argv[2:])))
