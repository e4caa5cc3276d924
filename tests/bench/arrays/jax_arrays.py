"""The five programs of the paper about fusion with JAX on processors: jax_arrays.py NAME N STEPS. They end with a number.

A step is one jitted function. How many threads it has is for the processors that the process may use (taskset)."""

import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
random = np.random.default_rng(0).random


@jax.jit
def prices(price, strike, years, rate, volatility):
    def cumulative_normal(d):
        k = 1.0 / (1.0 + 0.2316419 * jnp.abs(d))
        q = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
        tail = 0.3989422804014327 * jnp.exp(-0.5 * d * d) * q
        return jnp.where(d > 0.0, 1.0 - tail, tail)

    d1 = (jnp.log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / (volatility * jnp.sqrt(years))
    d2 = d1 - volatility * jnp.sqrt(years)
    c1, c2, e = cumulative_normal(d1), cumulative_normal(d2), strike * jnp.exp(-rate * years)
    return price * c1 - e * c2, e * (1.0 - c2) - price * (1.0 - c1)


def black_scholes(n, steps, real=np.float64):
    price, strike, years = (jnp.array(low + width * random(n), real) for low, width in ((5, 25), (1, 99), (0.25, 9.75)))
    total = 0.0
    for t in range(steps):
        call, put = prices(price, strike, years, 0.02 + 0.0001 * t, 0.3)
        total += float(call[t] + put[n - 1 - t])
    return total


@functools.partial(jax.jit, static_argnums=(0, 2, 3))
def escape(n, left, real=jnp.float64, integer=jnp.int64):
    cr = (left + 3.0 / (n - 1) * jnp.arange(n)[None, :]).astype(real)
    ci = jnp.linspace(-1.5, 1.5, n)[:, None].astype(real)

    def iteration(_, state):
        x, y, k = state
        stays = x * x + y * y < 4.0
        return jnp.where(stays, x * x - y * y + cr, x), jnp.where(stays, 2.0 * x * y + ci, y), k + stays

    zeros = jnp.zeros((n, n), real)
    return jax.lax.fori_loop(0, 100, iteration, (zeros, zeros, jnp.zeros((n, n), integer)))[2]


def mandelbrot(n, steps, *types):
    return float(sum(escape(n, -2.0 + 1e-6 * t, *types)[n // 2, t] for t in range(steps)))


def mandelbrot_float32(n, steps):
    return mandelbrot(n, steps, jnp.float32, jnp.int32)


@jax.jit
def descend(x, y, w, rate):
    error = 1.0 / (1.0 + jnp.exp(-(x @ w))) - y
    return w - rate * (error @ x)


def logistic_regression(n, steps, real=np.float64):
    x, y, w = jnp.array(random((n, 32)), real), jnp.array(random(n) > 0.5, real), jnp.zeros(32, real)
    for _ in range(steps):
        w = descend(x, y, w, real(0.1 / n))
    return w.sum()


@jax.jit
def sweep(r, b, d, x):
    return (b - r @ x) / d


def jacobi(n, steps, real=np.float64):
    a, b = (random((n, n)) + n * np.eye(n)).astype(real), random(n).astype(real)
    d = np.diag(a)
    r, right, diagonal, x = jnp.array(a - np.diag(d)), jnp.array(b), jnp.array(d), jnp.zeros(n, real)
    for _ in range(steps):
        x = sweep(r, right, diagonal, x)
    return np.linalg.norm(a @ np.asarray(x) - b)


@functools.partial(jax.jit, donate_argnums=0)
def means(u):
    n = u.shape[0]
    total = u
    for axis in range(3):
        m = total.shape[axis]
        total = sum(jax.lax.slice_in_dim(total, i, i + m - 2, axis=axis) for i in range(3))
    return u.at[1:n - 1, 1:n - 1, 1:n - 1].set(total / 27.0)


def stencil27(n, steps, real=np.float64):
    u = jnp.array(random((n, n, n)), real)
    for _ in range(steps):
        u = means(u)
    return u.mean()


def of_32_bits(program):
    return lambda n, steps: program(n, steps, np.float32)


black_scholes_float32, jacobi_float32, logistic_regression_float32, stencil27_float32 = map(
    of_32_bits, (black_scholes, jacobi, logistic_regression, stencil27))

print(globals()[sys.argv[1]](*map(int, sys.argv[2:])))
