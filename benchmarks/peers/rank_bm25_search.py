"""The queries of benchmarks/perf/search_bench.cc by rank-bm25 (PyPI: rank-bm25==0.2.2), same corpus, k1 and b.

Usage: rank_bm25_search.py FOLDER [QUERIES]. FOLDER: the one of search_bench; QUERIES: the most queries. Prints one JSON object.
"""
import json
import math
import pathlib
import sys
import time

import numpy as np
from rank_bm25 import BM25Okapi

TOP = 10


def ndcg(found, topic, topics=1000):
    gain = sum(1 / math.log2(place + 2) for place, number in enumerate(found) if number % topics == topic)
    return gain / sum(1 / math.log2(place + 2) for place in range(TOP))


def search(index, words):
    scores = index.get_scores(words)
    best = np.argpartition(-scores, TOP)[:TOP]
    return best[np.argsort(-scores[best], kind="stable")].tolist()


def main():
    folder = pathlib.Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    with open(folder / "corpus.jsonl") as lines:
        documents = [json.loads(line)["contents"].replace('"', " ").split() for line in lines]
    queries = [json.loads(line) for line in open(folder / "queries.jsonl")][:count]
    index = BM25Okapi(documents, k1=0.9, b=0.4)
    result = {"documents": len(documents)}
    for kind in ("keywords", "question"):
        milliseconds, gains = [], []
        for query in (query for query in queries if query["kind"] == kind):
            start = time.perf_counter()
            found = search(index, query["text"].split())
            milliseconds.append(1000 * (time.perf_counter() - start))
            gains.append(ndcg(found, query["topic"]))
        result[kind] = {"p50_ms": float(np.percentile(milliseconds, 50)), "p95_ms": float(np.percentile(milliseconds, 95)),
                        "ndcg_at_10": sum(gains) / len(gains)}
    print(json.dumps(result, indent=2))


main()
