#!/usr/bin/env python3
"""Writes tables.hpp, tables32.hpp, error_function_tables.hpp and gamma_tables.hpp: the numbers of vm/math, each rounded from 60 digits. Needs
mpmath; only whoever changes a table runs it.
"""
import contextlib
import pathlib
import re
import struct

from mpmath import (atan, cbrt, chebyfit, cos, digamma, erf, erfc, exp, floor, ldexp, log, log1p, loggamma, mp, mpf, nint, pi,
                    sin, sinh, sqrt)

mp.dps = 60


def number(value):
    """The nearest double, as the text that gives just it."""
    text = float(value).hex()
    return text.replace("0x1.0000000000000p", "0x1p").replace("0x0.0p+0", "0.0")


def rows(texts, per_line):
    return ",\n".join("    " + ", ".join(texts[i:i + per_line]) for i in range(0, len(texts), per_line))


def table(name, comment, values):
    print(f"/// {comment}\ninline constexpr double {name}[] = {{\n{rows([number(v) for v in values], 4)}}};\n")


def constant(name, comment, value):
    print(f"inline constexpr double {name} = {number(value)};" + (f"  // {comment}" if comment else ""))


def number32(value):
    """The nearest float, as the text that gives just it."""
    return re.sub("0+p", "p", number(float32(value))).replace("xp", "x0p") + "f"


def float32(value):
    return struct.unpack("<f", struct.pack("<f", float(value)))[0]


def table32(name, comment, values):
    texts = [number32(v) for v in values]
    print(f"/// {comment}\ninline constexpr float {name}[] = {{\n{rows(texts, 6)}}};\n")


def constants32(name, comment, value, parts=2):
    """A number in parts, each a float."""
    for suffix in ("_high", "_low", "_third")[:parts]:
        part = float32(value)
        print(f"inline constexpr float {name}{suffix}32 = {number32(part)};" + (f"  // {comment}" if comment else ""))
        value, comment = value - mpf(part), ""


def cut_constants32(name, comment, value, bits):
    high, low = cut(value, bits)
    print(f"inline constexpr float {name}_cut_high32 = {number32(high)};  // {comment}")
    print(f"inline constexpr float {name}_cut_low32 = {number32(low)};")


def fit(function, low, high, count):
    """Coefficients from the constant one up: nearly the best polynomial."""
    return list(reversed(chebyfit(function, [low, high], count)))


def pair(value):
    """A double and what it lacks."""
    high = float(value)
    return [mpf(high), value - mpf(high)]


def cut(value, bits):
    """Rounded to a multiple of 2^-bits, and what is missing."""
    high = ldexp(nint(ldexp(value, bits)), -bits)
    return high, value - high


def as_double(bits):
    return mpf(struct.unpack("<d", struct.pack("<Q", bits))[0])


def log_table():
    """For each of 128 intervals of z from 0.7057 up: 1/c, so that z/c - 1 is a double, and log c in two parts."""
    offset, values, worst = 0x3FE6955500000000, [], 0
    for i in range(128):
        low, high = as_double(offset + (i << 45)), as_double(offset + ((i + 1) << 45))
        grid = 128 if low < 1 else 256  # of the spacing of doubles below 1, and from 1 on
        middle = nint(2 * grid / (low + high))
        inverse = min((mpf(j) / grid for j in range(int(middle) - 2, int(middle) + 3)),
                      key=lambda v: max(abs(low * v - 1), abs(high * v - 1)))
        if low < 1 < high:
            inverse = mpf(1)
        worst = max(worst, abs(low * inverse - 1), abs(high * inverse - 1))
        first, second = cut(-log(inverse), 42)
        values += [inverse, first, second]
    return values, worst


def erfc_table():
    """exp(x^2) erfc(x) around the middles of eighths of octaves from 0.5 up."""
    values, start = [], 0x3FE0000000000000
    for i in range(46):
        low, high = as_double(start + (i << 49)), as_double(start + ((i + 1) << 49))
        middle, half = (low + high) / 2, (high - low) / 2
        coefficients = fit(lambda h: exp((middle + h) ** 2) * erfc(middle + h), -half, half, 13)
        values += pair(coefficients[0]) + coefficients[1:]
    return values


def lgamma_factor(x):
    """log(gamma(x)) / ((x - 1) (x - 2))"""
    for zero, other in ((1, -1), (2, 1)):
        if abs(x - zero) < mpf("1e-30"):
            return digamma(zero) / other
    return loggamma(x) / ((x - 1) * (x - 2))


def lgamma_table():
    """lgamma_factor(x) around the middles of eighths of octaves from 0.5 to 8."""
    values, start = [], 0x3FE0000000000000
    for i in range(32):
        low, high = as_double(start + (i << 49)), as_double(start + ((i + 1) << 49))
        middle, half = (low + high) / 2, (high - low) / 2
        coefficients = fit(lambda h: lgamma_factor(middle + h), -half, half, 13)
        values += pair(coefficients[0]) + coefficients[1:]
    return values


