"""Prints the table of an experiment: table.py experiments/NAME.table experiments/results/NAME.

One row a variant and suite: the mean over its seeds of each column, and the lowest and highest seed in brackets. A
column is a path into the summary of `agon eval --json`; best_of_n/8 and the like lead to one size."""

import json
import pathlib
import sys


def value_of(summary, path):
    for part in path.split("/"):
        summary = summary.get(part) if isinstance(summary, dict) else None
    return summary


def cell(values):
    values = [value for value in values if value is not None]
    if not values:
        return "-"
    text = f"{sum(values) / len(values):.3f}"
    return text if len(values) == 1 else f"{text} [{min(values):.3f}, {max(values):.3f}]"


def main(table, folder):
    lines = [line.split() for line in pathlib.Path(table).read_text().splitlines() if line and line[0] != "#"]
    columns = next(words[1:] for words in lines if words[0] == "columns")
    variants = [words[1] for words in lines if words[0] in ("start", "run")]
    suites = {}
    for variant in variants:
        for result in sorted(pathlib.Path(folder).glob(f"{variant}-[0-9]*.json")):
            if not result.stem.removeprefix(variant + "-").isdigit():
                continue
            for suite, summary in json.loads(result.read_text())["suites"].items():
                suites.setdefault(suite, {}).setdefault(variant, []).append(summary)
    for suite, rows in suites.items():
        print(f"\n{suite}\n\n| variant | seeds | " + " | ".join(columns) + " |")
        print("|---" * (len(columns) + 2) + "|")
        for variant, summaries in rows.items():
            cells = [cell([value_of(summary, column) for summary in summaries]) for column in columns]
            print(f"| {variant} | {len(summaries)} | " + " | ".join(cells) + " |")


main(*sys.argv[1:])
