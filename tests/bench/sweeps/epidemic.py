"""epidemic.df's model for all points at once, in NumPy, with the table. epidemic.py POINTS"""

import sys

import numpy as np

points, days, recovery = int(sys.argv[1]), 400, 0.1
with open("table.csv", "w", encoding="utf-8") as table:
    for part in np.array_split(np.linspace(0.2, 0.8, points), max(points // 10_000, 1)):  # what a cache holds
        healthy, ill = np.empty((days, part.size)), np.empty((days, part.size))
        healthy[0], ill[0] = 0.999, 0.001
        for t in range(1, days):
            infected = part * healthy[t - 1] * ill[t - 1]
            healthy[t] = healthy[t - 1] - infected
            ill[t] = ill[t - 1] + infected - recovery * ill[t - 1]
        np.savetxt(table, np.column_stack((part, ill.max(axis=0), ill.mean(axis=0), 1 - healthy[-1])), "%.17g", ",")
