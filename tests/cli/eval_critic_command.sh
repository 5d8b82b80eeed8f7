#!/usr/bin/env bash
# eval_critic_command.sh AGON MODEL: agon eval-critic from outside: suites, runs and files, and every way to be told no.
set -u
agon=$1 model=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

fail() { printf 'FAILED: %s\n' "$*"; failures=$((failures + 1)); }
# value FILTER ARGUMENTS...: what is at the path FILTER of the JSON that eval-critic prints.
value() {
  local path=$1
  shift
  "$agon" eval-critic "$@" --json 2>"$scratch/err" >"$scratch/out" || fail "eval-critic $*: $(cat "$scratch/err")"
  python3 -c 'import json, sys
value = json.load(open(sys.argv[1]))
for key in sys.argv[2].split("/"):
  value = value[int(key) if isinstance(value, list) else key]
print(value)' "$scratch/out" "$path"
}
# is EXPECTED FILTER ARGUMENTS...
is() {
  local expected=$1 got
  shift
  got=$(value "$@")
  [ "$got" = "$expected" ] || fail "eval-critic $*: got $got, expected $expected"
}
# refused WORDS ARGUMENTS...: exits with 1 and says WORDS, with nothing on stdout.
refused() {
  local words=$1
  shift
  "$agon" eval-critic "$@" >"$scratch/out" 2>"$scratch/err"
  local got=$?
  [ $got = 1 ] || fail "eval-critic $*: exit code $got, expected 1"
  grep -qF -- "$words" "$scratch/err" || fail "eval-critic $*: stderr lacks '$words': $(cat "$scratch/err")"
  [ ! -s "$scratch/out" ] || fail "eval-critic $*: refused, and yet printed"
}

# A suite's own steps: the oracle is right of all, and a constant of one class.
is 1.0 rows/0/figures/harmonic_mean --critic oracle --tasks 5
is 0.0 rows/0/regret --critic oracle --tasks 5
is 1.0 rows/0/figures/correct --critic constant=0.7 --tasks 5 --suite shapes
is 0.0 rows/0/figures/error --critic constant=0.7 --tasks 5 --suite shapes
is 0.5 mean/average --critic constant=0.7 --tasks 3 --suite charts --suite shapes
is None mean --critic constant=0.7 --tasks 3
is shapes rows/1/data --critic random --tasks 3 --suite charts --suite shapes
[ "$(value rows/0/figures/auc --critic random --tasks 9)" = "$(value rows/0/figures/auc --critic random --tasks 9)" ] ||
  fail "random is not the same twice"
"$agon" eval-critic --critic oracle --tasks 5 2>/dev/null | grep -q '^  all ' || fail "the table has no line of all steps"

# What a policy wrote, judged by the suite and by the policy itself; it was never taught to judge.
"$agon" run --suite charts --policy "$model" --tasks 4 --samples 2 --max-tokens 40 --out "$scratch/run" --json >"$scratch/out" 2>&1 ||
  fail "run: $(cat "$scratch/out")"
python3 - "$scratch" <<'PY'
import json, sys
steps = [{"problem": "1 + 1?", "steps": ["It is 2.", "So 3."], "label": 1, "generator": "g"},
         {"problem": "2 + 2?", "steps": ["It is 4."], "label": -1, "generator": "g"}]
json.dump(steps, open(sys.argv[1] + "/bench.json", "w"))
PY
for critic in generative discriminative self-score; do
  is 3 rows/0/figures/steps --critic $critic --policy "$model" --file "$scratch/bench.json" --max-tokens 8
done
is 3 rows/0/figures/invalid --critic generative --policy "$model" --file "$scratch/bench.json" --max-tokens 8
is 0 rows/0/figures/invalid --critic discriminative --policy "$model" --file "$scratch/bench.json"
is 3 rows/0/figures/unknown --critic oracle --file "$scratch/bench.json"
is 0.0 rows/0/first_error/f1 --critic constant=1 --file "$scratch/bench.json"
is 1.0 rows/0/first_error/correct --critic constant=1 --file "$scratch/bench.json"

refused "Did you mean 'oracle'" --critic oracl
refused "P(correct) must lie in [0, 1], got 2" --critic constant=2
refused "constant=0.5; got 'x'" --critic constant=x
refused "no prompt 'lng'" --policy "$model" --prompt lng
refused "critiques must be at least 1" --policy "$model" --critiques 0
refused "are all the same" --policy "$model" --critiques 2
refused "Did you mean 'vote'" --policy "$model" --combine vot
refused "address of its server" --critic process-reward
refused "Did you mean 'qwen'" --critic process-reward --url http://127.0.0.1:1 --form qwn
refused "does not answer" --critic process-reward --url http://127.0.0.1:1 --file "$scratch/bench.json"
refused "no pictures" --critic process-reward --url http://127.0.0.1:1 --tasks 1
refused "$scratch/none.json" --critic oracle --file "$scratch/none.json"
refused "$scratch" --critic oracle --run "$scratch"
refused "chart" --critic oracle --suite chart
refused "knows the truth of no step" --critic oracle --run "$scratch/run"
printf '{"steps": ["a"], "label": 5}\n' >"$scratch/broken.jsonl"
refused "broken.jsonl:1: label" --critic oracle --file "$scratch/broken.jsonl"

[ $failures = 0 ] && echo "eval_critic_command: all passed"
exit $((failures > 0))
