"""What `agon eval --json` says of one policy in several roles, as one: roles.py FOLDER ROLE... prints the rows of
FOLDER/ROLE.json, a suite in another role than solver under the name "SUITE as ROLE"."""

import json
import pathlib
import sys


def rows(folder, role):
    for row in json.loads((pathlib.Path(folder) / f"{role}.json").read_text())["rows"]:
        yield row if role == "solver" else {**row, "suite": f"{row['suite']} as {role}"}


print(json.dumps({"rows": [row for role in sys.argv[2:] for row in rows(sys.argv[1], role)]}))
