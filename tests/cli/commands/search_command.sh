#!/usr/bin/env bash
# search_command.sh AGON UNTAUGHT MODEL: agon search, replay and show on the command line: methods, budgets, kills at
# random moments, and every error.
agon=$1 untaught=$2 model=$3
. "$(dirname "$0")/helpers.sh"

# play NAME ARGUMENTS...: a search into $scratch/NAME, its summary in $scratch/NAME.json.
play() {
  local name=$1
  shift
  "$agon" search --policy "$model" --out "$scratch/$name" --json "$@" >"$scratch/$name.json" 2>"$scratch/err" ||
    fail "search $*: $(cat "$scratch/err")"
}
# is EXPECTED PATH NAME
is() { [ "$(value "$2" "$scratch/$3.json")" = "$1" ] || fail "$3: $2 is $(value "$2" "$scratch/$3.json"), expected $1"; }

# Greedy search gives the greedy answer of agon run.
play greedy --method greedy --tasks 30
"$agon" run --policy "$model" --tasks 30 --samples 1 --out "$scratch/run" --json >"$scratch/run.json" 2>/dev/null
is "$(value greedy "$scratch/run.json")" accuracy greedy
is 30 tasks greedy
is 0 critic_tokens greedy
is "$scratch/greedy" run greedy

# Every method ends, on one turn and on several, and answers each task.
for method in best-of-n majority weighted-majority guided beam diverse-beam mcts particles; do
  case $method in majority) by="" ;; guided | particles) by="--critic oracle" ;; *) by="--critic oracle --rank min" ;; esac
  case $method in guided) by+=" --attempts 3" ;; *) by+=" --samples 3" ;; esac
  case $method in *beam | mcts) by+=" --width 2" ;; esac
  play "$method" --method $method $by --tasks 4
  is "$method" method "$method"
  is 0 unanswered "$method"
  is 0 failed "$method"
done
# Retries that never repeat a step have their own default temperature.
sampled_at() { grep -Eq "\"temperature\": ?$2[,.]" "$scratch/$1/config.json" || fail "$1: not at temperature $2"; }
sampled_at guided 0.5
sampled_at beam 1
play warm --critic oracle --tasks 1 --temperature 1
sampled_at warm 1
play spc --critic oracle --tasks 1 --retry independent
sampled_at spc 1
play turns --suite phone --method beam --critic oracle --samples 2 --width 2 --tasks 2 --max-tokens 60
[ "$(value env_steps "$scratch/turns.json")" -gt 4 ] || fail "beam on phone: one turn"

# The budget is kept, and the summary names the resource that ran out.
play budget --method best-of-n --samples 4 --tasks 6 --budget policy_tokens=40,env_steps=2
[ "$(value policy_tokens "$scratch/budget.json")" -le 240 ] || fail "more policy tokens than the budget"
[ "$(value env_steps "$scratch/budget.json")" -le 12 ] || fail "more env steps than the budget"
is 6 budget_exhausted budget
play nothing --method guided --critic oracle --tasks 2 --budget policy_tokens=0
is 2 unanswered nothing
is 0.0 accuracy nothing

# Threads and writing ahead change no result, with sampled steps and with the next most likely ones.
for temperature in 0 0.5; do
  rm -rf "$scratch/one" "$scratch/many"
  play one --critic oracle --tasks 40 --temperature $temperature --in-flight 1 --no-speculation
  play many --critic oracle --tasks 40 --temperature $temperature --in-flight 8
  for key in accuracy policy_tokens nodes attempts rejected_steps; do
    is "$(value $key "$scratch/one.json")" $key many
  done
  is 0 speculative_tokens one
done

# A critic that cannot judge shows in the figures, and the search ends.
play babble --critic-policy "$untaught" --critic-max-tokens 8 --attempts 3 --tasks 2
is "$(value judged_steps "$scratch/babble.json")" invalid_verdicts babble
play critic --critic discriminative --attempts 3 --tasks 2 --critic-policy "$model"
is 0 invalid_verdicts critic

