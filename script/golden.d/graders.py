"""What independent programs say of boxes and texts: torchvision's box overlaps, Python's own string rules.

usage: graders.py OUT_FOLDER
"""
import collections
import json
import pathlib
import random
import re
import string
import sys

import torch
import torchvision
from torchvision.ops import box_iou, complete_box_iou, generalized_box_iou

out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
rng = random.Random(7)
versions = {"torch": torch.__version__, "torchvision": torchvision.__version__, "python": sys.version.split()[0]}


def box():
    x, y = sorted(rng.sample(range(1001), 2)), sorted(rng.sample(range(1001), 2))
    return [x[0], y[0], x[1], y[1]]


def near(b):
    moved = [v + rng.randint(-60, 60) for v in b]
    return [min(moved[0], moved[2]), min(moved[1], moved[3]), max(moved[0], moved[2]) + 1, max(moved[1], moved[3]) + 1]


pairs = [([0, 0, 10, 10], [0, 0, 10, 10]), ([0, 0, 10, 10], [10, 10, 20, 20]), ([0, 0, 10, 10], [5, 0, 15, 10]),
         ([0, 0, 1, 1000], [0, 0, 1000, 1]), ([0, 0, 100, 100], [25, 25, 75, 75])]
pairs += [(a, near(a)) for a in (box() for _ in range(25))] + [(box(), box()) for _ in range(20)]
boxes = []
for a, b in pairs:
    ta, tb = (torch.tensor([v], dtype=torch.float64) for v in (a, b))
    boxes.append({"a": a, "b": b, "iou": box_iou(ta, tb).item(), "giou": generalized_box_iou(ta, tb).item(),
                  "ciou": complete_box_iou(ta, tb).item()})
(out / "boxes.json").write_text(json.dumps({"versions": versions, "pairs": boxes}, indent=0) + "\n")


def normalize(text):  # SQuAD v1.1 and Visual-ARFT
    text = "".join(c for c in text.lower() if c not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def f1(answer, gold, multiset):
    ours, theirs = normalize(answer).split(), normalize(gold).split()
    if multiset:
        common = sum((collections.Counter(ours) & collections.Counter(theirs)).values())
    else:
        common = len(set(ours) & set(theirs))
    if common == 0:
        return 0.0
    precision, recall = common / len(ours), common / len(theirs)
    return 2 * precision * recall / (precision + recall)


words = ["the", "a", "an", "The", "A", "cat", "Cat", "cats", "dog,", "dog", "red-hot", "it's", "don't", "U.S.", "3.5",
         "Éclair", "éclair", "ÜBER", "über", "Ωmega", "naïve", "—", "a—b", "“the", "the”", "°C", "北京", "a\u00a0b",
         "x\u2003y", "_a_", "the_end", "", "(a)", "theatre", "anna", "\t", "\n", "½", "e\u0301a", "…an…"]
texts = ["", "The", "the cat sat", "cat the sat", "A b c", "Hello,  World!"]
texts += [" ".join(rng.choices(words, k=rng.randint(1, 7))) for _ in range(120)]
answers = []
for i, text in enumerate(texts):
    gold = rng.choice(texts)
    answers.append({"answer": text, "gold": gold, "normal": normalize(text), "f1": f1(text, gold, False),
                    "f1_multiset": f1(text, gold, True)})
(out / "texts.json").write_text(json.dumps({"versions": versions, "texts": answers}, indent=0) + "\n")
