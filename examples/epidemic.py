"""An epidemic on a map, with NumPy: susceptible, infected and recovered people of each place (Kermack, McKendrick 1927);
some of the infected travel to the places beside theirs."""
import numpy as np


def spread(people, contact, recovery, travel, days):
    """people: of each place. contact: people whom an infected one infects in a day, if all are susceptible; recovery: the
    share that recovers in a day; travel: the share that travels. Gives who has been ill, and the most that were at once."""
    susceptible = people.astype(float)
    infected = np.zeros_like(susceptible)
    middle = tuple(extent // 2 for extent in people.shape)
    infected[middle] = 1.0
    susceptible[middle] -= 1.0
    peak = 1.0
    for _ in range(days):
        around = np.pad(infected, 1, mode="edge")
        coming = (around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]) / 4
        present = infected + travel * (coming - infected)
        new = susceptible * (1 - np.exp(-contact * present / people))
        susceptible -= new
        infected = present + new - recovery * present
        peak = max(peak, infected.sum())
    return people - susceptible, peak
