#!/usr/bin/env bash
# flag_use_command.sh AGON MODEL: every command refuses a flag or key without effect, and names it. The lists
# flag_uses.txt and key_uses.txt have to contain every flag and key.
agon=$1 model=$2 here=$(dirname "$0")
. "$here/helpers.sh"
tour=$here/../../../docs/tour

# The values of the names in capitals in the lists.
cp "$tour"/* "$scratch"
printf '{"rollouts": [{"answer_reward": 1, "correct": true, "segments": [["answer", 1]]}]}' >"$scratch/GROUP"
printf '{"id": "1", "question": "Who?", "golden_answers": ["me"]}\n' >"$scratch/QUESTIONS"
printf '{"prompt": "p", "steps": ["a"], "label": 0}\n' >"$scratch/STEPS"
printf '{"id": "1", "prompt": "a", "responses": ["b", "c"], "rank": [1, 2]}\n' >"$scratch/PREFERENCES"
printf 'print(1)\n' >"$scratch/SCRIPT"
printf '{"id": "1", "contents": "one"}\n' >"$scratch/docs"
"$agon" index "$scratch/docs" --out "$scratch/INDEX" >/dev/null 2>&1 || fail "the index"
ln -s "$(realpath "$model")" "$scratch/MODEL"
ln -s "$(realpath "$here/../../golden/sentence_encoder")" "$scratch/ENCODER"
cp "$scratch/tasks.jsonl" "$scratch/TASKS"
printf 'output: o\ncritic: MODEL\nsneaky: MODEL\nsolvers: [MODEL]\nsources: [{suite: charts, level: 1}]\ncritiques: 2\n' >"$scratch/SELFPLAY"
printf 'output: o\npolicy: MODEL\nsources: [{suite: charts}]\n' >"$scratch/BASE"
printf 'output: o\nmodel: MODEL\ndata: [PREFERENCES]\n' >"$scratch/RM"
printf 'output: o\nstart: MODEL\nsources: [{suite: charts}]\nsteps: 1\nwarmup_steps: 0\n' >"$scratch/SFT"
cd "$scratch" || exit 1
for name in RUN:run SEARCH:search GREEDY:search; do
  more=$([ ${name%:*} = RUN ] && echo --samples 1; [ ${name%:*} = SEARCH ] && echo --critic oracle; [ ${name%:*} = GREEDY ] && echo --method greedy)
  "$agon" ${name#*:} --policy MODEL --tasks 1 --max-tokens 8 --out "${name%:*}" $more >/dev/null 2>err || fail "$name: $(cat err)"
done

# named LIST NAMES...: each name has a line in the list.
named() {
  local list=$1 name
  shift
  for name in "$@"; do
    grep -qF -- "$name |" "$list" || fail "$(basename "$list") says nothing of '$name': is there a way to use it that does nothing?"
  done
}
lists=$(cd "$OLDPWD" && realpath "$here")
for command in $("$agon" --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'); do
  for flag in $("$agon" "$command" --help | sed -nE 's/^  (--[a-z0-9-]+).*/\1/p'); do
    named "$lists/flag_uses.txt" "$command $flag"
  done
done
"$agon" train --set 'sources=[{suite: charts}]' --print-config >config.yaml || fail "the keys"
keys=$(python3 - config.yaml <<'PYTHON'
import re, sys
path = []
for line in open(sys.argv[1]):
    found = re.match(r"( *)(- )?(\w+):(.*)", line)
    if not found:
        continue
    depth = (len(found[1]) + len(found[2] or "")) // 2
    if path and path[0] == "sources" and depth:
        depth = 1  # of an entry of the list
    path[depth:] = [found[3]]
    if found[4].strip() or found[3] in ("credit", "rewards", "stages"):
        if path[0] not in ("credit", "rewards", "stages") or depth == 0:
            print(".".join(path))
PYTHON
)
named "$lists/key_uses.txt" $keys
"$agon" train config.yaml --print-config >again.yaml || fail "a config with every key does not load"
cmp config.yaml again.yaml || fail "a config with every key loads as another one"

# ignored CODE NAME COMMAND...: is refused with the exit code CODE and a message with NAME and what to do.
ignored() {
  local code=$1 name=$2 got
  shift 2
  "$agon" "$@" >out 2>err </dev/null
  got=$?
  [ $got = "$code" ] || fail "$*: exit code $got, expected $code"
  grep -qF -- "${name#--}" err || fail "$*: the message does not name $name: $(cat err)"
  [ "$(grep -c '^agon: ' err)" = 1 ] || fail "$*: not one message: $(cat err)"
  [ ! -s out ] || fail "$*: refused, and yet printed: $(head -3 out)"
  [ ! -e o ] && [ ! -e runs ] || fail "$*: refused, and yet left a folder"
}
count=0
while IFS='|' read -r subject line; do
  case $subject in '#'* | '') continue ;; esac
  read -r command flag <<<"$subject"
  [ "${line# }" = always ] && continue
  eval "words=($line)"
  case $flag in --set) name=does\ nothing ;; --budget) name=does\ nothing ;; *) name=$flag ;; esac
  case "$command $flag ${words[0]}" in  # what a config or a run folder holds decides
    train*' --set '* | 'selfplay --set '* | 'replay --critic GREEDY' | 'report --compare '*) code=1 ;;
    *) code=2 ;;
  esac
  ignored $code "$name" "$command" "${words[@]}"
  count=$((count + 1))
