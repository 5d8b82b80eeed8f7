"""Golden file of Visual-ARFT's rewards: the published rules as regular expressions of Python, over turns made of pieces
that policies write. Usage: visual_arft.py OUTPUT_FOLDER"""
import json
import os
import random
import re
import string
import sys

OUT = sys.argv[1]
rng = random.Random(5)
TAGS = {"search": ("think", "search", "answer"), "code": ("think", "answer", "code", "problem")}


def words(text):
    text = "".join(c for c in text.lower() if c not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def f1(answer, gold):
    ours, theirs = words(answer), words(gold)
    common = len(set(ours) & set(theirs))
    if not common:
        return 0.0
    precision, recall = common / len(ours), common / len(theirs)
    return 2 * precision * recall / (precision + recall)


def cosine(a, b):  # of word counts: the similarity that needs no model
    a, b = words(a), words(b)
    norm = (sum(a.count(w) ** 2 for w in set(a)) * sum(b.count(w) ** 2 for w in set(b))) ** 0.5
    return sum(a.count(w) * b.count(w) for w in set(a)) / norm if norm else 0.0


def said(text, tag, official):
    found = re.search(rf"<{tag}>(.*?)</{tag}>", text, 0 if official else re.DOTALL)
    return (found.group(1) if found else text).strip()


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def names(text, official):
    found = re.search(r"<problem>\s*\{(.*?)\}\s*</problem>", text, re.DOTALL)
    listed = re.findall(r"'([^']+)'", found.group(1)) if found else []
    return sorted("rotation90" if name == "rotation" and not official else name for name in listed)


def formed(text, kind):
    rules = {"answer": r"<think>.*?</think>\s*<answer>.*?</answer>", "search": r"<think>.*?</think>\s*<search>.*?</search>",
             "code": r"<think>.*?</think>\s*<code>\s*```python(.*?)```.*?</code>",
             "problem": r"<think>.*?</think>\s*<problem>\s*\{\s*'[^']+'\s*(?:,\s*'[^']+'\s*)*\}\s*</problem>"}
    return re.fullmatch(rules[kind], text, re.DOTALL) is not None


def once(text, agent):
    return all(text.count(f"<{tag}>") < 2 for tag in TAGS[agent])


def search_reward(text, expert, official):
    form = once(text, "search") and (formed(text, "answer") or formed(text, "search"))
    if "<answer>" in expert:
        ours, gold = number(said(text, "answer", False)), number(said(expert, "answer", False))
        if official and ours is not None and ours == gold:
            return 1.0, form
        return (0.0 if "<search>" in text else f1(said(text, "answer", official), said(expert, "answer", official))), form
    if "<search>" in expert and "<answer>" not in text:
        alike = cosine(said(text, "search", official), said(expert, "search", official))
        return (0.0 if official and alike < 0.5 else alike), form
    return 0.0, form


def code_reward(text, expert, official):
    kind = next((k for k in ("answer", "code", "problem") if f"<{k}>" in expert), None)
    if kind is None:
        return 0.0, False
    form = once(text, "code") and formed(text, kind)
    if any(f"<{k}>" in text for k in ("answer", "code", "problem") if k != kind):
        return 0.0, form
    if kind == "answer":
        return f1(said(text, "answer", official), said(expert, "answer", official)), form
    if kind == "code":
        if official:
            return 0.9, form
        found = re.search(r"<code>(.*?)</code>", text, re.DOTALL)
        return float(bool(found and re.match(r"\s*```python.*?```", found.group(1), re.DOTALL))), form
    ours, gold = names(text, official), names(expert, official)
    for rotation in ("rotation90", "rotation180"):
        if len(gold) == 2 and rotation in gold:
            if ours == [rotation]:
                return 0.5, form
            break
    return float(ours == gold), form


PIECES = ["<think> look </think>", "<think>", "</think>", "\n", " ", "  then ", "<answer>", "</answer>", "<search>", "</search>",
          "<code>", "</code>", "<problem>", "</problem>", "<answer> the red tower </answer>", "<answer>12</answer>",
          "<answer>red\ntower</answer>", "<search> who founded Tarn </search>", "<search>Tarn founder year</search>",
          "<code>\n```python\nx = 1\n```\n</code>", "<code>x = 1</code>", "```python\ny\n```", "```", "{'dark'}", "'blur'", "''",
          "<problem> {'rotation90', 'dark'} </problem>", "<problem>{'rotation'}</problem>", "<problem>{'dark','blur',}</problem>",
          "<problem>{ 'none' }\n</problem>", "<problem>{'rotation180'}</problem>", "<problem>{}</problem>",
          "<problem>{'it''s'}</problem>", "red", "12"]
EXPERTS = {
    "search": ["<think>a</think><search>who founded the town of Tarn</search>", "<think>a</think> <answer>red tower</answer>",
               "<think>a</think><answer>12</answer>", "<think>nothing</think>"],
    "code": ["<think>a</think><answer>a red tower</answer>", "<think>a</think><code>\n```python\nx\n```\n</code>",
             "<think>a</think><problem>{'rotation90', 'dark'}</problem>", "<think>a</think><problem>{'dark', 'rotation180'}</problem>",
             "<think>a</think><problem>{'rotation90'}</problem>", "<think>a</think><problem> {'none'} </problem>", "no tag"],
}
BODIES = [p for p in PIECES if p.startswith("<") and not p.startswith(("<think", "</")) and len(p) > 10]
cases = []
for agent in ("search", "code"):
    for _ in range(400):
        expert = rng.choice(EXPERTS[agent])
        tag = expert[expert.find("</think>") + 8:].strip()[:4]
        if rng.random() < 0.7:
            body = rng.choice([b for b in BODIES if b.startswith(tag)] or BODIES)
            text = "<think> look </think>" + rng.choice(["", " ", "\n", " so "]) + body + rng.choice(["", "", "", "\n", " end"])
        else:
            text = "".join(rng.choice(PIECES) for _ in range(rng.randint(0, 7)))
        row = {"agent": agent, "turn": text, "expert": expert}
        for preset in ("paper", "official_code"):
            value, form = (search_reward if agent == "search" else code_reward)(text, expert, preset == "official_code")
            row[preset] = [value, int(form)]
        cases.append(row)
with open(os.path.join(OUT, "rewards.jsonl"), "w") as file:
    for row in cases:
        file.write(json.dumps(row) + "\n")
