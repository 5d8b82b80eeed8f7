#!/usr/bin/env bash
# reward_model_command.sh AGON UNTAUGHT MODEL: make-preferences, train-rm, eval-rm and score, a reward model as
# verifier, critic and reward, kills at random moments, and every error.
agon=$1 untaught=$2 model=$3
. "$(dirname "$0")/helpers.sh"

# does COMMAND...: the command has to succeed; stdout goes to $scratch/out, stderr to $scratch/err.
does() { "$@" >"$scratch/out" 2>"$scratch/err" || fail "$*: $(cat "$scratch/err")"; }
# kill_after SECONDS COMMAND...: kill -9 after that time, in whatever state.
kill_after() {
  "${@:2}" >/dev/null 2>&1 &
  sleep "$1"
  kill -9 $! 2>/dev/null
  wait $! 2>/dev/null
}

# Preferences: every set has a single best response. A killed run is resumed and ends like an undisturbed one.
make=("$agon" make-preferences --suite charts --suite shapes --tasks 24 --policy "$model" --samples 4 --corrupted 2)
does "${make[@]}" --out "$scratch/whole" --json
cp "$scratch/out" "$scratch/made.json"
[ "$(value tasks "$scratch/made.json")" = 48 ] || fail "tasks: $(cat "$scratch/made.json")"
sets=$(value sets "$scratch/made.json")
[ "$sets" = "$(wc -l <"$scratch/whole/preferences.jsonl")" ] || fail "the file has not as many sets as the summary"
python3 - "$scratch/whole/preferences.jsonl" <<'CHECK' || fail "a set is not of the form"
import json, os, sys
for line in open(sys.argv[1]):
    one = json.loads(line)
    assert len(one["responses"]) == len(one["rank"]) == 4 and one["rank"].count(1) == 1, one
    assert len(set(one["responses"])) == 4, one
    assert all(os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), p)) for p in one["images"]), one
CHECK
for seconds in 0.1 0.3; do kill_after $seconds "${make[@]}" --out "$scratch/killed" --resume; done
does "${make[@]}" --out "$scratch/killed" --resume
cmp "$scratch/whole/preferences.jsonl" "$scratch/killed/preferences.jsonl" || fail "killed preferences differ"
# Preferences by the votes of two judges, even untrained ones.
says 1 "no task gave responses that the judges tell apart" "$agon" make-preferences --tasks 2 --policy "$model" --judge "$untaught" \
  --max-tokens 20 --out "$scratch/judged"
grep -q "charts: verdicts: .* invalid" "$scratch/out" || fail "it does not say what became of the verdicts"
refuses 2 "cannot choose --responses 11 from the 10 written" "$agon" make-preferences --policy "$model" --responses 11 --samples 8 \
  --corrupted 2 --out "$scratch/refused"
refuses 2 "plays a file of tasks" "$agon" make-preferences --suite jsonl --out "$scratch/refused"
refuses 2 "so none is left from --first-task 100000 on" "$agon" make-preferences --split test --first-task 100000 --out "$scratch/refused"
[ ! -e "$scratch/refused" ] || fail "refused preferences leave a folder"

refuses 1 "holds no episodes of a suite" "$agon" eval-critic --critic oracle --run "$scratch/whole"

# Training: after a kill it resumes and ends with the same weights.
cat >"$scratch/rm.yaml" <<CONFIG
output: rm
model: $model
data: [whole/preferences.jsonl]
held_out: 0.2
epochs: 2
batch: 4
learning_rate: 0.002
lora: {rank: 4}
checkpoint_steps: 3
threads: 1
CONFIG
does "$agon" train-rm "$scratch/rm.yaml" --json
cp "$scratch/out" "$scratch/notes.json"
[ "$(value held_out/sets "$scratch/notes.json")" -gt 0 ] || fail "no held-out figures"
[ "$(wc -l <"$scratch/rm/train.jsonl")" = "$(value steps "$scratch/notes.json")" ] || fail "not one line a step"
for seconds in 1 2; do kill_after $seconds "$agon" train-rm "$scratch/rm.yaml" --set "output=$scratch/again" --resume; done
refuses 1 "Resume it with --resume" "$agon" train-rm "$scratch/rm.yaml"
does "$agon" train-rm "$scratch/rm.yaml" --set "output=$scratch/again" --resume
[ "$(wc -l <"$scratch/again/train.jsonl")" = "$(value steps "$scratch/notes.json")" ] || fail "killed: not one line a step"
for file in adapter_model reward_head; do
  cmp "$scratch/rm/$file.safetensors" "$scratch/again/$file.safetensors" || fail "killed training: $file differs"
