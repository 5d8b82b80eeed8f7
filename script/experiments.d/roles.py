"""What `agon eval --json` says of one policy in several roles, as one: roles.py FOLDER ROLE... prints the rows of
FOLDER/ROLE.json, a suite in another role than solver under the name "SUITE as ROLE"."""

import json
import pathlib
import sys


def rows(evaluation, role):
    for row in evaluation["rows"]:
        yield row if role == "solver" else {**row, "suite": f"{row['suite']} as {role}"}


evaluations = {role: json.loads((pathlib.Path(sys.argv[1]) / f"{role}.json").read_text()) for role in sys.argv[2:]}
print(json.dumps({"rows": [row for role, evaluation in evaluations.items() for row in rows(evaluation, role)],
                  "provenance": next(iter(evaluations.values())).get("provenance", {})}))
