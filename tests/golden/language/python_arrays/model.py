"""What the scripts here call: with NumPy."""
import numpy as np

kept = []


def scale(x, by):
    return x * by


def seen(a):
    return f"{a.dtype} {a.shape} writeable {a.flags.writeable} contiguous {a.flags.c_contiguous}"


def parts(x):
    return x[1::2], x > 2, x.astype(int), x.sum()


def table(n, m):
    return np.arange(n * m).reshape(n, m)


def transposed(a):
    return a.T


def smaller(x):
    return x.astype(np.float32), np.arange(len(x), dtype=np.uint8)


def given_back(x):
    return x


def write(x):
    x[0] = 1.0
    return x


def made_writeable(x):
    x.flags.writeable = True
    x[:] = -1.0
    return x.sum()


def keep(x):
    kept.append(x[::2])
    return float(kept[0].sum())


def nothing(n):
    return []


def words(n):
    return ["a"] * n


def complex_numbers(n):
    return np.ones(n) * 1j


def ragged(n):
    return [[1.0], [2.0, 3.0]]


def masked(n):
    return np.ma.masked_less(np.arange(n), 1)


def too_large(n):
    return np.full(n, 2**63, dtype=np.uint64)


def reshaped(x):
    return x.reshape(7, 7)


def narrow(x, i, a, b):
    seen = f"{x.dtype} {i.dtype} {type(a).__name__} {type(b).__name__}"
    return x * 2, i + np.int32(1), a * 2, b + 1, seen


def beyond_32_bits(k):
    return k + (1 << 31)


def too_wide(x):
    return x.astype(np.float64)
