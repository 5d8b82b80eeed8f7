"""Figures of critics, one a round: critics.py GAMES CRITIC.json... prints them as one object.

GAMES is what `agon selfplay --json` says, or - for a critic that has not played; each CRITIC.json is of `agon
eval-critic --json`."""

import json
import sys

KEPT = ["steps", "invalid_verdicts", "correct", "error", "average", "harmonic_mean", "strict_harmonic_mean", "auc", "ci"]


def figures(row):
    by_source = {source: [held["steps"], held["error"] if held["correct"] is None else held["correct"]]
                 for source, held in row["by_source"].items()}
    return {key: row["figures"].get(key) for key in KEPT} | {"found_by_source": by_source}


def main(games, *files):
    result = {} if games == "-" else {"rounds": json.load(open(games))["rounds"]}
    for played in result.get("rounds", []):
        for player in ("critic", "sneaky"):
            del played[player]["model"]  # a path of this machine
    judged = [json.load(open(file)) for file in files]
    result["critics"] = [{row["data"]: figures(row) for row in report["rows"]} for report in judged]
    result["provenance"] = judged[-1].get("provenance", {}) if judged else {}
    print(json.dumps(result))


main(*sys.argv[1:])
