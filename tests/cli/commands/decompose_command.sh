#!/usr/bin/env bash
# decompose_command.sh AGON MODEL: agon decompose on the command line, with a model that writes steps.
agon=$1 model=$2
. "$(dirname "$0")/helpers.sh"

short="--policy $model --tasks 3 --samples 2"

"$agon" decompose $short --out "$scratch/run" >"$scratch/table" 2>/dev/null || fail "decompose"
for words in '^charts, level 2: 3 tasks x 2 samples, ' '^otsu  *white ' '^otsu  *rotate ' '^top_k  *blur ' '^random  *- ' '^all textual ' "^run: $scratch/run"; do
  grep -q "$words" "$scratch/table" || fail "the table lacks '$words': $(cat "$scratch/table")"
done
# The recorded roll-outs again, with other settings of the split.
"$agon" decompose $short --out "$scratch/run" --resume --picture white --set visual_share=1 --json >"$scratch/json" 2>/dev/null || fail "decompose --resume"
python3 - "$scratch/json" <<'PY' || fail "the figures do not fit each other"
import json, sys
found = json.load(open(sys.argv[1]))
rows = {(row["split"], row["picture"]): row for row in found["splits"]}
assert len(rows) == 5, rows.keys()
share = found["perception_share"]
assert abs(rows["all visual", None]["accuracy"] - share) < 1e-9
assert abs(rows["all textual", None]["accuracy"] - (1 - share)) < 1e-9
assert rows["top_k", "white"]["accuracy"] == rows["random", None]["accuracy"] == rows["all visual", None]["accuracy"]
otsu = rows["otsu", "white"]
low, high = otsu["ci"]["accuracy"]
assert 0 <= low <= otsu["accuracy"] <= high <= 1 and otsu["n"]["accuracy"] <= found["tasks"] and 0 <= otsu["auc"] <= 1
by_label = share * otsu["perception_found"] + (1 - share) * otsu["reasoning_found"]
assert abs(by_label - otsu["accuracy"]) < 1e-9
PY

refuses 2 "Did you mean 'white'" "$agon" decompose $short --picture whit
refuses 2 'all splits are measured' "$agon" decompose $short --set split=otsu
refuses 2 "Did you mean 'visual_share'" "$agon" decompose $short --set visual_shar=1
refuses 2 'is not KEY=VALUE' "$agon" decompose $short --set visual_share
refuses 2 '--resume needs --out' "$agon" decompose $short --resume
refuses 1 "$scratch/run" "$agon" decompose $short --out "$scratch/run"
refuses 2 "Did you mean 'charts'" "$agon" decompose $short --suite chart --out "$scratch/x"

finish