# A search that is killed at random moments is resumed to the same result.
kills=3
[ "${AGON_LONG:-0}" = 0 ] || kills=50
survives() {
  args=(search --policy "$model" "$@" --critic oracle --tasks 60 --in-flight 2)
  rm -rf "$scratch/whole"
  "$agon" "${args[@]}" --out "$scratch/whole" --json >"$scratch/whole.json" 2>"$scratch/err" ||
    fail "$*: $(cat "$scratch/err")"
  for ((i = 0; i < kills; ++i)); do
    rm -rf "$scratch/killed"
    "$agon" "${args[@]}" --out "$scratch/killed" >/dev/null 2>&1 &
    pid=$!
    sleep "0.$(printf %03d $((RANDOM % 900 + 50)))"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    "$agon" "${args[@]}" --out "$scratch/killed" --resume --json >"$scratch/killed.json" 2>"$scratch/err" ||
      fail "resume: $(cat "$scratch/err")"
    for key in accuracy policy_tokens nodes env_steps rejected_steps; do
      is "$(value $key "$scratch/whole.json")" $key killed
    done
  done
}
survives --method guided --temperature 0
survives --method beam --samples 3 --width 3
refuses 1 "method" "$agon" search --policy "$model" --tasks 60 --out "$scratch/killed" --resume --method greedy
refuses 2 "asks no critic, and --critic is given" "$agon" search --method majority --critic orcale --out "$scratch/x"
refuses 2 "Give --rank min, mean, last or product" "$agon" search --method best-of-n --critic oracle --out "$scratch/x"
refuses 2 "--critic-policy does nothing with --critic oracle" "$agon" search --critic oracle \
  --critic-policy nowhere --out "$scratch/x"
refuses 2 "tasks of charts have pictures" "$agon" search --critic process-reward --critic-form shepherd --critic-url http://127.0.0.1:1 --critic-model m \
  --out "$scratch/x"