done

does "$agon" report "$scratch/rm"
[ -s "$scratch/rm/report.html" ] || fail "no curves of the training"
refuses 1 "is a file of the run itself" "$agon" report "$scratch/rm" --out "$scratch/rm/train.jsonl"

as_judge=(--set lora.rank=64 --set held_out=0.05)  # a judge has neither
# Finished work is not repeated and not overwritten.
does timeout 5 "$agon" train-rm "$scratch/rm.yaml" --resume --json
cmp "$scratch/out" "$scratch/notes.json" || fail "a finished training says other things than when it ended"
refuses 1 "is of another training run: it has no seed, not seed = 2" "$agon" train-rm "$scratch/rm.yaml" --resume --set seed=2
for words in 'Made by agon ' '| best of N [95 %] |'; do
  grep -qF "$words" "$scratch/rm/README.md" || fail "the card lacks '$words'"
done
refuses 1 "that this training run did not write" "$agon" train-rm "$scratch/rm.yaml" --resume "${as_judge[@]}" --set judge=pairs
mkdir "$scratch/somebodys"
cp "$model"/* "$scratch/somebodys"
for form in none pairs; do
  refuses 1 "that this training run did not write" "$agon" train-rm "$scratch/rm.yaml" "${as_judge[@]}" --set judge=$form --set "output=$scratch/somebodys"
done
cmp "$model/model.safetensors" "$scratch/somebodys/model.safetensors" || fail "a model is written over"
[ ! -e "$scratch/somebodys/lock" ] || fail "a refused training leaves a lock"
mkdir "$scratch/notes"
echo mine >"$scratch/notes/README.md"
for form in none pairs; do
  refuses 1 "holds a README.md" "$agon" train-rm "$scratch/rm.yaml" "${as_judge[@]}" --set judge=$form --set "output=$scratch/notes"
done
[ "$(cat "$scratch/notes/README.md")" = mine ] || fail "somebody's README.md is written over"

refuses 1 "'epochs' must be a whole number" "$agon" train-rm "$scratch/rm.yaml" --set epochs=1.5 --set "output=$scratch/refused"
refuses 1 "'epochs' must be a whole number" "$agon" train-rm "$scratch/rm.yaml" --set epochs=4294967297 --set "output=$scratch/refused"
refuses 1 "Write a list" "$agon" train-rm "$scratch/rm.yaml" --set data=p.jsonl --set "output=$scratch/refused"
refuses 1 "'charts' must lie between 1e-06 and 1000000, got 0" "$agon" train-rm "$scratch/rm.yaml" --set 'weights={charts: 0}' --set "output=$scratch/refused"

refuses 1 "'threads' must lie between 0 and 1024, got 100000" "$agon" train-rm "$scratch/rm.yaml" --set threads=100000 \
  --set "output=$scratch/refused"
refuses 1 "got -1" "$agon" train-rm "$scratch/rm.yaml" --set threads=-1 --set "output=$scratch/refused"
refuses 1 "'inner' must lie between 1 and 65536, got 100000" "$agon" train-rm "$scratch/rm.yaml" --set inner=100000 --set "output=$scratch/refused"
[ ! -e "$scratch/refused" ] || fail "a refused training leaves a folder"

# Scores and figures.
cat >"$scratch/two.json" <<'JSON'
{"prompt": "Which bar is highest?", "responses": ["<answer>red</answer>", "", "<answer>red</answer>"]}
JSON
does "$agon" score --reward-model "$scratch/rm" "$scratch/two.json" --json
[ "$(value scores "$scratch/out" | tr ',' '\n' | wc -l)" = 3 ] || fail "three responses, not three scores"
echo '{"prompt": "p", "imges": ["x.png"], "responses": ["a"]}' >"$scratch/typo.json"
refuses 1 "Did you mean 'images'" "$agon" score --reward-model "$scratch/rm" "$scratch/typo.json"
# Without --reward-model the reward model of agon scores: only the first answer fits the picture.
does "$agon" score "$(dirname "$0")/../../../docs/tour/responses.json" --json
[ "$(value best "$scratch/out")" = 0 ] || fail "models/agon-tiny-reward does not take the right answer for the best"
"$agon" score --reward-model "$scratch/rm" - <"$scratch/two.json" | grep -q '^\*' || fail "score marks none as best"
does "$agon" eval-rm --reward-model "$scratch/rm" --file "$scratch/whole/preferences.jsonl" --json
for name in best_of_n pairwise kendall_tau macro ci/best_of_n/0 order/deviation; do value "$name" "$scratch/out" >/dev/null || fail "no $name"; done
[ "$(value sets "$scratch/out")" = "$sets" ] && [ "$(value n/best_of_n "$scratch/out")" = "$sets" ] || fail "eval-rm: not every set"
long=$(printf 'word %.0s' $(seq 6000))
cat >"$scratch/odd.jsonl" <<JSON
{"id": "even", "prompt": "a", "responses": ["b", "c"], "rank": [1, 1]}
{"id": "fine", "prompt": "a", "responses": ["b", "c"], "rank": [1, 2]}
JSON
does "$agon" eval-rm --reward-model "$scratch/rm" --file "$scratch/odd.jsonl" --json
[ "$(value sets "$scratch/out")" = 1 ] && [ "$(value without_order "$scratch/out")" = 1 ] || fail "a set of one rank counts"
echo "{\"id\": \"the long one\", \"prompt\": \"a\", \"responses\": [\"$long\", \"c\"], \"rank\": [1, 2]}" >>"$scratch/odd.jsonl"
refuses 1 "eval-rm: set 'the long one'" "$agon" eval-rm --reward-model "$scratch/rm" --file "$scratch/odd.jsonl"
head -1 "$scratch/odd.jsonl" >"$scratch/even.jsonl"
refuses 1 "no order to measure" "$agon" eval-rm --reward-model "$scratch/rm" --file "$scratch/even.jsonl"
does "$agon" eval-rm --choose "$model" --max-tokens 8 --file "$scratch/whole/preferences.jsonl" --json
[ "$(value judge/asked "$scratch/out")" = "$sets" ] || fail "the judge was not asked of every set"
[ "$(value judge/too_long "$scratch/out")" = 0 ] || fail "a request of the judge is too long"

# As verifier, critic and reward.
does "$agon" run --policy "$model" --tasks 6 --samples 4 --reward-model "$scratch/rm" --out "$scratch/run" --json
for n in 1 2 4; do value "verified/$n" "$scratch/out" >/dev/null || fail "run --reward-model: no figure of $n"; done
[ "$(value run "$scratch/out")" = "$scratch/run" ] || fail "run: its folder is not told"
[ "$(value reward_model "$scratch/out")" = "$scratch/rm" ] || fail "run: its reward model is not told"
[ "$(value verified/1 "$scratch/out")" = "$(value pass_at_1 "$scratch/out")" ] || fail "the best of one is not that one"
verified=$(value verified "$scratch/out")
does "$agon" run --policy "$model" --tasks 6 --samples 4 --out "$scratch/run" --resume --json
[ "$(value verified "$scratch/out")" = "$verified" ] || fail "a run that is finished loses what the verifier made of it"
does "$agon" show "$scratch/run" --json
[ "$(value summary/verified "$scratch/out")" = "$verified" ] || fail "show leaves the verifier out"
refuses 1 "holds preferences and no episodes" "$agon" show "$scratch/whole"
does "$agon" train-rm "$scratch/rm.yaml" --set "output=$scratch/unfitted" --set held_out=0 --set epochs=1
refuses 1 "trained without held-out sets" "$agon" search --policy "$model" --critic "reward-model:$scratch/unfitted" --tasks 1 --out "$scratch/unfitted-search"
does "$agon" search --policy "$model" --critic "reward-model:$scratch/rm" --method guided --tasks 3 --out "$scratch/search" --json
[ "$(value critic_tokens "$scratch/out")" = 0 ] || fail "a reward model writes no tokens"
does "$agon" search --policy "$model" --critic "reward-model:$scratch/rm" --method best-of-n --rank last --samples 3 --tasks 3 --out "$scratch/best" --json
[ "$(value judged_steps "$scratch/out")" -gt 0 ] || fail "the reward model was not asked for the best of n"
does "$agon" report "$scratch/run"
grep -q '"verified":{' "$scratch/run/report.html" || fail "the report leaves the verifier out"
cat >"$scratch/train.yaml" <<CONFIG
output: $scratch/trained
policy: $model
method: grpo
reward_model: $scratch/rm
rewards: {reward_model: 1}
samples: 4
steps: 1
sources: [{suite: charts, prompts: 2}]
threads: 1
CONFIG
does "$agon" train "$scratch/train.yaml"

# Errors.
refuses 2 "give one of --reward-model, --judge and --choose" "$agon" eval-rm --file "$scratch/whole/preferences.jsonl"
refuses 1 "no reward_model.json" "$agon" score --reward-model "$model" "$scratch/two.json"
refuses 2 "--reward-model compares whole responses" "$agon" run --suite phone --policy "$model" --reward-model "$scratch/rm" --out "$scratch/none"
refuses 1 "nowhere" "$agon" run --tasks 1 --policy "$model" --reward-model "$scratch/nowhere" --out "$scratch/none"
refuses 2 "--policy $model/ is given twice" "$agon" make-preferences --policy "$model" --policy "$model/" --out "$scratch/refused"
refuses 2 "--temperature 1 is given twice" "$agon" make-preferences --temperature 1 --temperature 1.0 --out "$scratch/refused"
refuses 2 "--repeats" "$agon" make-preferences --repeats --responses 2 --out "$scratch/refused"
refuses 2 "--judge" "$agon" eval-rm --reward-model "$scratch/rm" --no-swap --file "$scratch/whole/preferences.jsonl"
refuses 1 "is a file of the run itself" "$agon" report "$scratch/whole" --out "$scratch/whole/preferences.jsonl"
refuses 2 "--suite charts is given twice" "$agon" make-preferences --suite charts --suite shapes --suite charts --out "$scratch/refused"
refuses 2 "are both 0" "$agon" make-preferences --samples 0 --corrupted 0 --out "$scratch/refused"
refuses 2 "phone has up to" "$agon" make-preferences --suite phone --policy "$model" --out "$scratch/refused"
[ ! -e "$scratch/refused" ] || fail "refused preferences leave a folder"
does "$agon" make-preferences --samples 0 --corrupted 6 --tasks 8 --responses 2 --out "$scratch/corrupted" --json
refuses 2 "--responses" "$agon" make-preferences --responses 1
refuses 1 "responses" "$agon" score --reward-model "$scratch/rm" - <<<'{"prompt": "a", "responses": []}'
for picture in data:image/png\;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ http://example.org/a.png file:///a.png; do
  refuses 1 "is a URL, and agon reads pictures only from files" "$agon" score --reward-model "$scratch/rm" - <<<"{\"prompt\": \"a\", \"images\": [\"$picture\"], \"responses\": [\"b\"]}"
done
refuses 1 "nowhere.png" "$agon" score --reward-model "$scratch/rm" - <<<'{"prompt": "a", "images": ["nowhere.png"], "responses": ["b"]}'
finish
