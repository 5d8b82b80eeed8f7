"""Prints the tables of an experiment: table.py experiments/NAME.table experiments/results/NAME.

One row a variant and suite. A column is a path into the summary of `agon eval --json`; best_of_n/8 and the like lead to
one size. A cell is the mean over the seeds, the 95 % interval over tasks (the mean of the seeds' own), and the lowest
and highest seed in parentheses. Results that were kept before docs/json.md had a vocabulary have other names for a few
things; they are read too. Critics and games of self-play have tables of their own. Below, one row a split and picture of `agon decompose --json`, in the same form."""

import json
import pathlib
import sys

INTERVALS = {"pass_at_k": "pass_at", "best_of_n": "best_of"}
EARLIER = {"average_precision": "ap", "score_average_precision": "score_ap", "sets": "n"}


def get(figures, name):
    """What stands under the name, or under the one that it had."""
    return figures.get(name, figures.get(EARLIER.get(name)))


def value_of(summary, path):
    for part in path.split("/"):
        summary = get(summary, part) if isinstance(summary, dict) else None
    return summary


def interval(figures, name):
    """Of a figure; it stood bare where there was one figure alone."""
    intervals = figures["ci"] or {}
    return intervals if isinstance(intervals, list) else get(intervals, name)


def interval_of(summary, path):
    return interval(summary, "_".join(INTERVALS.get(part, part) for part in path.split("/") if part != "two_turn"))


def mean(values):
    return sum(values) / len(values)


def cell(values, intervals):
    if any(value is None for value in values):
        return "-"
    digits = 0 if min(values) >= 1000 else 3  # counts have no decimals
    text = f"{mean(values):.{digits}f}"
    if all(intervals):
        text += f" [{mean([low for low, _ in intervals]):.{digits}f}, {mean([high for _, high in intervals]):.{digits}f}]"
    return text if len(values) == 1 else text + f" ({min(values):.{digits}f}-{max(values):.{digits}f})"


def results(folder, name):
    files = [file for file in folder.glob(f"{name}-[0-9]*.json") if file.stem.removeprefix(name + "-").isdigit()]
    return [json.loads(file.read_text()) for file in sorted(files)]


