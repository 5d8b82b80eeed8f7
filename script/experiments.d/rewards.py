"""Figures of a reward model: rewards.py FOLDER prints them as one object.

In FOLDER: ranking-NAME.json, what `agon eval-rm --json` says, and verified-NUMBER.json, of `agon run --reward-model`."""

import json
import pathlib
import sys

KEPT = ["tasks", "samples", "pass_at_1", "greedy", "verified", "verified_majority", "best_of_n", "majority", "ci"]


def main(folder):
    folder = pathlib.Path(folder)
    result = {"rankings": {}, "verified": {}}
    for file in sorted(folder.glob("ranking-*.json")):
        ranking = json.loads(file.read_text())
        result["provenance"] = ranking.pop("provenance", {})
        result["rankings"][file.stem.removeprefix("ranking-")] = ranking
    for file in sorted(folder.glob("verified-*.json")):
        summary = json.loads(file.read_text())
        result["verified"][summary["suite"]] = {key: summary.get(key) for key in KEPT}
    print(json.dumps(result))


main(*sys.argv[1:])
