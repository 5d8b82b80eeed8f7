"""What is kept of one evaluated run: result.py EVAL.json VERSION [CHANGES...] prints it."""

import json
import sys

rows = json.load(open(sys.argv[1]))["rows"]
print(json.dumps({"version": sys.argv[2], "changes": [word for word in sys.argv[3:] if word != "--set"],
                  "suites": {row["suite"]: row["summary"] for row in rows}}, indent=1))
