"""The suite charts written for Gymnasium: the same questions, the same picture drawn with cv2, the same grading, stepped
by SyncVectorEnv and AsyncVectorEnv. Each step answers a task and starts the next (SAME_STEP). The prompt is an array of
bytes, which vector envs copy faster than gymnasium's Text; the boxes of the bars, which agon has in info, are left out.

usage: gym_charts.py [--seconds S] [--envs N ...]    prints one JSON object: the best of the numbers of envs
"""
import argparse
import json
import os
import platform
import random
import re
import time
import zlib

import cv2
import gymnasium
import numpy as np
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

SIDE, BASELINE, UNIT, LEFT, WIDTH, WIDEST = 112, 106, 11, 12, 98, 22
COLORS = [("red", (220, 40, 40)), ("green", (30, 150, 50)), ("blue", (40, 70, 220)), ("yellow", (245, 215, 30)),
          ("purple", (140, 50, 175)), ("orange", (250, 140, 20)), ("cyan", (40, 200, 220)), ("gray", (120, 120, 120))]
ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
PROMPT_BYTES = 96

# kind, what is asked, terms (sign, pick), condition, weight at level 2, phrases
PLUS, MINUS, HIGHEST, LOWEST = (1, "named"), (-1, "named"), (1, "highest"), (1, "lowest")
RECIPES = [
    ("sum", "number", [PLUS, PLUS], None, 3, ["What is {a} plus {b}?", "Add {a} and {b}."]),
    ("difference", "number", [PLUS, MINUS], None, 3, ["What is {a} minus {b}?", "How much higher is {a} than {b}?"]),
    ("highest", "color", [HIGHEST], None, 1, ["Which bar is highest?"]),
    ("lowest", "color", [LOWEST], None, 1, ["Which bar is lowest?"]),
    ("highest_value", "number", [HIGHEST], None, 1, ["How high is the highest bar?", "What is the highest value?"]),
    ("lowest_value", "number", [LOWEST], None, 1, ["How high is the lowest bar?", "What is the lowest value?"]),
    ("compare", "higher", [PLUS, PLUS], None, 1, ["Which is higher, {a} or {b}?"]),
    ("is_higher", "is_higher", [PLUS, PLUS], None, 1, ["Is {a} higher than {b}?"]),
    ("count_above", "count", [], "above", 2, ["How many bars are above {n}?", "Count the bars above {n}."]),
    ("count_below", "count", [], "below", 2, ["How many bars are below {n}?", "Count the bars below {n}."]),
    ("sum_of_three", "number", [PLUS, PLUS, PLUS], None, 1, ["What is {a} plus {b} plus {c}?", "Add {a}, {b} and {c}."]),
    ("plus_minus", "number", [PLUS, PLUS, MINUS], None, 2, ["What is {a} plus {b} minus {c}?"]),
    ("range", "number", [HIGHEST, (-1, "lowest")], None, 2,
     ["What is the highest minus the lowest?", "How much higher is the highest bar than the lowest?"]),
    ("highest_plus", "number", [HIGHEST, PLUS], None, 1, ["What is the highest plus {a}?", "Add the highest and {a}."]),
]
WEIGHTS = [recipe[4] for recipe in RECIPES]
COLOR_INDICES = list(range(len(COLORS)))


def draw_paper():
    paper = np.full((SIDE, SIDE, 3), 255, np.uint8)
    grid, axis = (222, 222, 222), (70, 70, 70)
    for value in range(10):
        y = BASELINE - UNIT * value
        paper[y, 10 : SIDE - 1] = grid if value else axis
        paper[y, 8:10] = axis
        if value:
            cv2.putText(paper, str(value), (1, y + 3), cv2.FONT_HERSHEY_SIMPLEX, 6 / 21, axis, 1, cv2.LINE_AA)
    paper[4:BASELINE, 10] = axis
    return paper


PAPER = draw_paper()


def draw_chart(colors, values, shift):
    image = PAPER.copy()
    pitch = WIDTH / len(values)
    width = min(int(pitch * 0.65), WIDEST)
    for bar, value in enumerate(values):
        left = int(LEFT + pitch * bar + (pitch - width) / 2) + shift
        cv2.rectangle(image, (left, BASELINE - UNIT * value), (left + width - 1, BASELINE - 1), COLORS[colors[bar]][1], -1)
    return image


def bar_of(pick, bar, values):
    return bar if pick == "named" else values.index(max(values) if pick == "highest" else min(values))