def gamma_tables():
    half = (log(2 * pi) - 1) / 2
    for name, value in zip(("stirling_high", "stirling_low"), pair(half)):
        constant(name, "(log(2 pi) - 1) / 2" if name == "stirling_high" else "", value)
    print()
    table("lgamma_table", "lgamma(x) / ((x - 1) (x - 2)) around the middle of each eighth of an octave from 0.5 to 8: the constant in two parts, 12 more.",
          lgamma_table())

    def stirling(v):
        x = 1 / sqrt(v)
        return (loggamma(x) - (x - mpf("0.5")) * (log(x) - 1) - half) * x
    table("stirling_polynomial", "(lgamma(x) - (x - 1/2) (log(x) - 1) - (log(2 pi) - 1) / 2) x, of 1/x^2, from 8 on.",
          fit(stirling, mpf("1e-12"), mpf(1) / 64, 8))
    table("sine_polynomial", "(1 - sin(pi r) / (pi r)) / r^2, of r^2, to 1/2.",
          fit(lambda v: (1 - sin(pi * sqrt(v)) / (pi * sqrt(v))) / v, mpf("1e-20"), mpf("0.25"), 10))


@contextlib.contextmanager
def header(name):
    """What is printed meanwhile goes there."""
    with open(pathlib.Path(__file__).parent / name, "w", encoding="utf-8") as file, contextlib.redirect_stdout(file):
        print("""// Tables of vm/math, made by make_tables.py: not to be changed by hand.
#pragma once
#include <stdint.h>

namespace raddle::vm::math {
// clang-format off
""")
        yield
        print("// clang-format on\n}  // namespace raddle::vm::math")


def main():
    with header("tables.hpp"):
        general_tables()
    with header("tables32.hpp"):
        tables32()
    with header("gamma_tables.hpp"):
        gamma_tables()
    with header("error_function_tables.hpp"):
        error_function_tables()


def general_tables():
    constant("log2_e_128", "128 / log 2", 128 / log(2))
    step = log(2) / 128
    first, second = cut(step, 42)
    constant("ln2_128_high", "log 2 / 128 in two parts, the first of few bits", first)
    constant("ln2_128_low", "", second)
    first, second = cut(log(2), 42)
    constant("ln2_cut_high", "log 2 in two parts, the first a multiple of 2^-42", first)
    constant("ln2_cut_low", "", second)
    for name, value in (("ln2", log(2)), ("log2_e", 1 / log(2)), ("log10_e", 1 / log(10)), ("half_pi", pi / 2), ("pi", pi)):
        first, second = pair(value)
        constant(name + "_high", "", first)
        constant(name + "_low", "", second)
    first = mpf(float(pi / 2))
    second = mpf(float(pi / 2 - first))
    constant("half_pi_third", "pi/2 - half_pi_high - half_pi_low", pi / 2 - first - second)
    constant("two_over_pi", "", 2 / pi)
    constant("cbrt_2", "", cbrt(2))
    constant("cbrt_4", "", cbrt(4))
    print()
    with_digits(2000, two_over_pi_words)

    values = []
    for i in range(128):
        power = mpf(2) ** (mpf(i) / 128)
        top = mpf(float(power))
        values += [top, power / top - 1]
    table("exp2_table", "2^(i/128) rounded, and by which part of it that is too small.", values)
    values, worst = log_table()
    table("log_table", "Of each interval of z: 1/c of so few bits that z/c - 1 is a double, log c in two parts.", values)
    r = worst * mpf("1.01")
    table("log_polynomial", "(log(1 + r) - r + r^2/2) / r^3", fit(lambda v: (log1p(v) - v + v * v / 2) / v ** 3, -r, r, 8))
    r = step / 2 * mpf("1.01")
    table("exp_polynomial", "(exp(r) - 1 - r) / r^2",
          fit(lambda v: (exp(v) - 1 - v) / v ** 2, -r, r * mpf("1.001"), 5))  # 0 is no node
    z = (pi / 4) ** 2 * mpf("1.01")
    table("sin_polynomial", "(sin(r) - r) / r^3, of r^2", fit(lambda v: (sin(sqrt(v)) - sqrt(v)) / sqrt(v) ** 3, 0, z, 7))
    table("cos_polynomial", "(cos(r) - 1 + r^2/2) / r^4, of r^2", fit(lambda v: (cos(sqrt(v)) - 1 + v / 2) / v ** 2, 0, z, 7))
    values = []
    for i in range(65):
        values += pair(atan(mpf(i) / 64))
    table("atan_table", "The angle with the tangent i/64, in two parts.", values)
    z = (mpf(1) / 127) ** 2
    table("atan_polynomial", "(atan(s) - s) / s^3, of s^2", fit(lambda v: (atan(sqrt(v)) - sqrt(v)) / sqrt(v) ** 3, 0, z, 4))
    z = mpf("0.3") ** 2 * mpf("1.01")
    table("sinh_polynomial", "(sinh(x) - x) / x^3, of x^2", fit(lambda v: (sinh(sqrt(v)) - sqrt(v)) / sqrt(v) ** 3, 0, z, 6))
    table("cbrt_polynomial", "The cube root from 1 to 2, to 17 bits.", fit(cbrt, 1, 2, 5))