[ ! -e "$scratch/x" ] || fail "a refused search leaves a folder"
# Two searches that start in the same second without --out get different folders.
(
  cd "$scratch" && mkdir default && cd default || exit 1
  for i in 1 2; do "$agon" search --policy "$model" --method greedy --tasks 2 >/dev/null 2>"$i.err" & done
  wait
  [ "$(ls -d runs/search-charts-*/run.sqlite | wc -l)" = 2 ] || cat ./*.err
) >"$scratch/out"
[ -d "$scratch/default/runs" ] && [ ! -s "$scratch/out" ] || fail "two searches in one folder: $(cat "$scratch/out")"
refuses 2 "a --rank other than score" "$agon" search --policy "$model" --method beam --rank score --out "$scratch/ranked"
[ ! -e "$scratch/ranked" ] || fail "a rank that is refused leaves a folder"

# A finished tree is replayed without a model. With another model, replay reports the first difference.
"$agon" replay "$scratch/many" 3 >"$scratch/out" 2>&1 || fail "replay: $(cat "$scratch/out")"
grep -q '^\* ok  1.00 ' "$scratch/out" || fail "replay shows no way to the answer: $(cat "$scratch/out")"
"$agon" replay "$scratch/many" 3 --policy "$model" --critic oracle --json >"$scratch/same.json" 2>&1 || fail "replay again"
is None divergence same
"$agon" replay "$scratch/many" 3 --policy "$untaught" --critic oracle --json >"$scratch/other.json" 2>&1 || fail "replay another"
is write divergence/kind other
"$agon" replay "$scratch/many" 3 --policy "$model" --json >"$scratch/own.json" 2>&1 || fail "replay by the run's own critic"
is None divergence own
"$agon" replay "$scratch/critic" 0 --policy "$model" --json >"$scratch/own.json" 2>&1 || fail "replay by the run's own critic, the policy"
is None divergence own
refuses 1 "Give its folder with --critic-policy" "$agon" replay "$scratch/babble" 0 --policy "$model"
"$agon" replay "$scratch/babble" 0 --policy "$model" --critic-policy "$untaught" --json >"$scratch/own.json" 2>&1 || fail "replay by the critic of a folder"
is None divergence own
refuses 2 "Give --policy, or leave" "$agon" replay "$scratch/many" 3 --critic oracle
refuses 2 "Give --policy, or leave" "$agon" replay "$scratch/many" 3 --critic-policy "$model"

# A damaged journal is excluded from all figures and is not a success.
cp -r "$scratch/whole" "$scratch/damaged"
python3 -c 'import sqlite3, sys
run = sqlite3.connect(sys.argv[1] + "/run.sqlite")
run.execute("UPDATE journal SET body = ? WHERE task_index = 3 AND kind = ?", ("{", "result"))
run.commit()' "$scratch/damaged"
says 1 "1 tasks have a damaged journal" "$agon" "${args[@]}" --out "$scratch/damaged" --resume

# A replay ends with the journal. If a time limit ended the search, the replay does not apply the limit again.
cp -r "$scratch/many" "$scratch/open"
python3 -c 'import sqlite3, sys
run = sqlite3.connect(sys.argv[1] + "/run.sqlite")
run.execute("DELETE FROM journal WHERE task_index = 3 AND number > 3")
run.commit()' "$scratch/open"
says 0 "the journal ends here: the search is not finished" "$agon" replay "$scratch/open" 3 --policy "$model"
"$agon" replay "$scratch/open" 3 --policy "$model" --json >"$scratch/ends.json" 2>&1 || fail "replay of an open journal"
is None divergence ends
is False complete ends
play wall --critic oracle --tasks 4 --budget wall=0.02
for task in 0 1 2 3; do
  "$agon" replay "$scratch/wall" $task --policy "$model" --json >"$scratch/clock.json" 2>&1 || fail "replay of a search without time"
  is None divergence clock
done

# A task file: the trees need the same file again.
printf '{"id": "a", "prompt": "1 + 2?", "answer": 3, "grader": "number"}\n' >"$scratch/tasks.jsonl"
printf '{"id": "a", "prompt": "1 + 3?", "answer": 4, "grader": "number"}\n' >"$scratch/others.jsonl"
play file --suite jsonl --file "$scratch/tasks.jsonl" --method greedy
"$agon" replay "$scratch/file" 0 >"$scratch/out" 2>&1 || fail "replay of a task file by its own path: $(cat "$scratch/out")"
"$agon" replay "$scratch/file" a 2>/dev/null | cmp -s - "$scratch/out" || fail "a task is not replayed by its id"
says 0 "jsonl/a, sample 0: " "$agon" show "$scratch/file" a
says 0 "     0  a   " "$agon" show "$scratch/file"
refuses 1 "the run has no task 'nothing'" "$agon" show "$scratch/file" nothing
says 0 "report.html" "$agon" report "$scratch/file"
grep -q '"trees_missing":""' "$scratch/file/report.html" || fail "the report has no trees, and knows the task file's path"
mv "$scratch/tasks.jsonl" "$scratch/moved.jsonl"
refuses 1 "no longer exists. Give it with --file" "$agon" replay "$scratch/file" 0
refuses 1 "is not the task file of the run: its hash is" "$agon" replay "$scratch/file" 0 --file "$scratch/others.jsonl"
"$agon" replay "$scratch/file" 0 --file "$scratch/moved.jsonl" >/dev/null 2>&1 || fail "replay of a task file"
says 0 "report.html" "$agon" report "$scratch/file"
grep -q "Give it with --file" "$scratch/file/report.html" || fail "the report does not say why there are no trees"
says 0 "report.html" "$agon" report "$scratch/file" --file "$scratch/moved.jsonl"
grep -q "Give it with --file" "$scratch/file/report.html" && fail "the report has no trees, and has the task file"
mv "$scratch/moved.jsonl" "$scratch/tasks.jsonl"
# Provenance of a run.
for key in version commit command date machine/processor policy/path policy/files file/path file/hash; do
  [ -n "$(value "provenance/$key" "$scratch/file/config.json" 2>/dev/null)" ] || fail "config.json does not say $key"
  [ -n "$(value "provenance/$key" "$scratch/file.json" 2>/dev/null)" ] || fail "--json does not say $key"
done
is "agon search --policy $model --out $scratch/file --json --suite jsonl --file $scratch/tasks.jsonl --method greedy" provenance/command file
is "$(realpath -s "$untaught")" provenance/critic/path babble
grep -q '"made_by"\|"provenance"' "$scratch/file/report.html" || fail "the report does not say where the run comes from"
"$agon" show "$scratch/file" | grep -q '^made by agon .*commit .*: agon search' || fail "show does not say who made the run"

# Self-score uses the solver's own score.
"$agon" search --policy "$untaught" --method beam --critic self-score --samples 1 --width 1 --tasks 1 --max-tokens 8 \
  --out "$scratch/self" --json >"$scratch/self.json" 2>"$scratch/err" || fail "self-score: $(cat "$scratch/err")"
is "$(basename "$untaught")" critic/policy self
# Passwords of servers are neither printed nor recorded.
"$agon" search --policy "$model" --suite jsonl --file "$scratch/tasks.jsonl" --critic process-reward \
  --critic-url http://me:secret@127.0.0.1:1 --out "$scratch/server" >"$scratch/out" 2>"$scratch/err" && fail "a server that is not there answers"
grep -rq secret "$scratch/server" "$scratch/out" "$scratch/err" && fail "a password is told or kept"
grep -q "http://127.0.0.1:1" "$scratch/server/config.json" || fail "the server is not told in config.json"

"$agon" show "$scratch/many" | grep -q '^guided on charts' || fail "show"

refuses 2 "Did you mean 'guided'" "$agon" search --method guide --out "$scratch/x"
refuses 2 "Did you mean 'product'" "$agon" search --method beam --rank produkt --out "$scratch/x"
refuses 2 "Did you mean 'policy_tokens'" "$agon" search --budget policy_token=3 --out "$scratch/x"
refuses 2 "gives no amount" "$agon" search --budget policy_tokens=many --out "$scratch/x"
refuses 2 "Did you mean 'oracle'" "$agon" search --critic orakle --out "$scratch/x"
refuses 1 "is not a model folder" "$agon" search --critic oracle --policy "$scratch/none" --out "$scratch/x"
refuses 2 "--samples" "$agon" search --samples 0 --out "$scratch/x"
refuses 2 "--critic-max-tokens" "$agon" search --critic-max-tokens 0 --out "$scratch/x"
refuses 2 "--critic-temperature" "$agon" search --critic-temperature -2 --out "$scratch/x"
refuses 2 "--keep" "$agon" search --keep none --out "$scratch/x"
refuses 2 "--retry" "$agon" search --retry never --out "$scratch/x"
refuses 1 "is not a search" "$agon" replay "$scratch/run" 0
refuses 1 "has no search here" "$agon" replay "$scratch/many" 99
refuses 1 "not a run folder" "$agon" replay "$scratch" 0
python3 - "$scratch/many" <<'PY'
import json, sqlite3, sys
run = sqlite3.connect(sys.argv[1] + "/run.sqlite")
config = json.loads(run.execute("SELECT config FROM run").fetchone()[0])
config["search_version"] = 99
run.execute("UPDATE run SET config = ?", (json.dumps(config),))
run.commit()
PY
refuses 1 "of version 99" "$agon" replay "$scratch/many" 3
[ -e "$scratch/x" ] && fail "a refused search left a folder"

finish
