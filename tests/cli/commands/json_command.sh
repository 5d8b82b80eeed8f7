#!/usr/bin/env bash
# json_command.sh AGON SOURCE: checks the --json output of every command, in small runs, against its schema in
# docs/json/. Each command that has the flag needs a schema and at least one run here.
agon=$(realpath "$1") source=$(realpath "$2") here=$(realpath "$(dirname "$0")")
. "$here/helpers.sh"
schemas=$source/docs/json models=$source/models tour=$source/docs/tour
cd "$scratch" || exit 1

# prints NAME ARGUMENTS...: agon NAME ARGUMENTS --json succeeds; its JSON is checked at the end.
number=0
prints() {
  number=$((number + 1))
  "$agon" "$@" --json >"$number.json" 2>err </dev/null || fail "agon $*: exit code $?: $(tail -2 err)"
  printf '%s\t%s\tagon %s\n' "$1" "$number.json" "$*" >>printed
}
# writes FILE LINES...
writes() { printf '%s\n' "${@:2}" >"$1"; }

prints suites
prints bench "$models/agon-tiny" --batch 1,2 --prompt-tokens 8 --new-tokens 3 --rounds 1
prints bench "$models/agon-tiny" --device torch:cpu --batch 2 --prompt-tokens 8 --new-tokens 3 --rounds 1
prints inspect "$models/agon-tiny"
prints inspect "$models/agon-tiny" --compare q8,q4 --kv bf16 --weights bf16 --memory 500
prints tokenize --policy "$models/agon-tiny" 'It is <|im_end|> café'
printf '{"text": "one"}\n\n{"text": "two, three"}\n' >texts.jsonl
prints tokenize --policy "$models/agon-tiny" --file texts.jsonl
mkdir cache
AGON_CACHE=$PWD/cache/generations.sqlite
export AGON_CACHE
prints cache rm --all
prints cache
prints doctor --policy "$models/agon-tiny"

# Runs: plain, with two turns, with a reward model, of a task file, with tools, with a search index.
small=(--tasks 3 --samples 2)
prints index "$tour/docs.jsonl" --out docs.index
prints query docs.index program
prints query docs.index 'no such word'
"$agon" serve-search docs.index --port 0 >served 2>&1 &
server=$!
for _ in {1..100}; do grep -q '^serving' served && break; sleep 0.1; done
prints query "$(sed -n 's|.*\(http://127.0.0.1:[0-9]*\)/retrieve.*|\1|p' served)" program
kill -INT $server
wait $server
writes questions.jsonl '{"id": "1", "question": "Who wrote the first program?", "golden_answers": ["Ada Lovelace"]}'
prints run "${small[@]}" --policy "$models/agon-tiny" --out run
prints run --tasks 2 --samples 1 --temperature 0 --policy "$models/agon-tiny" --out greedy
prints run "${small[@]}" --policy "$models/agon-tiny-two-turn" --level 3 --two-turn --out twice
prints run "${small[@]}" --policy "$models/agon-tiny" --reward-model "$models/agon-tiny-reward" --out verified
prints run "${small[@]}" --policy "$models/agon-tiny" --suite jsonl --file "$tour/tasks.jsonl" --out file
prints run --tasks 2 --samples 1 --policy "$models/agon-tiny-tools" --suite lookup --out tools
prints run --samples 1 --policy "$models/agon-tiny-tools" --suite questions --file questions.jsonl --search docs.index --out questions
prints eval "${small[@]}" --policy "$models/agon-tiny" --policy "$models/agon-tiny-two-turn" --suite charts --suite shapes --out eval
prints eval "${small[@]}" --policy "$models/agon-tiny" --policy "$models/agon-tiny-two-turn" --two-turn --out eval-twice
prints decompose --tasks 2 --samples 2 --policy "$models/agon-tiny" --picture white --out decompose
prints complete --policy "$models/agon-tiny" --max-tokens 5 --image "$tour/chart-1.png" 'Which bar is highest?'
prints complete --policy "$models/agon-tiny" --max-tokens 5 --samples 2 hi

# Searches, and a replay.
prints search --tasks 2 --policy "$models/agon-tiny" --critic-policy "$models/agon-tiny-critic" --budget policy_tokens=60,wall=60 --out guided
prints search --tasks 1 --policy "$models/agon-tiny" --method beam --critic oracle --out beam
prints search --tasks 1 --policy "$models/agon-tiny" --method greedy --out alone
prints replay guided 0
prints replay beam 0
prints replay beam 0 --policy "$models/agon-tiny-two-turn"

# Critics: of a suite, of several, of a run, of a file whose steps have no alternatives.
writes steps.json '[{"problem": "1 + 1?", "steps": ["It is 2.", "So 3."], "label": 1, "generator": "g"},' \
  '{"problem": "2 + 2?", "steps": ["It is 4."], "label": -1, "generator": "g"}]'
prints eval-critic --tasks 1 --policy "$models/agon-tiny-critic"
prints eval-critic --tasks 2 --critic random --suite charts --suite shapes --run run
prints eval-critic --critic constant=0.7 --file steps.json

