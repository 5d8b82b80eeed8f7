"""Golden BM25 scores and nDCG by the plain formula, with Lucene's idf, in doubles. Usage: bm25.py FOLDER"""
import json
import math
import pathlib
import random
import sys

TOPICS, DOCUMENTS, TOP = 6, 90, 10


def words_of(rng, count):
    """Words that a stemmer leaves as they are."""
    found = set()
    while len(found) < count:
        found.add("".join(rng.choice(letters) for letters in ("bdfgkmnprt", "aou", "bdfgkmnprt", "aou", "bdgkmnp")))
    return sorted(found)


def corpus(rng):
    common = words_of(rng, 60)
    topics = [words_of(rng, 12) for _ in range(TOPICS)]
    weights = [1 / (rank + 1) for rank in range(len(common))]

    def text(topic, count, share):
        return " ".join(rng.choice(topics[topic]) if rng.random() < share else rng.choices(common, weights)[0]
                        for _ in range(count))

    documents = [{"id": f"d{i}", "title": text(i % TOPICS, 2, 0.5), "text": text(i % TOPICS, rng.randint(4, 60), 0.1)}
                 for i in range(DOCUMENTS)]
    queries = [(text(i % TOPICS, 2, 1.0) + " " + text(i % TOPICS, 3, 0.0), i % TOPICS) for i in range(30)]
    queries.append((common[0], 0))                      # in most of the documents
    queries.append((f"{common[0]} {common[0]} {topics[1][0]}", 1))  # counts twice
    queries.append(("nowhere at all", 2))
    return documents, queries


def rank(documents, query, k1, b):
    bags = [(d["title"] + " " + d["text"]).split() for d in documents]
    mean = sum(map(len, bags)) / len(bags)
    asked = query.split()
    scored = []
    for number, bag in enumerate(bags):
        score = 0.0
        for word in dict.fromkeys(asked):
            having = sum(word in other for other in bags)
            tf = bag.count(word)
            if tf:
                idf = math.log1p((len(bags) - having + 0.5) / (having + 0.5))
                score += asked.count(word) * idf * tf / (tf + k1 * (1 - b + b * len(bag) / mean))
        if score > 0:
            scored.append((-score, number))
    return [[number, -score] for score, number in sorted(scored)[:TOP]]


def ndcg(found, topic):
    relevant = DOCUMENTS // TOPICS
    gain = sum(1 / math.log2(place + 2) for place, (number, _) in enumerate(found) if number % TOPICS == topic)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(TOP, relevant)))


def main():
    documents, queries = corpus(random.Random(5))
    rankings = []
    for k1, b in ((0.9, 0.4), (1.2, 0.75), (0.5, 0.0), (2.0, 1.0)):
        cases = [{"query": query, "topic": topic, "found": rank(documents, query, k1, b)} for query, topic in queries]
        judged = [ndcg(case["found"], case["topic"]) for case in cases[:30]]
        rankings.append({"k1": k1, "b": b, "cases": cases, "ndcg_at_10": sum(judged) / len(judged)})
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    golden = {"topics": TOPICS, "judged": 30, "documents": documents, "rankings": rankings}
    (folder / "rankings.json").write_text(json.dumps(golden) + "\n")


main()
