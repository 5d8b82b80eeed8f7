#!/usr/bin/env bash
# credit_command.sh AGON MODEL: agon credit on the command line: numbers computed by hand, groups of a recorded run, and
# every error.
agon=$1 model=$2
. "$(dirname "$0")/helpers.sh"

# rollout KEYS: a roll-out that every method accepts, followed by KEYS, which may replace its own keys.
rollout() {  # with these keys in the place of its own, or beside them
  python3 -c 'import json, sys
print(json.dumps({"answer_reward": 1, "correct": True, "score": None, "segments": [["answer", 2]], **json.loads("{" + sys.argv[1] + "}")}), end="")' "${1:-}"
}
# shows WORDS INPUT ARGUMENTS...: exits with 0, and the output holds WORDS.
shows() {
  local words=$1 input=$2
  shift 2
  "$agon" credit "$@" --json <<<"$input" >"$scratch/out" 2>"$scratch/err" || fail "credit $*: $(cat "$scratch/err")"
  grep -qF -- "$words" "$scratch/out" || fail "credit $* on $input: output lacks $words: $(cat "$scratch/out")"
}

# refused and misused WORDS INPUT ARGUMENTS...: for errors in the input, and in the command line.
refused() { refuses 1 "$1" "$agon" credit "${@:3}" <<<"$2"; }
misused() { refuses 2 "$1" "$agon" credit "${@:3}" <<<"$2"; }

# Numbers computed by hand.
right='{"answer_reward": 1, "correct": true, "score": 0.9, "segments": [["answer", 2], ["score", 1]]}'
wrong='{"answer_reward": 0, "correct": false, "score": 0.8, "segments": [["answer", 4]]}'
shows '"advantage": [0.75, 0.75, 0.75]' "[$right, $wrong, $wrong, $wrong]" grpo --set std=false
shows '"advantage": [1.5, 1.5, 1.5]' "[$right, $wrong, $wrong, $wrong]" grpo --set epsilon=0
shows '"weight": [0.0625, 0.0625, 0.0625, 0.0625]' "{\"rollouts\": [$right, $wrong, $wrong, $wrong]}" grpo
shows '"preference_reward": 1.0' "[$right, $wrong]" adpo
shows '"weight": [0.25, 0.25, 0.5]' "[$right, $wrong]" adpo
shows '"settings": {"kl": 0.02' "[$right]" adpo --set kl=0.02
shows '"filtered": "all are right"' "[$right]" dapo
shows '"advantage": []' "[$right, {\"answer_reward\": 0, \"correct\": false, \"segments\": []}]" grpo
turns='"segments": [["answer", 1, 0], ["tool", 2, 0], ["answer", 1, 1]]'
shows '"kl": [0.009, 0.0, 0.0, 0.001]' "[$(rollout "$turns, \"turn_correct\": [false, true]"), $(rollout "$turns, \"turn_correct\": [false, false]")]" adapo
shows '"reward_01": 1.4' "[$(rollout "$turns, \"turn_correct\": [false, true]"), $(rollout "$turns, \"turn_correct\": [false, false]")]" adapo
steps='"segments": [["step", 2], ["step", 1], ["answer", 1]], "step_confidence": [-3, -1, -2], "step_visual": [0.1, 2]'
shows '"clusters": ["textual", "visual"]' "[$(rollout "$steps")]" pdcr
shows '"threshold": 1.05' "[$(rollout "$steps")]" pdcr
shows '"score": null' "[$(rollout '"score": 1.5')]" adpo

# The same for a terminal, from a file.
printf '%s' "[$right, $wrong]" >"$scratch/group.json"
"$agon" credit adpo "$scratch/group.json" >"$scratch/out" || fail "credit of a file"
grep -q '^roll-out 0: .*preference_reward 1' "$scratch/out" || fail "no figures: $(cat "$scratch/out")"
grep -Eq '^  tokens +0-1 +advantage +0.7071 +KL +0.01 +weight +0.25$' "$scratch/out" || fail "no tokens: $(cat "$scratch/out")"

# The list of methods.
"$agon" credit --list | grep -q '^adapo' || fail "--list has no adapo"
shows '"name": "adpo"' '' --list

