"""Golden credit of random groups, written from the papers' formulas with numpy. Usage: credit.py FOLDER

Per method a function of (group, settings) gives, for each roll-out and each of its segments, (advantage, kl, weight),
and why the group is dropped, if it is."""
import json
import pathlib
import sys

import numpy as np

WRITTEN = {"think", "step", "answer", "score"}


def normalised(rewards, std="unbiased", epsilon=1e-6):
    r = np.asarray(rewards, float)
    if len(r) == 0 or np.ptp(r) == 0:
        return np.zeros(len(r))
    if std == "none":
        return r - r.mean()
    return (r - r.mean()) / (r.std(ddof=1 if std == "unbiased" else 0) + epsilon)


def length(rollout, kinds=WRITTEN, turns=(0, 1)):
    return sum(n for kind, n, turn in rollout["segments"] if kind in kinds and turn in turns)


def rewards_of(group):
    return [rollout["answer_reward"] for rollout in group]


def spread(group, advantage, kl, weight):
    """advantage, kl, weight: functions of (roll-out number, kind, turn); tokens of a tool get 0."""
    return [[[f(i, kind, turn) if kind in WRITTEN else 0.0 for f in (advantage, kl, weight)]
             for kind, _, turn in rollout["segments"]] for i, rollout in enumerate(group)]


def responses(group, advantage, kl, mean, kinds=WRITTEN):
    total = sum(length(rollout, kinds) for rollout in group)

    def weight(i, kind, _):
        if kind not in kinds:
            return 0.0
        return 1 / total if mean == "token" else 1 / (len(group) * length(group[i], kinds))
    inside = lambda value: lambda i, kind, turn: value(i) if kind in kinds else 0.0
    return spread(group, inside(lambda i: advantage[i]), inside(lambda i: kl), weight)


def scale_of(settings):
    return {key: settings[key] for key in ("std", "epsilon") if key in settings}


def grpo(group, s):
    return responses(group, normalised(rewards_of(group), **scale_of(s)), s.get("kl", 0), s.get("mean", "sequence")), None


def dr_grpo(group, s):
    advantage = normalised(rewards_of(group), "none")
    each = 1 / (len(group) * s["max_tokens"])
    return spread(group, lambda i, *_: advantage[i], lambda *_: s.get("kl", 0), lambda *_: each), None


def rloo(group, s):
    r = np.array(rewards_of(group))
    advantage = [r[i] - np.delete(r, i).mean() for i in range(len(r))]
    return responses(group, advantage, s.get("kl", 0), "sequence"), None


def dapo(group, s):
    limit, buffer = s["max_tokens"], s["overlong_buffer"]
    punish = lambda n: 0 if n <= limit - buffer else (limit - buffer - n) / buffer if n <= limit else -1
    rewards = [rollout["answer_reward"] + punish(max(length(rollout, turns=[t]) for t in (0, 1))) for rollout in group]
    right = {rollout["correct"] for rollout in group}
    return responses(group, normalised(rewards), 0, "token"), len(right) == 1


def quality(rollout, gamma):
    return float(rollout["correct"]) if gamma is None else rollout["answer_reward"]


def preference(group, s):
    gamma = s.get("gamma")
    values = []
    for own in group:
        if own["score"] is None:
            values.append(0.0)
            continue
        others = [o for o in group if o["score"] is not None and (
            o["correct"] != own["correct"] if gamma is None else
            abs(o["answer_reward"] - own["answer_reward"]) > gamma)]
        if not others:
            values.append(0.0)
        elif s.get("mode") == "pairwise":
            wins = [(own["score"] - o["score"]) * (quality(own, gamma) - quality(o, gamma)) > 0 for o in others]
            values.append(sum(wins) / len(others))
        else:
            mu = np.mean([o["score"] for o in others])
            values.append(float(own["score"] > mu if own["correct"] else own["score"] < mu))
    return values


def decoupled(group, score_rewards, s):
    answer, score = normalised(rewards_of(group)), normalised(score_rewards)
    answer_kinds = WRITTEN - {"score"}

    def weight(i, kind, _):
        return 1 / (len(group) * length(group[i], {"score"} if kind == "score" else answer_kinds))
    return spread(group, lambda i, kind, _: score[i] if kind == "score" else answer[i],
                  lambda *_: s.get("kl", 0.01), weight), None


def adpo(group, s):
    return decoupled(group, preference(group, s), s)


def adpo_binary(group, s):
    rewards = [r["score"] is not None and (r["score"] - s["tau"]) * (r["answer_reward"] - 0.5) > 0 for r in group]
    return decoupled(group, np.array(rewards, float), s)


def adpo_entangled(group, s):
    rewards = np.array(rewards_of(group)) + preference(group, s)
    return responses(group, normalised(rewards), 0.01, "sequence"), None


def adapo(group, s):
    kept = [i for i, rollout in enumerate(group) if not rollout["truncated"]]
    if not kept:
        return spread(group, lambda *_: 0.0, lambda *_: 0.001, lambda *_: 0.0), True
    p = np.mean([not group[i]["turn_correct"][0] for i in kept])
    sign = -1 if s.get("preset") == "table4" else 1
    table = {(0, 1): 1 + sign * (p - 0.6), (1, 1): 1 - sign * (p - 0.6), (1, 0): -1 + 0.5 * p, (0, 0): -1 - 0.5 * p}
    gap = table[0, 1] - table[1, 1]
    betas = [max(gap * 0.01, 0) + 0.001, max(-gap * 0.01, 0) + 0.001]
    rewards = [table[tuple(map(int, group[i]["turn_correct"]))] for i in kept]
    advantage = np.zeros(len(group))
    advantage[kept] = normalised(rewards)
    dropped = np.ptp(rewards) == 0
    return spread(group, lambda i, *_: advantage[i], lambda i, kind, turn: betas[turn],
                  lambda i, *_: 1 / (len(kept) * length(group[i])) if i in kept else 0.0), dropped