def draw_task(rng):
    """(prompt, answer, colors, values) of one well-posed question, and the text that decides its split."""
    kind, ask, recipe_terms, condition, _, phrases = rng.choices(RECIPES, WEIGHTS)[0]
    while True:
        count = rng.randint(4, 6)
        colors = rng.sample(COLOR_INDICES, count)
        values = [rng.randint(1, 9) for _ in range(count)]
        order = rng.sample(range(count), count)
        named = []
        terms = []
        for sign, pick in recipe_terms:
            if pick == "named":
                named.append(order[len(named)])
            terms.append((sign, pick, named[-1] if named else 0))
        threshold = rng.randint(2, 8) if condition else 0
        bars = [bar_of(pick, bar, values) for _, pick, bar in terms]
        if len(set(bars)) != len(bars):
            continue
        if any(pick != "named" and values.count(values[bar]) > 1 for (_, pick, _), bar in zip(terms, bars)):
            continue
        if ask in ("higher", "is_higher"):
            if values[bars[0]] == values[bars[1]]:
                continue
            first = values[bars[0]] > values[bars[1]]
            answer = ("yes" if first else "no") if ask == "is_higher" else COLORS[colors[bars[0 if first else 1]]][0]
        elif ask == "color":
            answer = COLORS[colors[bars[0]]][0]
        elif ask == "count":
            answer = str(sum(v > threshold if condition == "above" else v < threshold for v in values))
        else:
            total = sum(sign * values[bar] for (sign, _, _), bar in zip(terms, bars))
            if total <= 0:
                continue
            answer = str(total)
        break
    names = [COLORS[colors[bar]][0] for bar in named] + ["", "", ""]
    prompt = rng.choice(phrases).format(a=names[0], b=names[1], c=names[2], n=threshold)
    content = f"{kind}{colors}{values}{named}{threshold}"
    return prompt, answer, colors, values, content


class Charts(gymnasium.Env):
    metadata = {"render_modes": []}
    observation_space = gymnasium.spaces.Dict(
        image=gymnasium.spaces.Box(0, 255, (SIDE, SIDE, 3), np.uint8),
        prompt=gymnasium.spaces.Box(0, 255, (PROMPT_BYTES,), np.uint8))
    action_space = gymnasium.spaces.Text(4096)

    def __init__(self, number=0, count=1):
        self.index, self.count, self.gold = number, count, None

    def reset(self, *, seed=None, options=None):
        rng = random.Random(self.index)  # one stream per task
        self.index += self.count
        while True:
            prompt, self.gold, colors, values, content = draw_task(rng)
            if zlib.crc32(content.encode()) % 16:  # the rest is the test split
                break
        text = np.zeros(PROMPT_BYTES, np.uint8)
        encoded = prompt.encode()[:PROMPT_BYTES]
        text[: len(encoded)] = np.frombuffer(encoded, np.uint8)
        return {"image": draw_chart(colors, values, rng.randint(-1, 1)), "prompt": text}, {}

    def step(self, action):
        found = ANSWER.findall(action)
        reward = float(bool(found) and found[-1].strip() == self.gold)
        return {"image": PAPER, "prompt": np.zeros(PROMPT_BYTES, np.uint8)}, reward, True, False, {}


TURN = "red is 4\n\nblue is 3\n\n4 + 3 = 7\n\n<answer>7</answer>"


def rate(seconds, one_round):
    deadline = time.perf_counter() + seconds / 10
    while time.perf_counter() < deadline:
        one_round()
    steps, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        steps += one_round()
    return steps / (time.perf_counter() - start)


def single(seconds):
    env = Charts()
    env.reset()

    def one_round():
        for _ in range(64):
            env.step(TURN)
            env.reset()
        return 64

    return rate(seconds, one_round)


def vectored(kind, count, seconds):
    makers = [lambda i=i: Charts(i, count) for i in range(count)]
    envs = kind(makers, autoreset_mode=AutoresetMode.SAME_STEP)
    envs.reset()
    actions = tuple([TURN] * count)

    def one_round():
        envs.step(actions)
        return count

    try:
        return rate(seconds, one_round)
    finally:
        envs.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--envs", type=int, nargs="+", default=[2, 8, 32])
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    figures = {"versions": {"python": platform.python_version(), "gymnasium": gymnasium.__version__,
                            "cv2": cv2.__version__, "numpy": np.__version__}, "cores": os.cpu_count(),
               "single": single(arguments.seconds)}
    for name, kind in (("sync", SyncVectorEnv), ("async", AsyncVectorEnv)):
        rates = {count: vectored(kind, count, arguments.seconds) for count in arguments.envs}
        figures[name + "_envs"] = max(rates, key=rates.get)
        figures[name] = max(rates.values())
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
