"""Golden values of core/statistics.h from scikit-learn. Usage: statistics.py FOLDER"""
import json
import pathlib
import sys

import numpy as np
import sklearn
from sklearn.calibration import calibration_curve
from sklearn.metrics import (average_precision_score, balanced_accuracy_score, brier_score_loss, recall_score, roc_auc_score,
                             roc_curve)


# Mean distance of the mean score and the share of ones, weighted by the items of each bin.
def calibration_error(bins, scores, labels):
    return sum(len(b) * abs(scores[b].mean() - labels[b].mean()) for b in bins if len(b)) / len(scores)


def case(name, scores, labels):
    scores, labels = np.asarray(scores, float), np.asarray(labels, int)
    both = 0 < labels.sum() < len(labels)
    golden = {"name": name, "scores": scores.tolist(), "labels": labels.tolist(),
              "roc_auc": roc_auc_score(labels, scores) if both else None,
              "average_precision": average_precision_score(labels, scores) if labels.any() else 0.0}
    order = np.argsort(scores, kind="stable")
    width = np.minimum((scores * 10).astype(int), 9)
    golden["brier"] = brier_score_loss(labels, scores, labels=[0, 1])
    golden["ece"] = calibration_error([np.flatnonzero(width == b) for b in range(10)], scores, labels)
    golden["adaptive_ece"] = calibration_error(np.array_split(order, 10), scores, labels)
    golden["recall"] = [recall_score(labels, scores >= 0.5, pos_label=c, zero_division=np.nan) for c in (1, 0)]
    golden["recall"] = [None if np.isnan(value) else value for value in golden["recall"]]
    golden["balanced_accuracy"] = balanced_accuracy_score(labels, scores >= 0.5) if both else None
    if both:
        false_rate, true_rate, _ = roc_curve(labels, scores, drop_intermediate=False)
        golden["roc"] = [[x, y] for x, y in zip(false_rate.tolist(), true_rate.tolist())]
        accuracy, mean_score = calibration_curve(labels, scores, n_bins=10)
        golden["reliability"] = [[x, y] for x, y in zip(mean_score.tolist(), accuracy.tolist())]
    return golden


def cases():
    rng = np.random.default_rng(0)
    scores = rng.random(200)
    yield case("random", scores, rng.random(200) < scores)
    ties = np.round(rng.random(150) * 7) / 7.3
    yield case("ties", ties, rng.random(150) < 0.3 + 0.4 * ties)
    yield case("all scores equal", [0.45] * 12, [1, 0] * 6)
    yield case("perfect", [0.91, 0.83, 0.22, 0.11], [1, 1, 0, 0])
    yield case("reversed", [0.91, 0.83, 0.22, 0.11], [0, 0, 1, 1])
    yield case("one wrong at the top", [0.97, 0.52, 0.51, 0.03], [0, 1, 1, 0])
    yield case("all right", [0.15, 0.25, 0.35], [1, 1, 1])
    yield case("all wrong", [0.15, 0.25, 0.35], [0, 0, 0])
    yield case("one item", [0.55], [1])


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
golden = {"versions": {"scikit-learn": sklearn.__version__, "numpy": np.__version__}, "cases": list(cases())}
(folder / "curves.json").write_text(json.dumps(golden) + "\n")