def tables32():
    constants32("log2_e", "", 1 / log(2))
    constants32("ln2", "", log(2))
    constants32("log10_e", "", 1 / log(10))
    constants32("half_pi", "", pi / 2, parts=3)
    constants32("pi", "", pi)
    constants32("two_log2_e", "", 2 / log(2))
    constants32("third_log2_e", "two thirds of it", 2 / log(2) / 3)
    cut_constants32("ln2", "log 2 in two parts, the first a multiple of 2^-16", log(2), 16)
    cut_constants32("log10_2", "log10 2 likewise", log(2) / log(10), 16)
    print()
    r = log(2) / 2 * mpf("1.01")
    table32("exp_polynomial32", "(exp(r) - 1 - r) / r^2", fit(lambda v: (exp(v) - 1 - v) / v ** 2, -r, r * mpf("1.001"), 6))
    z = mpf("0.3") ** 2 * mpf("1.01")
    table32("sinh_polynomial32", "(sinh(x) - x) / x^3, of x^2",
            fit(lambda v: (sinh(sqrt(v)) - sqrt(v)) / sqrt(v) ** 3, 0, z, 3))
    table32("log_polynomial32", "(log(1 + f) - f + f^2/2) / f^3",
            fit(lambda v: (log1p(v) - v + v * v / 2) / v ** 3, -mpf(1) / 3, mpf(1) / 3 * mpf("1.001"), 10))

    def log2_tail(v):
        s = sqrt(v)
        return (log((1 + s) / (1 - s)) / s - 2 - 2 * v / 3) / v ** 2 / log(2)
    table32("pow_polynomial32", "(log2((1 + s) / (1 - s)) / s - (2 + 2/3 s^2) log2(e)) / s^4, of s^2", fit(log2_tail, mpf("1e-12"), mpf("0.0401"), 4))
    z = (pi / 4) ** 2 * mpf("1.01")
    table32("sin_polynomial32", "(sin(r) - r) / r^3, of r^2", fit(lambda v: (sin(sqrt(v)) - sqrt(v)) / sqrt(v) ** 3, 0, z, 4))
    table32("cos_polynomial32", "(cos(r) - 1 + r^2/2) / r^4, of r^2", fit(lambda v: (cos(sqrt(v)) - 1 + v / 2) / v ** 2, 0, z, 3))
    table32("atan_polynomial32", "(atan(t) - t) / t^3, of t^2", fit(lambda v: (atan(sqrt(v)) - sqrt(v)) / sqrt(v) ** 3, mpf("1e-12"), mpf("0.174"), 5))
    table32("cbrt_polynomial32", "The cube root from 1 to 2, to 9 bits.", fit(cbrt, 1, 2, 3))
    table32("erf_polynomial32", "erf(x)/x - 1, of x^2, to 1/2", fit(lambda v: erf(sqrt(v)) / sqrt(v) - 1, 0, mpf("0.2525"), 6))
    table32("erfc_table32", "exp(x^2) erfc(x) around the middle of each eighth of an octave from 0.5 up: the constant in two parts, 5 more.",
            erfc_table32())


def erfc_table32():
    values, start = [], 0x3F000000
    for i in range(36):
        low, high = as_float32(start + (i << 20)), as_float32(start + ((i + 1) << 20))
        middle, half = (low + high) / 2, (high - low) / 2
        coefficients = fit(lambda h: exp((middle + h) ** 2) * erfc(middle + h), -half, half, 6)
        first = float32(coefficients[0])
        values += [first, coefficients[0] - mpf(first)] + coefficients[1:]
    return values


def as_float32(bits):
    return mpf(struct.unpack("<f", struct.pack("<I", bits))[0])


def error_function_tables():
    z = mpf("0.25") * mpf("1.01")
    table("erf_polynomial", "erf(x)/x - 1, of x^2", fit(lambda v: erf(sqrt(v)) / sqrt(v) - 1, 0, z, 11))
    table("erfc_table", "exp(x^2) erfc(x) around the middle of each eighth of an octave from 0.5 up: the constant in two parts, 12 more.",
          erfc_table())


def with_digits(digits, action):
    kept, mp.dps = mp.dps, digits
    action()
    mp.dps = kept


def two_over_pi_words():
    bits = int(floor(ldexp(2 / +pi, 21 * 64)))
    words = [0] + [(bits >> (64 * (20 - i))) & (2 ** 64 - 1) for i in range(21)]
    print("/// 2/pi in words of 64 bits, the first of which are 0.\ninline constexpr uint64_t two_over_pi_bits[] = {")
    print(rows([f"0x{word:016x}" for word in words], 4) + "};\n")
    halves = [0] + [half for word in words[1:6] for half in (word >> 32, word & 0xFFFFFFFF)]
    print("/// Likewise in words of 32 bits, as many as floats need.\ninline constexpr uint32_t two_over_pi_bits32[] = {")
    print(rows([f"0x{word:08x}" for word in halves], 8) + "};\n")


main()
