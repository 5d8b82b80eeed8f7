"""Golden values of core/intervals.h: statsmodels' Wilson intervals, scipy's Student quantiles, and the clustered and
paired intervals written a second time from their formulas. Usage: intervals.py FOLDER"""
import json
import pathlib
import sys

import numpy as np
import scipy
import statsmodels
from scipy.stats import norm, t
from statsmodels.stats.proportion import proportion_confint

Z = norm.ppf(0.975)


def wilson(part, whole):
    return [float(bound) for bound in proportion_confint(part, whole, alpha=0.05, method="wilson")]


# Korn and Graubard's effective number of trials, between Kish's number of tasks and the number of draws.
def effective(part, whole, draws):
    part, whole, draws = (np.asarray(values, float) for values in (part, whole, draws))
    p = part.sum() / whole.sum()
    least = whole.sum() ** 2 / (whole**2).sum()
    most = max(least, draws.sum())
    if p in (0, 1):
        return p, least
    student = (Z / t.ppf(0.975, len(part) - 1)) ** 2 if most > least and len(part) > 1 else 1.0 if most == least else 0.0
    variance = ((part - p * whole) ** 2).sum() / whole.sum() ** 2
    wanted = most * (Z / t.ppf(0.975, len(part) - 1)) ** 2 if variance == 0 and len(part) > 1 else (
        least if variance == 0 else p * (1 - p) / variance * student)
    return p, min(max(wanted, least), most)


def clustered(part, whole, draws):
    p, trials = effective(part, whole, draws)
    return wilson(p * trials, trials)


# Newcombe 1998, method 10.
def paired(a, b, draws):
    a, b = np.asarray(a, float), np.asarray(b, float)
    ones = np.ones(len(a))
    (low_a, high_a), (low_b, high_b) = clustered(a, ones, draws), clustered(b, ones, draws)
    both, scale = np.mean(a * b) - a.mean() * b.mean(), a.std() * b.std()
    if both > 0:
        both = max(both - 1 / (2 * len(a)), 0)
    phi = 0 if scale == 0 else both / scale
    difference = a.mean() - b.mean()
    below, above = (a.mean() - low_a, high_b - b.mean()), (high_a - a.mean(), b.mean() - low_b)
    half = lambda one, other: np.sqrt(one**2 + other**2 - 2 * phi * one * other)
    return [float(difference - half(*below)), float(difference + half(*above))]


def four_fold(e, f, g, h):
    """Newcombe's table: both right, the first alone, the second alone, neither."""
    return [1.0] * e + [1.0] * f + [0.0] * g + [0.0] * h, [1.0] * e + [0.0] * f + [1.0] * g + [0.0] * h


def main(folder):
    rng = np.random.default_rng(29)
    golden = {"versions": {"statsmodels": statsmodels.__version__, "scipy": scipy.__version__}}
    golden["wilson"] = [{"part": part, "whole": whole, "interval": wilson(part, whole)}
                        for part, whole in [(2, 2), (0, 10), (1, 1), (0, 1), (5, 10), (81, 263), (499, 500), (403.5, 500), (1, 29)]]
    golden["student"] = [{"degrees": n, "quantile": float(t.ppf(0.975, n))} for n in (1, 2, 7, 30, 31, 60, 499)]
    golden["clustered"] = []
    for tasks, samples, spread in [(2, 8, 0.0), (5, 2, 0.3), (20, 8, 0.3), (20, 8, 0.0), (200, 4, 0.45), (3, 1, 0.5), (6, 4, 0.5)]:
        rates = np.clip(0.5 + spread * rng.choice([-1, 1], tasks), 0, 1)
        part = rng.binomial(samples, rates) / samples
        if spread == 0.0 and tasks == 2:
            part = np.array([0.5, 0.5])
        draws = [float(samples)] * tasks
        golden["clustered"].append({"part": part.tolist(), "whole": [1.0] * tasks, "draws": draws,
                                    "interval": clustered(part, [1.0] * tasks, draws)})
    for tasks in (4, 30):
        whole = rng.integers(1, 9, tasks).astype(float)
        part = np.array([rng.binomial(int(steps), 0.7) for steps in whole], float)
        golden["clustered"].append({"part": part.tolist(), "whole": whole.tolist(), "draws": whole.tolist(),
                                    "interval": clustered(part, whole, whole)})
    golden["paired"] = []
    for name, table in [("Newcombe's example", (36, 12, 2, 0)), ("all alike", (5, 0, 0, 0)), ("one differs", (4, 1, 0, 0)),
                        ("only the first", (0, 5, 0, 0)), ("large", (210, 60, 30, 200))]:
        a, b = four_fold(*table)
        ones = [1.0] * len(a)
        golden["paired"].append({"name": name, "minuend": a, "subtrahend": b, "draws": ones, "interval": paired(a, b, ones)})
    a, b = rng.binomial(4, 0.6, 25) / 4, rng.binomial(4, 0.5, 25) / 4
    golden["paired"].append({"name": "samples", "minuend": a.tolist(), "subtrahend": b.tolist(), "draws": [4.0] * 25,
                             "interval": paired(a, b, [4.0] * 25)})
    golden["paired"].append({"name": "half of five", "minuend": [0.5] * 5, "subtrahend": [1.0] * 5, "draws": [2.0] * 5,
                             "interval": paired([0.5] * 5, [1.0] * 5, [2.0] * 5)})
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "intervals.json").write_text(json.dumps(golden) + "\n")


main(sys.argv[1])