# Preferences and reward models.
prints make-preferences --tasks 6 --policy "$models/agon-tiny" --responses 2 --out preferences
sets=(--file preferences/preferences.jsonl --max-tokens 5)
prints eval-rm "${sets[@]:0:2}" --reward-model "$models/agon-tiny-reward" --orders 2
prints eval-rm "${sets[@]}" --judge "$models/agon-tiny"
prints eval-rm "${sets[@]}" --choose "$models/agon-tiny"
prints score "$tour/responses.json" --reward-model "$models/agon-tiny-reward"
writes rm.yaml "model: $models/agon-tiny" 'data: [preferences/preferences.jsonl]' 'epochs: 1' 'batch: 2' 'threads: 1'
prints train-rm rm.yaml --set output=rm --set held_out=0.5
prints train-rm rm.yaml --set output=rm-without
prints train-rm rm.yaml --set output=judge --set judge=pairs

# Training runs. Untrained models replace the models that self-play would train.
writes train.yaml "policy: $models/agon-tiny" 'sources: [{suite: charts, level: 1, prompts: 1}]' 'samples: 2' 'steps: 1' 'threads: 1' \
  'method: adpo' 'optimizer: {warmup_steps: 0}' 'record_every: 1'
prints train train.yaml --set output=train --set 'evaluation={every: 1, tasks: 2, samples: 2}'
prints train train.yaml --set output=train-unmeasured --set evaluation.every=0
writes sft.yaml "start: $models/agon-tiny" 'sources: [{suite: charts, level: 1}]' 'steps: 1' 'warmup_steps: 0' 'threads: 1' 'output: sft'
prints train-sft sft.yaml
writes selfplay.yaml "critic: $models/agon-tiny" "sneaky: $models/agon-tiny" "solvers: [$models/agon-tiny]" \
  'sources: [{suite: charts, level: 1, games: 2}]' 'rounds: 1' 'max_tokens: 8' 'output: selfplay'
"$agon" selfplay selfplay.yaml >/dev/null 2>&1
for player in critic sneaky; do
  mkdir -p selfplay/round-1/$player
  cp "$models"/agon-tiny/* selfplay/round-1/$player
done
prints selfplay selfplay.yaml --resume

# Every kind of run, and episodes.
for run in run twice guided train selfplay preferences; do prints show $run; done
for run in run twice tools; do prints show $run 0; done
prints show train "$(value episodes/0/task_index <("$agon" show train --json))"

# Credit by every method, for a group that has the inputs of all of them.
python3 - >group.json <<'PY'
import json
rollouts = [{"answer_reward": right, "correct": bool(right), "score": score, "truncated": score is None,
             "segments": [["step", 2, 0], ["step", 2, 0], ["answer", 2, 0], ["score", 1, 0], ["answer", 2, 1]],
             "turn_correct": [not right, bool(right)], "step_confidence": [-3, -2 + right, -1], "step_visual": [0.1, 2 - right]}
            for right, score in ((1, 0.9), (0, 0.2), (1, None))]
json.dump({"rollouts": rollouts}, __import__("sys").stdout)
PY
prints credit --list
for method in $("$agon" credit --list --json | python3 -c 'import json, sys; print(*(one["name"] for one in json.load(sys.stdin)))'); do
  prints credit "$method" group.json
done
prints credit dapo group.json --set overlong_buffer=4 --set max_tokens=8
prints credit adpo run 0 --policy "$models/agon-tiny"

prints grade "$tour/answers.jsonl"
prints grade "$tour/answers.jsonl" --explain

writes make.py 'import shutil' 'shutil.copy("chart-1.png", "new.png")' 'open("bad.png", "w").write("text")'
writes raise.py 'raise SystemError("no")'
prints exec --floor C --module '' --image "$tour/chart-1.png" --out pictures --fork-after 1 make.py make.py
"$agon" exec --floor C --module '' raise.py --json >raised.json 2>/dev/null && fail "a script that raises ended well"
printf 'exec\traised.json\tagon exec raise.py\n' >>printed

# Every command that has --json has a schema and was run; every schema has a command.
commands=$("$agon" completion fish | sed -n "s/.*__fish_seen_subcommand_from \([a-z-]*\)' -l json .*/\1/p")
[ "$(wc -w <<<"$commands")" -ge 22 ] || fail "only these commands have --json: $commands"
for command in $commands; do
  [ -f "$schemas/$command.schema.json" ] || { fail "agon $command has --json and no docs/json/$command.schema.json"; continue; }
  grep -qF "json/$command.schema.json" "$source/docs/json.md" || fail "docs/json.md does not list json/$command.schema.json"
  grep -q "^$command	" printed || fail "no run of agon $command --json here"
done
for schema in "$schemas"/*.schema.json; do
  command=$(basename "$schema" .schema.json)
  [ "$command" = common ] || grep -qxF "$command" <<<"$commands" || fail "agon $command has no --json, and $schema is there"
done
# Debian's Python, for which script/bootstrap installs the library.
/usr/bin/python3 "$here/json_schema.py" "$schemas" printed || failures=$((failures + 1))
echo "$number outputs"

finish
