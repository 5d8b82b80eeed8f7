"""Feedback arc sets by igraph's Eades-Lin-Smyth; Kendall's tau-b and ranking losses by scipy; logistic fits by
scikit-learn."""

import json
import random
import sys

import igraph
import numpy as np
from scipy.special import log_expit, log_softmax
from scipy.stats import kendalltau
from sklearn.linear_model import LogisticRegression

random.seed(3)


def write(name, content):
    with open(f"{sys.argv[1]}/{name}.json", "w") as file:
        json.dump(content, file)


graphs = []
for _ in range(24):
    items = random.randint(3, 14)
    arcs = [[u, v, round(random.uniform(0.1, 5), 6)] for u in range(items) for v in range(items)
            if u != v and random.random() < 0.35]
    graph = igraph.Graph(n=items, edges=[(u, v) for u, v, _ in arcs], directed=True)
    removed = graph.feedback_arc_set(weights=[weight for _, _, weight in arcs], method="eades")
    graphs.append({"items": items, "arcs": arcs, "removed": sorted(removed)})
write("graphs", {"igraph": igraph.__version__, "graphs": graphs})

sets = []
for _ in range(40):
    count = random.randint(2, 9)
    rank = [random.randint(1, count) for _ in range(count)]
    scores = [random.randint(0, 6) / 2 for _ in range(count)]
    tau = kendalltau(scores, [-one for one in rank]).statistic
    sets.append({"rank": rank, "scores": scores, "tau": tau if tau == tau else None})
write("kendall", {"sets": sets})

losses = []
for _ in range(20):
    count = random.randint(2, 8)
    scores = np.round([random.gauss(0, 3) for _ in range(count)], 4)
    rank = [random.randint(1, count) for _ in range(count)]
    order = sorted(range(count), key=lambda i: (rank[i], random.random()))
    pairs = [(a, b) for a in range(count) for b in range(count) if rank[a] < rank[b]]
    losses.append({
        "scores": scores.tolist(), "rank": rank, "order": order,
        "cross_entropy": -log_softmax(scores)[order[0]],
        "bradley_terry": -np.mean([log_expit(scores[a] - scores[b]) for a, b in pairs]) if pairs else None,
        "plackett_luce": -sum(log_softmax(scores[order[k:]])[0] for k in range(count)),
    })
write("losses", {"sets": losses})

fits = []
for size in (20, 200, 1000):
    labels = np.array([random.random() < 0.3 for _ in range(size)], dtype=int)
    scores = np.round(labels * 1.2 + np.array([random.gauss(0, 1) for _ in range(size)]), 4)
    # sklearn weighs 1/2 slope^2 by 1 / C.
    fit = LogisticRegression(class_weight="balanced", C=1 / 2e-4, tol=1e-12, max_iter=10000).fit(
        scores[:, None], labels)
    fits.append({"scores": scores.tolist(), "labels": labels.tolist(), "slope": fit.coef_[0, 0],
                 "offset": fit.intercept_[0]})
write("logistic", {"fits": fits})
