"""noise.df's model for all points at once, in NumPy, with the table. noise.py POINTS"""

import sys

import numpy as np

points, random = int(sys.argv[1]), np.random.default_rng(0)
with open("table.csv", "w", encoding="utf-8") as table:
    for part in np.array_split(np.linspace(0.2, 0.8, points), max(points // 10_000, 1)):  # what a cache holds
        healthy, ill, most = np.full(part.size, 0.999), np.full(part.size, 0.001), np.full(part.size, 0.001)
        for _ in range(400):
            shaken = 0.02 * np.sqrt(ill) * random.standard_normal(part.size)
            following = np.maximum(ill + (part * healthy - 0.1) * ill + shaken, 0)
            most = np.maximum(most, ill)
            healthy = healthy - part * healthy * ill
            ill = following
        np.savetxt(table, np.column_stack((part, most, ill)), "%.17g", ",")