# A recorded run: a number for every token that the policy wrote.
"$agon" run --policy "$model" --suite charts --tasks 2 --samples 3 --max-tokens 24 --out "$scratch/run" >/dev/null 2>&1 || fail "the run to look at"
shows '"sample": 2' '' grpo "$scratch/run" 1 --policy "$model"
for sample in 0 1 2; do
  tokens=$(sqlite3 "$scratch/run/run.sqlite" "SELECT sum(length(token_ids)) / 4 FROM turns t JOIN episodes e ON t.episode_id = e.id
    WHERE task_index = 1 AND sample = $sample")
  weights=$(grep '"weight": ' "$scratch/out" | sed -n "$((sample + 1))p" | tr -cd ',' | wc -c)
  [ "$((weights + 1))" = "$tokens" ] || fail "sample $sample: $((weights + 1)) weights for $tokens tokens"
done
[ "$(grep -c '"weight": ' "$scratch/out")" = 3 ] || fail "the greedy sample is no part of the group"
# A method that needs confidence asks the model that played, and no other.
cp -rL "$model" "$scratch/other"
echo >>"$scratch/other/config.json"
refused 'was played by' '' pdcr "$scratch/run" 1 --policy "$scratch/other"
shows '"files": ' '' pdcr "$scratch/run" 1 --policy "$model"
for key in run/path run/hash policy/path policy/files; do
  value "provenance/$key" "$scratch/out" >/dev/null || fail "the provenance has no $key"
done
misused 'accuracy is given twice' '' grpo "$scratch/run" 1 --policy "$model" --reward accuracy=1 --reward accuracy=2
# The settings of a training run are read from its run.
printf 'policy: %s\nsources: [{suite: charts, level: 2, prompts: 2}]\nsamples: 3\nsampling: {max_tokens: 24}\nsteps: 1\nthreads: 1\nrecord_every: 1\nrewards: {format: 1}\nmethod: adpo\ncredit: {mode: pairwise}\nfilter: {offline: false}\n' "$model" >"$scratch/train.yaml"
"$agon" train "$scratch/train.yaml" --set output="$scratch/training" >/dev/null 2>"$scratch/err" || fail "the training to look at: $(tail -1 "$scratch/err")"
task=$(sqlite3 "$scratch/training/run.sqlite" "SELECT task_index FROM episodes WHERE step IS NOT NULL LIMIT 1")
shows '"mode": "pairwise"' '' adpo "$scratch/training" "$task" --policy "$model"
shows '"mode": "mean"' '' adpo "$scratch/training" "$task" --policy "$model" --set mode=mean
shows '"answer_reward": 0.0' '' grpo "$scratch/run" 1 --policy "$model" --reward tool=2 --reward accuracy=0
refused "component: no 'acuracy'. Did you mean 'accuracy'" '' grpo "$scratch/run" 1 --policy "$model" --reward acuracy=1
refused 'task 7 has no finished sample' '' grpo "$scratch/run" 7 --policy "$model"
misused 'which task of' '' grpo "$scratch/run"
refused 'TASK selects from a run folder' "[$(rollout)]" grpo - 1
refused 'is neither a run folder nor a file' '' grpo "$scratch/none" 0
refused 'turn_correct' '' adapo "$scratch/run" 1 --policy "$model"
misused "'x' is not a weight" '' grpo "$scratch/run" 1 --policy "$model" --reward accuracy=x

# Errors.
good=$(rollout)
misused "Did you mean 'adapo'" "[$good]" adapoo
misused 'METHOD is missing' "[$good]"
misused "Did you mean 'epsilon'" "[$good]" grpo --set epsilom=1
misused "'kl' is not KEY=VALUE" "[$good]" grpo --set kl
misused 'kl must be a number from 0, got "x"' "[$good]" grpo --set kl=x
misused 'kl must be' "[$good]" grpo --set kl=nan
misused 'mode must be mean or pairwise' "[$good]" adpo --set mode=median
refused 'standard input: is empty' '' grpo
refused 'standard input: not JSON: line 1, column 20: syntax' '[{"answer_reward": NaN}]' grpo
refused 'JSON has no NaN' '[{"answer_reward": NaN}]' grpo
refused 'Numbers are finite' '[{"answer_reward": 1e999}]' grpo
refused 'expected {"rollouts": [...]} or an array' '{"rollout": []}' grpo
refused 'expected {"rollouts": [...]} or an array' '7' grpo
refused 'the group is empty' '[]' grpo
refused 'standard input: roll-out 1: expected keys and values' "[$good, 3]" grpo
refused "roll-out 1: 'answer_reward' is missing" "[$good, {\"correct\": true, \"segments\": []}]" grpo
refused "roll-out 0: 'answer_reward' is missing" "[$(rollout '"answer_reward": null')]" grpo
refused "roll-out 0: 'answer_reward' must be a number, got \"1\"" "[$(rollout '"answer_reward": "1"')]" grpo
refused 'roll-out 0 has the answer_reward 1e+300' "[$(rollout '"answer_reward": 1e300')]" grpo
refused "roll-out 0: 'correct' must be true or false, got 1" "[$(rollout '"correct": 1')]" grpo
refused "roll-out 0: 'score' must be a number, got \"high\"" "[$(rollout '"score": "high"')]" grpo
refused "roll-out 1: 'segments' is missing" "[$good, {\"answer_reward\": 1, \"correct\": true}]" grpo
refused "roll-out 0: 'segments' must be" "[$(rollout '"segments": ["answer", 2]')]" grpo
refused "of the kinds think, step, answer, score, tool, got \"anwser\"" "[$(rollout '"segments": [["anwser", 2]]')]" grpo
refused "numbers of tokens from 0, got -1" "[$(rollout '"segments": [["answer", -1]]')]" grpo
refused "numbers of tokens from 0, got 2.5" "[$(rollout '"segments": [["answer", 2.5]]')]" grpo
refused "numbers of tokens from 0, got \"99999999999999999999\"" "[$(rollout '"segments": [["answer", 99999999999999999999]]')]" grpo
refused 'more than 16777216 tokens' "[$(rollout '"segments": [["answer", 16777216], ["answer", 1]]')]" grpo
refused "count turns from 0, got -1" "[$(rollout '"segments": [["answer", 1, -1]]')]" grpo
refused 'roll-out 1 has 0 entries in turn_correct' "[$(rollout '"turn_correct": [true, true]'), $good]" adapo
refused "'turn_correct' must be true or false, got 1" "[$(rollout '"turn_correct": [1, 0]')]" adapo
refused "no key 'turn_corect'. Did you mean 'turn_correct'" "[$(rollout '"turn_corect": [true, true]')]" adapo
refused 'its 1 steps' "[$(rollout '"segments": [["step", 1]], "step_confidence": [-1]')]" pdcr
refused "'step_visual' must be a number, got null" "[$(rollout '"segments": [["step", 1]], "step_confidence": [-1, -2], "step_visual": [null]')]" pdcr
refused "'truncated' must be true or false" "[$(rollout '"truncated": "no"')]" grpo

finish
