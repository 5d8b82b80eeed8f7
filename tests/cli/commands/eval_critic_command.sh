#!/usr/bin/env bash
# eval_critic_command.sh AGON MODEL: agon eval-critic on the command line: suites, runs and files, and every error.
agon=$1 model=$2
. "$(dirname "$0")/helpers.sh"

# judged PATH ARGUMENTS...: the value at PATH in the JSON that eval-critic prints.
judged() {
  "$agon" eval-critic "${@:2}" --json 2>"$scratch/err" >"$scratch/out" || fail "eval-critic ${*:2}: $(cat "$scratch/err")"
  value "$1" "$scratch/out"
}
# is EXPECTED PATH ARGUMENTS...
is() {
  local expected=$1 got
  shift
  got=$(judged "$@")
  [ "$got" = "$expected" ] || fail "eval-critic $*: got $got, expected $expected"
}

# The suite's own steps: the oracle is right about all of them, a constant critic about one class.
is 1.0 rows/0/figures/harmonic_mean --critic oracle --tasks 5
is 0.0 rows/0/regret --critic oracle --tasks 5
is 1.0 rows/0/figures/correct --critic constant=0.7 --tasks 5 --suite shapes
is 0.0 rows/0/figures/error --critic constant=0.7 --tasks 5 --suite shapes
is 0.5 mean/average --critic constant=0.7 --tasks 3 --suite charts --suite shapes
is None mean --critic constant=0.7 --tasks 3
is shapes rows/1/data --critic random --tasks 3 --suite charts --suite shapes
[ "$(judged rows/0/figures/auc --critic random --tasks 9)" = "$(judged rows/0/figures/auc --critic random --tasks 9)" ] ||
  fail "random is not the same twice"
"$agon" eval-critic --critic oracle --tasks 5 2>/dev/null | grep -q '^  all ' || fail "the table has no line of all steps"

# Steps of a policy, judged by the suite and by the policy itself, which was never trained to judge.
"$agon" run --suite charts --policy "$model" --tasks 4 --samples 2 --max-tokens 40 --out "$scratch/run" --json >"$scratch/out" 2>&1 ||
  fail "run: $(cat "$scratch/out")"
python3 - "$scratch" <<'PY'
import json, sys
steps = [{"problem": "1 + 1?", "steps": ["It is 2.", "So 3."], "label": 1, "generator": "g"},
         {"problem": "2 + 2?", "steps": ["It is 4."], "label": -1, "generator": "g"}]
json.dump(steps, open(sys.argv[1] + "/bench.json", "w"))
PY
for critic in "generative --max-tokens 8" discriminative "self-score --max-tokens 8"; do
  is 3 rows/0/figures/steps --critic $critic --policy "$model" --file "$scratch/bench.json"
done
is 3 rows/0/figures/invalid_verdicts --critic generative --policy "$model" --file "$scratch/bench.json" --max-tokens 8
is 0 rows/0/figures/invalid_verdicts --critic discriminative --policy "$model" --file "$scratch/bench.json"
is 3 rows/0/figures/unknown_verdicts --critic oracle --file "$scratch/bench.json"
is 0.0 rows/0/first_error/correct --critic oracle --file "$scratch/bench.json"  # who knows nothing claims nothing
refuses 2 "--critiques does nothing with --critic oracle" "$agon" eval-critic --critic oracle --critiques 3
is 0.0 rows/0/first_error/f1 --critic constant=1 --file "$scratch/bench.json"
is 1.0 rows/0/first_error/correct --critic constant=1 --file "$scratch/bench.json"

python3 - "$scratch" <<'PY'
import json, sys
def write(name, records): open(sys.argv[1] + "/" + name, "w").write("".join(json.dumps(one) + "\n" for one in records))
write("found.jsonl", [{"problem": "P", "steps": ["a"], "label": 0}, {"problem": "P", "steps": ["a"], "label": -1}])
write("right.jsonl", [{"problem": "P", "steps": ["a"], "label": -1, "generator": "\x1b[31mred"},
                      {"problem": "P", "steps": ["a"], "label": -1, "generator": "\x1b]0;title\x07\nnext"}])
