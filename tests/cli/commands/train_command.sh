#!/usr/bin/env bash
# agon train on the command line: killed and resumed, wrong configs, folders of other programs, a report of the run.
# usage: train_command.sh AGON MODEL
agon=$1 model=$2
. "$(dirname "$0")/helpers.sh"
cd "$scratch" || exit 1


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

says 0 "model: whole/model" "$agon" train small.yaml --set output=whole
# Killed right after its first checkpoint and again a little later; the result is the same, bit for bit.
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
says 0 "model: killed/model" "$agon" train small.yaml --set output=killed --resume
cmp -s whole/model/model.safetensors killed/model/model.safetensors || fail "the resumed training ended with other weights"

says 1 "--resume" "$agon" train small.yaml --set output=whole
says 1 "seed" "$agon" train small.yaml --set output=whole --set seed=9 --resume
says 1 "learning_rate" "$agon" train small.yaml --set output=x --set optimizer.learning_rat=1
says 1 "grpo" "$agon" train small.yaml --set output=x --set method=grop
says 1 "nowhere.yaml" "$agon" train nowhere.yaml
{ cat small.yaml; echo 'role: solver'; echo 'role: solver'; } >twice.yaml
says 1 "'role' is given twice" "$agon" train twice.yaml --set output=x
echo 'a: &a [*a, *a]' >anchors.yaml
says 1 "nested more than 32 deep" "$agon" train anchors.yaml
{ echo 'a0: &a0 [1]'; for i in {1..20}; do echo "a$i: &a$i [*a$((i - 1)), *a$((i - 1)), *a$((i - 1))]"; done; } >laughs.yaml
says 1 "more than 100000 values" "$agon" train laughs.yaml
says 1 "'threads' must lie between 0 and 1024" "$agon" train small.yaml --set output=x --set threads=100000
says 1 "as sources: [{suite: charts" "$agon" train --set output=x
says 1 "no such model" "$agon" train small.yaml --set output=x --set "policy=no such model"
[ ! -e x ] || fail "a training run that cannot start left its folder behind"
says 0 "learning_rate: " "$agon" train small.yaml --set output=x --print-config
"$agon" train small.yaml --set output=x --print-config >printed.yaml
says 0 "steps: 8" "$agon" train printed.yaml --print-config

# A path in a file is relative to the file, one on the command line to the working folder, for every command; a printed
# path can be typed.
mkdir conf
printf 'output: ../there\npolicy: %s\nsources: [{suite: charts}]\n' "$model" >conf/train.yaml
printf 'output: ../there\nstart: %s\nsources: [{suite: charts}]\nsteps: 1\nwarmup_steps: 0\n' "$model" >conf/train-sft.yaml
printf 'output: ../there\nmodel: %s\ndata: [p.jsonl]\n' "$model" >conf/train-rm.yaml
printf 'output: ../there\ncritic: %s\nsneaky: %s\nsolvers: [%s]\nsources: [{suite: charts}]\n' "$model" "$model" "$model" >conf/selfplay.yaml
for command in train train-sft train-rm selfplay; do
  says 0 "output: there" "$agon" $command conf/$command.yaml --print-config
  says 0 "output: mine" "$agon" $command conf/$command.yaml --print-config --set output=mine
  cd conf || exit 1
  says 0 "output: ../there" "$agon" $command $command.yaml --print-config
  says 0 "output: mine" "$agon" $command $command.yaml --print-config --set output=mine
  cd ..
done
says 0 "data: [conf/p.jsonl]" "$agon" train-rm conf/train-rm.yaml --print-config
# Before version 0.2 paths of agon train were relative to the working folder: files that exist only there are still
# found.
echo 'reference: model' >>conf/train.yaml
ln -s "$model" model
says 0 "reference: model" "$agon" train conf/train.yaml --print-config --set credit.kl=0.1
says 1 "Paths in a config are relative to its file now: write '../model'" "$agon" train conf/train.yaml --set output=whole --set credit.kl=0.1

mkdir foreign && echo mine >foreign/notes.txt
says 1 "foreign" "$agon" train small.yaml --set output=foreign
[ "$(cat foreign/notes.txt)" = mine ] || fail "somebody else's file was changed"

says 0 "steps: 8" "$agon" train --set steps=8 small.yaml --print-config
says 1 "'output' is missing" "$agon" train --set "sources=[{suite: charts}]"
says 0 "output: " "$agon" train --print-config --set "sources=[{suite: charts}]"
says 1 "Did you mean 'accuracy'" "$agon" train small.yaml --set output=x2 --set rewards.acuracy=1
says 1 "turn" "$agon" train small.yaml --set output=x3 --set method=adapo
says 0 "model: x3/model" "$agon" train small.yaml --set output=x3 --set steps=1 --set 'evaluation={every: 0}'
says 0 "accuracy: 1" "$agon" train small.yaml --set output=x --print-config --set rewards.format=0.1
says 1 "'rewards' must name a component" "$agon" train small.yaml --set output=x --set "rewards={}"
says 1 "'loss.clip_low' must lie in [0, 1]" "$agon" train small.yaml --set output=x --set loss.clip_low=2
says 1 "'loss.kl_estimator' is k1" "$agon" train small.yaml --set output=x --set loss.kl_estimator=k1
says 0 "3 to 5 times slower" "$agon" train small.yaml --set output=x4 --set steps=1 --set precision=bfloat16
says 1 "no such model folder" "$agon" train small.yaml --set output=x --set reference=foreign
says 0 "max_tokens: 24" "$agon" train small.yaml --set output=x --print-config --set method=dapo --set sampling.max_tokens=24

# A full disk while a checkpoint is written ends the training with a message; with free space it resumes.
full() { (trap '' XFSZ; ulimit -f 9000; exec "$@"); }  # files of 9 MB at most: the optimiser's is larger
says 1 "optimizer.pt" full "$agon" train small.yaml --set output=full
says 0 "model: full/model" "$agon" train small.yaml --set output=full --resume
cmp -s whole/model/model.safetensors full/model/model.safetensors || fail "after the full disk it ended with other weights"

# A training run that is stopped while it chooses tasks chooses them again.
choosing=(--set filter.offline=true --set filter.offline_tasks=150 --set steps=1 --set 'evaluation={every: 0}')
says 0 "model: chosen/model" "$agon" train small.yaml --set output=chosen "${choosing[@]}"
"$agon" train small.yaml --set output=stopped "${choosing[@]}" >log.txt 2>&1 &
victim=$!
sleep 0.7
kill -INT "$victim" 2>/dev/null
wait "$victim" 2>/dev/null
says 0 "model: stopped/model" "$agon" train small.yaml --set output=stopped "${choosing[@]}" --resume
cmp -s chosen/model/model.safetensors stopped/model/model.safetensors || fail "other tasks were chosen after a stop"
says 1 "Raise filter.offline_tasks" "$agon" train small.yaml --set output=few --set filter.offline=true --set filter.offline_tasks=1

says 0 "report" "$agon" report whole
grep -q "entropy" whole/report.html || fail "the report has no curve of the entropy"
says 0 "tasks" "$agon" run --policy whole/best --suite charts --tasks 2 --samples 1 --out run

finish