done <"$lists/flag_uses.txt"
while IFS='|' read -r key line; do
  case $key in '#'* | '') continue ;; esac
  [ "${line# }" = always ] && continue
  set_flags=()
  for change in $line; do set_flags+=(--set "$change"); done
  key=${key% }
  ignored 1 "${key##*.}" train BASE "${set_flags[@]}"
  count=$((count + 1))
done <"$lists/key_uses.txt"
echo "$count command lines with something that does nothing"
[ $count -gt 150 ] || fail "only $count lines were tried"

# A setting may be given only once.
for command in "train --set steps=3 --set steps=4 config.yaml" "selfplay SELFPLAY --set rounds=1 --set rounds=2" \
  "train-sft SFT --set steps=1 --set steps=2" "train-rm RM --set steps=1 --set steps=2" \
  "train config.yaml --set credit.kl=0.1 --set credit={}" "train config.yaml --set credit={\"kl\":0.1} --set credit.kl=0.2" \
  "credit grpo GROUP --set kl=0.1 --set kl=0.2" "credit grpo RUN 0 --policy MODEL --reward accuracy=1 --reward accuracy=2" "exec SCRIPT --limit wall=1,cpu=2 --limit wall=2"; do
  refuses 2 "given twice" "$agon" $command
done

"$agon" train --print-config --set 'sources=[{suite: charts}]' --set sources.0.level=3 >out || fail "a key that is set in what was set"
grep -q 'level: 3' out || fail "a key that is set in what was set is not there"

# The same holds for inputs that would count twice, by whatever path.
for command in "eval-critic --suite charts --suite charts" "eval-critic --run RUN --run ./RUN" "eval-critic --file STEPS --file ./STEPS" \
  "eval-rm --reward-model MODEL --file PREFERENCES --file ./PREFERENCES" \
  "make-preferences --judge MODEL --judge ./MODEL" "decompose --picture white --picture white" "report SEARCH --compare GREEDY --compare GREEDY/"; do
  refuses 2 "given twice" "$agon" $command
done
for command in "train-rm RM --set data=[PREFERENCES,./PREFERENCES]" "selfplay SELFPLAY --set solvers=[MODEL,MODEL/]" \
  "selfplay SELFPLAY --set sources.0.solvers=[MODEL,MODEL]"; do
  refuses 1 "given twice" "$agon" $command
done
refuses 2 "--compare ./SEARCH is the run itself" "$agon" report SEARCH --compare GREEDY --compare ./SEARCH

# A config is one document.
for name in "train config.yaml" "train-sft SFT" "train-rm RM" "selfplay SELFPLAY"; do
  { cat "${name#* }"; printf -- '---\nseed: 5\n'; } >TWO
  refuses 1 "TWO: 2 YAML documents" "$agon" ${name% *} TWO
done

# A folder belongs to one command.
"$agon" train config.yaml --set output=TRAINED --set policy=MODEL --set samples=2 --set steps=1 --set evaluation.every=0 \
  --set sources.0.prompts=1 --set sampling.max_tokens=4 >/dev/null 2>err || fail "a training run: $(cat err)"
for command in "train-sft SFT" "train-rm RM" "selfplay SELFPLAY"; do
  refuses 1 "TRAINED holds a training run of agon train." "$agon" $command --set output=TRAINED --resume
  refuses 1 "TRAINED holds a training run of agon train." "$agon" $command --set output=TRAINED
  refuses 1 "SEARCH holds a run of agon search." "$agon" $command --set output=SEARCH --resume
done
refuses 1 "SEARCH holds a run of agon search." "$agon" train config.yaml --set output=SEARCH --resume
refuses 1 "the run there, of agon train, has" "$agon" run --policy MODEL --out TRAINED --resume
refuses 1 "the run there, of agon run, has" "$agon" search --policy MODEL --out RUN --resume
refuses 1 "holds a run already, of agon search" "$agon" make-preferences --policy MODEL --out SEARCH
refuses 1 "SEARCH holds a run of agon search. Choose another --out" "$agon" eval --policy MODEL --out SEARCH
"$agon" train-sft SFT --set output=TAUGHT >/dev/null 2>err || fail "train-sft: $(cat err)"
refuses 1 "TAUGHT holds a training run of agon train-sft" "$agon" train-rm RM --set output=TAUGHT --resume
refuses 1 "TAUGHT holds a training run of agon train-sft" "$agon" selfplay SELFPLAY --set output=TAUGHT
# A run that was killed before its first episode still belongs to its command.
cp -r RUN KILLED
sqlite3 KILLED/run.sqlite "DELETE FROM turns; DELETE FROM episodes; DELETE FROM token_credit"
cp KILLED/config.json kept.json
refuses 1 "KILLED holds a run of agon run." "$agon" train config.yaml --set output=KILLED --resume
cmp kept.json KILLED/config.json || fail "a training run took over the folder of a run"

# A word after a subcommand belongs to it, even if it is the name of another subcommand.
refuses 1 "has 0 entries in turn_correct" "$agon" credit score GROUP
refuses 1 "is neither a run folder nor a file" "$agon" credit score nowhere
refuses 2 "run takes no further argument, got 'suites'" "$agon" run suites
says 0 "No document matches" "$agon" query INDEX show

finish