write("single.jsonl", [{"problem": "P", "partial_solution": "a", "next_step": "b", "human_label": 1}])
PY
# Several files: the mean of their F1. Single steps have no first error.
is 0.0 mean/f1 --critic constant=1 --file "$scratch/found.jsonl" --file "$scratch/bench.json"
"$agon" eval-critic --critic constant=1 --file "$scratch/found.jsonl" --file "$scratch/bench.json" 2>/dev/null |
  grep -q "mean F1 of the first error: 0.000" || fail "the table has no mean F1"
"$agon" eval-critic --critic constant=1 --file "$scratch/single.jsonl" >"$scratch/out" 2>/dev/null || fail "single steps"
grep -q "first error" "$scratch/out" && fail "single steps have a first error"
"$agon" eval-critic --critic constant=1 --file "$scratch/right.jsonl" >"$scratch/out" 2>/dev/null || fail "sources"
grep -q "by source" "$scratch/out" || fail "no figures by source"
LC_ALL=C grep -q "$(printf '[\033\007]')" "$scratch/out" && fail "a file's escapes come to the terminal"

refuses 2 "Did you mean 'oracle'" "$agon" eval-critic --critic oracl
refuses 2 "P(correct) must lie in [0, 1], got 2" "$agon" eval-critic --critic constant=2
refuses 2 "constant=0.5; got 'x'" "$agon" eval-critic --critic constant=x
refuses 2 "unknown prompt 'lng'" "$agon" eval-critic --policy "$model" --prompt lng
refuses 2 "'0' is not a whole number from 1 to 256" "$agon" eval-critic --policy "$model" --critiques 0
refuses 2 "'257' is not a whole number from 1 to 256" "$agon" eval-critic --policy "$model" --critiques 257 --temperature 1
refuses 2 "--temperature" "$agon" eval-critic --policy "$model" --temperature -2
refuses 2 "--max-tokens" "$agon" eval-critic --policy "$model" --max-tokens 0
refuses 1 "are all the same" "$agon" eval-critic --policy "$model" --critiques 2
refuses 2 "Did you mean 'vote'" "$agon" eval-critic --policy "$model" --critiques 2 --temperature 1 --combine vot
refuses 1 "address of its server" "$agon" eval-critic --critic process-reward
refuses 2 "Did you mean 'qwen'" "$agon" eval-critic --critic process-reward --url http://127.0.0.1:1 --form qwn
refuses 1 "does not answer" "$agon" eval-critic --critic process-reward --url http://127.0.0.1:1 --file "$scratch/bench.json"
refuses 1 "no pictures" "$agon" eval-critic --critic process-reward --form shepherd --url http://127.0.0.1:1 --tasks 1
refuses 1 "$scratch/none.json" "$agon" eval-critic --critic oracle --file "$scratch/none.json"
refuses 1 "$scratch" "$agon" eval-critic --critic oracle --run "$scratch"
refuses 2 "chart" "$agon" eval-critic --critic oracle --suite chart
refuses 1 "labels no step here" "$agon" eval-critic --critic oracle --run "$scratch/run"
refuses 2 "plays a task file" "$agon" eval-critic --critic oracle --suite jsonl
printf '{"steps": ["a"], "label": 5}\n' >"$scratch/broken.jsonl"
refuses 1 "broken.jsonl:1: label" "$agon" eval-critic --critic oracle --file "$scratch/broken.jsonl"

# Ctrl-C: no figures, one message, exit code 130.
for what in "--suite charts --tasks 1000000" "--critiques 4 --temperature 1 --file $scratch/long.jsonl"; do
  for ((i = 0; i < 20000; ++i)); do echo '{"problem": "P", "steps": ["a"], "label": -1}'; done >"$scratch/long.jsonl"
  "$agon" eval-critic --critic generative --policy "$model" $what >"$scratch/out" 2>"$scratch/err" &
  pid=$!
  sleep 2
  kill -INT $pid
  wait $pid
  got=$?
  [ $got = 130 ] || fail "eval-critic $what: exit code $got after Ctrl-C"
  grep -q "stopped before its end" "$scratch/err" || fail "eval-critic $what: no word of Ctrl-C: $(cat "$scratch/err")"
  [ ! -s "$scratch/out" ] || fail "eval-critic $what: stopped, and yet printed"
done

finish