def print_table(title, head, rows):
    print(f"\n{title}\n\n| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def critic_cells(runs, data):
    rows = [run[data] for run in runs]
    cells = [cell([row["harmonic_mean"] for row in rows], [interval(row, "harmonic_mean") for row in rows])]
    for key in ("correct", "error", "auc"):
        cells.append(cell([row[key] for row in rows], [False]))
    return cells


def print_critics(lines, folder):
    """One row a critic and suite: as it is, and after every round of self-play."""
    held = {words[1]: results(folder, words[1]) for words in lines if words[0] in ("critic", "selfplay", "online")}
    held = {name: runs for name, runs in held.items() if runs}
    if not held:
        return
    suites = list(next(iter(held.values()))[0]["critics"][0])
    for data in suites:
        rows = []
        for name, runs in held.items():
            for i in range(len(runs[0]["critics"])):
                critics = [run["critics"][i] for run in runs]
                if not all(data in critic for critic in critics):  # which was not evaluated there
                    continue
                played = "rounds" in runs[0]
                sources = sorted({source for critic in critics for source in critic[data]["found_by_source"]})
                found = ", ".join(f"{source} {mean([critic[data]['found_by_source'][source][1] for critic in critics]):.3f}"
                                  for source in sources if source != "expert")
                rows.append([f"{name}, round {i + 1}" if played else name, str(len(runs))] +
                            critic_cells(critics, data) + [found])
        print_table(data, ["critic", "seeds", "HarMean", "correct", "error", "AUC", "errors found by kind"], rows)
    rows = []
    for name, runs in held.items():
        for i in range(len(runs[0].get("rounds", []))):
            rounds = [run["rounds"][i] for run in runs]
            counts = [f"{mean([played[key] for played in rounds]):.0f}"
                      for key in ("games", "invalid", "harmless", "caught", "fools")]
            rows.append([name, str(i + 1), str(len(runs))] + counts +
                        [cell([played["win_rate"] for played in rounds], [False])])
    print_table("games", ["variant", "round", "seeds", "games", "invalid", "harmless", "caught", "fools", "win rate"], rows)


def print_searches(lines, folder):
    """One row a search, a table a suite; tokens and seconds are of a task."""
    suites = {}
    for name in [words[1] for words in lines if words[0] == "search"]:
        if runs := results(folder, name):
            suites.setdefault(runs[0]["suite"], {})[name] = runs
    for suite, searches in suites.items():
        rows = []
        for name, runs in searches.items():
            spent = {key: mean([run[key] / run["tasks"] for run in runs]) for key in ("policy_tokens", "critic_tokens")}
            rows.append([name.removeprefix(suite + "-"), str(len(runs)),
                         cell([run["accuracy"] for run in runs], [interval(run, "accuracy") for run in runs]),
                         f"{spent['policy_tokens']:.1f}", f"{spent['critic_tokens']:.0f}", f"{sum(spent.values()):.0f}"])
        print_table(f"{suite}, {runs[0]['tasks']} tasks", ["search", "seeds", "right", "policy tokens", "critic tokens", "all tokens"],
                    rows)


def print_rewards(lines, folder):
    """One row a reward model or judge: how it ranks on each of the files; then, a table a suite, what it brings as verifier."""
    held = {words[1]: results(folder, words[1]) for words in lines if words[0] in ("reward", "judge")}
    held = {name: runs for name, runs in held.items() if runs}
    if not held:
        return
    first = next(iter(held.values()))[0]
    for data, figures in first["rankings"].items():
        rows = []
        for name, runs in held.items():
            if data not in runs[0]["rankings"]:
                continue
            seeds = [run["rankings"][data] for run in runs]
            row = [name, str(len(runs)), cell([seed["best_of_n"] for seed in seeds], [interval(seed, "best_of_n") for seed in seeds])]
            for category in figures["by_category"]:
                row.append(f"{mean([seed['by_category'][category]['best_of_n'] for seed in seeds]):.3f}")
            for key in ("pairwise", "kendall_tau"):
                row.append(f"{mean([seed[key] for seed in seeds]):.3f}")
            for key in ("deviation", "best_changes"):
                row.append(f"{mean([seed['order'][key] for seed in seeds]):.3f}" if "order" in seeds[0] else "-")
            rows.append(row)
        title = f"Sets of {data} responses" if data.isdigit() else f"Sets of {data}"
        print_table(f"{title}: {get(figures, 'sets')}", ["model", "seeds", "best of N", *figures["by_category"], "pairwise",
                                                      "tau", "order: deviation", "best changes"], rows)
    for suite, figures in first["verified"].items():
        sizes = list(figures["verified"])
        rows = []
        for name, runs in held.items():
            if not runs[0]["verified"]:
                continue
            seeds = [run["verified"][suite] for run in runs]
            for key, title in (("verified", name), ("verified_majority", name + ", vote")):
                rows.append([title, str(len(runs))] + [cell([seed[key][n] for seed in seeds],
                                                            [interval(seed, f"{key}_{n}") for seed in seeds]) for n in sizes])
        for title, key, prefix in (("the policy's own score", "best_of_n", "best_of_"), ("majority", "majority", "majority_")):
            rows.append([title, "1"] + [cell([figures[key].get(n)], [interval(figures, prefix + n)]) for n in sizes])
        print_table(f"{suite}, {figures['tasks']} tasks: best of n samples", ["chosen by", "seeds", *sizes], rows)


def print_variants(lines, folder):
    columns = next((words[1:] for words in lines if words[0] == "columns"), [])
    suites = {}
    for variant in [words[1] for words in lines if words[0] in ("start", "run")]:
        for result in results(folder, variant):
            for suite, summary in result["suites"].items():
                suites.setdefault(suite, {}).setdefault(variant, []).append(summary)
    for suite, variants in suites.items():
        rows = [[variant, str(len(runs))] + [cell([value_of(run, column) for run in runs],
                                                  [interval_of(run, column) for run in runs]) for column in columns]
                for variant, runs in variants.items()]
        print_table(suite, ["variant", "seeds"] + columns, rows)


def print_splits(name, runs):
    first = runs[0]
    columns = ["accuracy", "visual_share", "perception_found", "reasoning_found", "auc"]
    rows = []
    for i, split in enumerate(first["splits"]):
        seeds = [run["splits"][i] for run in runs]
        rows.append([split["split"], split["picture"] or "-", str(len(runs))] +
                    [cell([seed[column] for seed in seeds], [column == "accuracy" and interval(seed, column) for seed in seeds])
                     for column in columns])
    steps = sum(run["steps"] for run in runs)
    print_table(f"{name}: {first['suite']}, {steps} labelled steps, {mean([run['perception_share'] for run in runs]):.3f}"
                " of them perception", ["split", "picture", "seeds"] + columns, rows)


def main(table, folder):
    lines = [line.split() for line in pathlib.Path(table).read_text().splitlines() if line and line[0] != "#"]
    folder = pathlib.Path(folder)
    print_variants(lines, folder)
    print_critics(lines, folder)
    print_searches(lines, folder)
    print_rewards(lines, folder)
    for words in lines:
        if words[0] == "decompose" and (runs := results(folder, words[1])):
            print_splits(words[1], runs)


if __name__ == "__main__":
    main(*sys.argv[1:])
