"""What is kept of one measured run: result.py MEASURED.json VERSION [CHANGES...] prints it.

MEASURED is what `agon eval --json` or `agon decompose --json` says."""

import json
import sys

measured = json.load(open(sys.argv[1]))
result = {"version": sys.argv[2], "changes": [word for word in sys.argv[3:] if word != "--set"]}
if "rows" in measured:
    result["suites"] = {row["suite"]: row["summary"] for row in measured["rows"]}
else:
    result.update(measured)
print(json.dumps(result, indent=1))
