#!/usr/bin/env python3
"""The loops of this folder's scripts with NumPy: a pass over whole arrays for each operation. Usage: numpy_loops.py CASE N [STEPS]"""

import sys

import numpy as np


def cnd(d):
    k = 1.0 / (1.0 + 0.2316419 * np.abs(d))
    w = 0.3989422804014327 * np.exp(-0.5 * d * d) * (
        k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))))
    return np.where(d > 0.0, 1.0 - w, w)


def black_scholes(n, _):
    i = np.arange(n)
    s, x, t = 5.0 + 25.0 * (i * 7919 % n) / n, 1.0 + 99.0 * (i * 104729 % n) / n, 0.25 + 9.75 * (i * 15485863 % n) / n
    r, v = 0.02, 0.3
    q = np.sqrt(t)
    d1 = (np.log(s / x) + (r + 0.5 * v * v) * t) / (v * q)
    c1, c2 = cnd(d1), cnd(d1 - v * q)
    e = x * np.exp(-r * t)
    return np.sum(s * c1 - e * c2) + np.sum(e * (1.0 - c2) - s * (1.0 - c1))


def mandelbrot(n, _):
    """Points that have escaped are left out of the next round."""
    i = np.arange(n * n)
    c = (-2.0 + 3.0 * (i % n) / (n - 1)) + 1j * (-1.5 + 3.0 * (i // n) / (n - 1))
    z, total = np.zeros_like(c), 0
    for _ in range(100):
        inside = z.real * z.real + z.imag * z.imag < 4.0
        z, c = z[inside], c[inside]
        total += len(z)
        z = z * z + c
    return total


def chain(n, steps):
    x = np.arange(n) * 0.5
    for _ in range(steps):
        x = x * 0.999 + 1.0
    return np.sum(x)


def memory(n, _):
    a = np.arange(n) * 0.5
    return np.sum(a + a[::-1])


def nest(n, steps):
    x = np.arange(n)[:, None] * 0.5 + np.arange(n)[None, :]
    for _ in range(steps):
        y = x.copy()
        y[1:-1, 1:-1] = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
        x = y
    return np.sum(x[n // 2])


def matrix_times_vector(n, _):
    matrix = (1.0 / (1 + np.arange(n * n))).reshape(n, n)
    return np.sum(matrix @ (np.arange(n) * 0.5))


CASES = {"bs": black_scholes, "mandel": mandelbrot, "chain2": chain, "chain3": chain, "mem": memory, "nest": nest,
         "jac": matrix_times_vector}
words = sys.argv[1:]
print(repr(float(CASES[words[0]](int(words[1]), int(words[2]) if len(words) > 2 else 0))))
