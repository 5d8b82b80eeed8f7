#!/usr/bin/env bash
# agon train as a person meets it: killed and resumed, wrong configs, other people's folders, a report of what came out.
# usage: train_command.sh AGON MODEL
set -u
agon=$1 model=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
cd "$work" || exit 1

fail() { echo "FAILED: $*" >&2; failures=$((failures + 1)); }
# expect CODE WORDS COMMAND...: the command ends with the code, and its output holds the words.
expect() {
  local code=$1 words=$2; shift 2
  "$@" >out.txt 2>&1
  local got=$?
  [ "$got" = "$code" ] || fail "$* ended with $got instead of $code: $(tail -2 out.txt)"
  grep -qF -- "$words" out.txt || fail "$* does not say '$words': $(tail -2 out.txt)"
}

cat >small.yaml <<YAML
policy: $model
sources: [{suite: charts, level: 3, prompts: 3}]
samples: 4
steps: 8
threads: 1
method: adpo
evaluation: {every: 4, tasks: 5, samples: 2}
checkpoint_steps: 2
record_every: 4
YAML

expect 0 "model: whole/model" "$agon" train small.yaml --set output=whole
# Killed at once after its first checkpoint, then again a little later; the end is the same, bit for bit.
for pause in 0 0.4; do
  "$agon" train small.yaml --set output=killed --resume >log.txt 2>&1 &
  victim=$!
  for ((i = 0; i < 600; i++)); do
    [ -e killed/checkpoint/state.json ] && break
    sleep 0.05
  done
  sleep "$pause"
  kill -9 "$victim" 2>/dev/null
  wait "$victim" 2>/dev/null
done
[ -e killed/checkpoint/state.json ] || fail "no checkpoint was written"
expect 0 "model: killed/model" "$agon" train small.yaml --set output=killed --resume
cmp -s whole/model/model.safetensors killed/model/model.safetensors || fail "the resumed training ended with other weights"

expect 1 "--resume" "$agon" train small.yaml --set output=whole
expect 1 "seed" "$agon" train small.yaml --set output=whole --set seed=9 --resume
expect 1 "learning_rate" "$agon" train small.yaml --set output=x --set optimizer.learning_rat=1
expect 1 "grpo" "$agon" train small.yaml --set output=x --set method=grop
expect 1 "nowhere.yaml" "$agon" train nowhere.yaml
expect 1 "no such model" "$agon" train small.yaml --set output=x --set "policy=no such model"
[ ! -e x ] || fail "a training that cannot start left its folder behind"
expect 0 "learning_rate: " "$agon" train small.yaml --set output=x --print-config
"$agon" train small.yaml --set output=x --print-config >printed.yaml
expect 0 "steps: 8" "$agon" train printed.yaml --print-config
mkdir foreign && echo mine >foreign/notes.txt
expect 1 "foreign" "$agon" train small.yaml --set output=foreign
[ "$(cat foreign/notes.txt)" = mine ] || fail "somebody else's file was changed"

expect 0 "report" "$agon" report whole
grep -q "entropy" whole/report.html || fail "the report has no curve of the entropy"
expect 0 "tasks" "$agon" run --policy whole/best --suite charts --tasks 2 --samples 1 --out run

[ "$failures" = 0 ] && echo "train command: all as expected"
exit "$failures"
