"""What is kept of one measured run: result.py MEASURED.json VERSION RUN "CURVE..." [CHANGES...] prints it.

MEASURED is what `agon eval --json` or `agon decompose --json` says. CURVE: metrics of the training in the folder RUN,
of which figures of single steps are kept as means over ten. RUN may be missing: then there are no curves."""

import json
import pathlib
import sqlite3
import sys

STEPS = 10  # a point


def curve(database, name):
    points = database.execute("SELECT step, value FROM metrics WHERE name = ? AND value IS NOT NULL ORDER BY step",
                              [name]).fetchall()
    if name.startswith("eval/"):
        return points
    bins = {}
    for step, value in points:
        bins.setdefault((step - 1) // STEPS, []).append((step, value))
    return [(max(step for step, _ in held), sum(value for _, value in held) / len(held)) for held in bins.values()]


def curves(run, names):
    file = pathlib.Path(run) / "run.sqlite"
    if not file.exists():
        return {}
    database = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    found = {name: [(step, round(value, 5)) for step, value in curve(database, name)] for name in names}
    return {name: points for name, points in found.items() if points}


def main(file, version, run, names, *changes):
    measured = json.load(open(file))
    result = {"version": version, "changes": [word for word in changes if word != "--set"]}
    made = measured.pop("provenance", {})  # without its paths, which are of this machine
    measured.pop("run", None)  # which is one too
    result["provenance"] = {key: made[key] for key in ("date", "machine") if key in made}
    if "rows" in measured:
        result["suites"] = {row["suite"]: row["summary"] for row in measured["rows"]}
    else:
        result.update(measured)
    if kept := curves(run, names.split()):
        result["curves"] = kept
    print(json.dumps(result))


main(*sys.argv[1:])