def score(group, s):
    r1, r2 = np.array([r["turn_correct"] for r in group], float).T
    first = np.zeros(len(group)) if s["stage"] == 1 else r1
    second = r2 if s["stage"] == 1 else r2 + 10 * (r2 - r1)
    advantage = [normalised(first, "none"), normalised(second, "none")]
    kl = [0.11 if s["stage"] == 1 else 0.01, 0.01]
    return spread(group, lambda i, kind, turn: advantage[turn][i], lambda i, kind, turn: kl[turn],
                  lambda i, *_: 1 / (len(group) * length(group[i]))), None


def visual_steps(v, literal):
    """Otsu by trying every split."""
    if len(v) < 2 or np.ptp(v) == 0:
        return [False] * len(v)
    low = np.sort(v)
    cost = [np.sum((low[:k] - low[:k].mean()) ** 2) + np.sum((low[k:] - low[k:].mean()) ** 2)
            for k in range(1, len(v))]
    k = int(np.argmin(cost)) + 1
    threshold = low[k - 1] if literal else (low[k - 1] + low[k]) / 2
    return [bool(x >= threshold) for x in v]


def pdcr(group, s, split=True):
    gamma = s.get("gamma", 1)
    returns, visual = [], []
    for rollout in group:
        g = np.diff(rollout["step_confidence"])
        returns.append([sum(gamma ** (m - k) * g[m] for m in range(k, len(g))) for k in range(len(g))])
        visual.append(visual_steps(rollout["step_visual"], s.get("threshold") == "literal") if split else [True] * len(g))
    process = [[0.0] * len(r) for r in returns]
    for cluster in (False, True):
        places = [(i, k) for i, flags in enumerate(visual) for k, flag in enumerate(flags) if flag == cluster]
        values = np.array([returns[i][k] for i, k in places])
        if len(values) and np.ptp(values) > 1e-4:  # less is noise, and worth 0
            scaled = (values - values.min()) / np.ptp(values)
            for (i, k), value in zip(places, scaled - (scaled.mean() if s.get("center") else 0)):
                process[i][k] = float(value)
    outcome = normalised(rewards_of(group))
    total = sum(length(rollout) for rollout in group)
    result = []
    for i, rollout in enumerate(group):
        steps, result_i = iter(process[i]), []
        for kind, _, _ in rollout["segments"]:
            own = 0.3 * next(steps) if kind in ("think", "step") else 0
            written = kind in WRITTEN
            result_i.append([0.7 * outcome[i] + own, 0.01, 1 / total] if written else [0.0, 0.0, 0.0])
        result.append(result_i)
    return result, None


def pacr(group, s):
    return pdcr(group, s, split=False)


def random_group(rng, size):
    group = []
    for _ in range(size):
        steps = int(rng.integers(0, 6))
        segments = [[str(rng.choice(["think", "step"])), int(rng.integers(1, 4)), 0] for _ in range(steps)]
        segments.append(["answer", int(rng.integers(1, 5)), 0])
        if rng.random() < 0.5:
            segments.append(["tool", int(rng.integers(1, 5)), 0])
        segments.append(["answer", int(rng.integers(1, 5)), 1])
        if rng.random() < 0.8:
            segments.append(["score", int(rng.integers(1, 4)), 1])
        turns = [bool(rng.random() < 0.5), bool(rng.random() < 0.5)]
        group.append({"answer_reward": round(float(turns[1]) + 0.1 * float(rng.random()), 4), "correct": turns[1],
                      "score": round(float(rng.random()), 2) if rng.random() < 0.85 else None, "segments": segments,
                      "turn_correct": turns, "truncated": bool(rng.random() < 0.15),
                      "step_confidence": [round(float(-5 * rng.random()), 3) for _ in range(steps + 1)],
                      "step_visual": [round(float(rng.normal()), 3) for _ in range(steps)]})
    return group


CASES = [
    (grpo, {}), (grpo, {"std": "biased", "mean": "token", "kl": 0.02}), (grpo, {"std": "none"}),
    (dr_grpo, {"max_tokens": 50}), (rloo, {}), (dapo, {"max_tokens": 20, "overlong_buffer": 8}),
    (adpo, {}), (adpo, {"mode": "pairwise"}), (adpo, {"mode": "pairwise", "gamma": 0.05}),
    (adpo_binary, {"tau": 0.4}), (adpo_entangled, {"mode": "pairwise"}),
    (adapo, {}), (adapo, {"preset": "table4"}), (score, {"stage": 1}), (score, {"stage": 2}),
    (pdcr, {}), (pdcr, {"threshold": "literal", "gamma": 0.8}), (pdcr, {"center": True}), (pacr, {"gamma": 0.9}),
]


def cases():
    rng = np.random.default_rng(4)
    for round_ in range(3):
        for method, settings in CASES:
            group = random_group(rng, [8, 5, 2][round_])
            credit, dropped = method(group, settings)
            yield {"method": method.__name__, "settings": settings, "group": group, "dropped": bool(dropped),
                   "credit": [[[round(float(x), 9) for x in numbers] for numbers in rollout] for rollout in credit]}


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
lines = [json.dumps(case) for case in cases()]
(folder / "groups.jsonl").write_text("\n".join([json.dumps({"versions": {"numpy": np.__version__}})] + lines) + "\n")
