#!/usr/bin/env bash
# decompose_command.sh AGON MODEL: agon decompose from outside, with a model that writes steps.
set -u
agon=$1 model=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

fail() { printf 'FAILED: %s\n' "$*"; failures=$((failures + 1)); }
short="--policy $model --tasks 3 --samples 2"
# refused CODE WORDS FLAGS...: ends with CODE and one line on stderr that holds WORDS.
refused() {
  local code=$1 words=$2
  shift 2
  "$agon" decompose "$@" >"$scratch/out" 2>"$scratch/err"
  local got=$?
  [ $got = "$code" ] || fail "$*: exit code $got, expected $code"
  grep -q -- "$words" "$scratch/err" || fail "$*: stderr lacks '$words': $(cat "$scratch/err")"
}

"$agon" decompose $short --out "$scratch/run" >"$scratch/table" 2>/dev/null || fail "decompose"
for words in '^charts, level 2: 3 tasks x 2 samples, ' '^otsu  *white ' '^otsu  *rotate ' '^top_k  *blur ' '^random  *- ' '^all textual ' "^run: $scratch/run"; do
  grep -q "$words" "$scratch/table" || fail "the table lacks '$words': $(cat "$scratch/table")"
done
# The same roll-outs again, not played anew; other settings of the split.
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
assert 0 <= otsu["ci"][0] <= otsu["accuracy"] <= otsu["ci"][1] <= 1 and 0 <= otsu["auc"] <= 1
by_label = share * otsu["perception_found"] + (1 - share) * otsu["reasoning_found"]
assert abs(by_label - otsu["accuracy"]) < 1e-9
PY

refused 1 "Did you mean 'white'" $short --picture whit
refused 1 'leave it out' $short --set split=otsu
refused 1 "Did you mean 'visual_share'" $short --set visual_shar=1
refused 1 'is not KEY=VALUE' $short --set visual_share
refused 1 '--resume needs --out' $short --resume
refused 1 "$scratch/run" $short --out "$scratch/run"
refused 1 "Did you mean 'charts'" $short --suite chart --out "$scratch/x"

[ $failures = 0 ] && echo "decompose_command: passed"
exit $((failures > 0))
