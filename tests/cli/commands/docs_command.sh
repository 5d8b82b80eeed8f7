#!/usr/bin/env bash
# docs_command.sh AGON SOURCE: every command of README.md, HACKING.md and docs/*.md, in the order of its document, in a
# separate folder that looks like a checkout. No command is skipped. The rule by which a command is changed is printed
# with it:
#   run        as printed
#   fewer      agon run, search, eval, eval-critic, decompose: no more than --tasks 10, or 40 of a run that the document
#              compares or looks at by a task's number (with AGON_LONG=1 as printed)
#   stand-in   one of these two, with a small file in place of one that the reader brings (stand_ins below)
#   one step   agon train with one step of two prompts of its first source, no warm-up and two tasks of an evaluation
#   config     train-sft, train-rm, selfplay: with --print-config, which reads the config and its models and trains nothing;
#              the models of models/ replace those that they would have written
#   8 tasks    make-preferences: --tasks 8, and two responses for a set
#   served     serve, serve-search: at a free port until the document ends; its /health answers
#   key        a search engine that wants a key: is refused for the key alone
#   script     script/... and programs of others (ctest, tensorboard): the script is there; the line is one that bash reads
#   flags      text between backticks: the subcommand and its flags are there
agon=$(realpath "$1") source=$(realpath "$2") here=$(realpath "$(dirname "$0")")
. "$here/helpers.sh"
unset SERPER_API_KEY BRAVE_API_KEY
export XDG_CACHE_HOME=$scratch/cache
server=
trap 'end_server; rm -rf "$scratch"' EXIT

end_server() {
  [ -z "$server" ] || { kill -INT "$server"; wait "$server"; } 2>/dev/null
  server=
}

# stand_ins: files that documents name and readers provide.
stand_ins() {
  mkdir -p musique .deps runs
  ln -s "$source/tests/golden/sentence_encoder" .deps/minilm
  ln -s "$source/.deps/smollm2" .deps/smollm2
  ln -s "$source/models/agon-tiny-critic" runs/selfplay-critic
  ln -s "$source/models/agon-tiny-tools" runs/selfplay-sneaky
  ln -s "$source/models/agon-tiny-reward" runs/reward-model
  ln -s "$source/models/agon-tiny" runs/agon-tiny # its base
  cp "$source"/docs/tour/chart-2.png photo.png
  cp "$source"/docs/tour/*.png .
  head -1 "$source/docs/tour/tasks.jsonl" >TASKS.jsonl
  cp "$source/docs/tour/docs.jsonl" wiki.jsonl
  printf '{"id": "1", "question": "Who wrote the first program?", "golden_answers": ["Ada Lovelace"]}\n' >musique/dev.jsonl
  printf '[{"id": "1", "question": "Who?", "answer": "Ada", "image_path": "photo.png"}]' >MAT-Search.json
  printf '[{"id": "1", "question": "What is this?", "answer": "a chart", "processed_image_path": "photo.png", "type": ["dark"]}]' >MAT-Coding.json
  for name in gsm8k math; do
    printf '[{"id": "1", "problem": "1 + 1?", "steps": ["1 + 1 is 3"], "label": 0, "final_answer_correct": false}]' >$name.json
  done
  printf 'x = 1\n' >step1.py
  printf 'print(x)\n' >step2.py
  printf 'import cv2\ncv2.imwrite("out.png", cv2.imread("photo.png"))\n' >repair.py
  python3 - "$source/docs/credit.md" >group.json <<'PYTHON'
import re, sys
print(re.search(r"\n    (\{\"rollouts\".*?\n    \]\})", open(sys.argv[1]).read(), re.S)[1])
PYTHON
}
own='group\.json|TASKS\.jsonl|wiki\.|musique|MAT-|gsm8k|step1|photo\.png|minilm|runs/reward-model'

# folder_of DOCUMENT: makes a new folder that looks like a checkout.
folder_of() {
  local folder=$scratch/${1//\//-}
  mkdir "$folder" && cd "$folder" || exit 1
  ln -s "$agon" agon
  for part in models experiments docs script benchmarks tests; do ln -s "$source/$part" $part; done
  stand_ins
}

# tried RULE PLACE COMMAND: runs the command, which has to succeed.
tried() {
  local begin=$SECONDS
  printf '%-9s %-24s %s\n' "$1" "$2" "$3"
  timeout 600 bash -ec "$3" >out 2>err </dev/null || fail "$2: $3: exit code $?: $(tail -2 err)"
  [ $((SECONDS - begin)) -lt 10 ] || printf '          took %s s\n' $((SECONDS - begin))
}

has_flags() {
  local words flag
  read -ra words <<<"$2"
  "$agon" "${words[1]}" --help >out 2>/dev/null || { fail "$1: there is no agon ${words[1]}: $2"; return; }
  for flag in $(grep -oE -- '(^| )--[a-z][a-z0-9-]*' <<<"$2"); do
    grep -qE -- "$flag( |,|\$)" out || fail "$1: agon ${words[1]} has no $flag: $2"
  done
  printf '%-9s %-24s %s\n' flags "$1" "$2"
}

served() {
  local command=${2%%#*}
  command=${command/ --port 8000/}
  end_server
  printf '%-9s %-24s %s\n' served "$1" "$2"
  : >served # not what the last server wrote
  eval "exec $command --port 0" >served 2>err &
  server=$!
  until grep -q '^serving' served || ! kill -0 $server 2>/dev/null; do sleep 0.1; done
  port=$(sed -En 's#.*:([0-9]+)/(retrieve|v1).*#\1#p' served)
  python3 -c 'import sys, urllib.request; urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/health", timeout=10)' "$port" ||
    fail "$1: $2: no server: $(cat err)"
}

# The command line without its comment.
bare() { sed 's/  *# .*$//' <<<"$1"; }

sql() {
  python3 - "$@" <<'PYTHON'
import shlex, sqlite3, sys
words = [word for word in shlex.split(sys.argv[1]) if not word.startswith("-")]
print(*sqlite3.connect(words[1]).execute(words[2]), sep="\n")
PYTHON
}
export -f sql

# fewer_tasks COMMAND: the command with fewer tasks, if it names more tasks or none; the tasks of a file or a run are
# not limited.
fewer_tasks() {
  local most=10 run named
  run=$(sed -nE 's/.* --out ([^ ]+).*/\1/p' <<<"$1")
  named=$(sed -nE 's/.* --tasks ([0-9]+).*/\1/p' <<<"$1")
  [ -n "$run" ] && grep -qE " $run [1-9]|--compare $run( |\$)" lines && most=40
  if [ "${named:-$((most + 1))}" -le $most ] || grep -qE -- '--(file|run) ' <<<"$1"; then echo "$1"
  else sed -E "s/ --tasks [0-9]+//; s/(agon (run|search|eval|eval-critic|decompose)) /\1 --tasks $most /" <<<"$1"; fi
}

one() {
  local place=$1 line command fewer
  line=$2
  command=$(bare "$line")
  case $command in
    '`'*) has_flags "$place" "${command#'`'}" ;;
    *--print-config*) tried run "$place" "$command" ;;
    './agon train '*) tried 'one step' "$place" "$command --set steps=1 --set optimizer.warmup_steps=0 --set evaluation.tasks=2 --set sources.0.prompts=2" ;;
    './agon train-sft '* | './agon train-rm '* | './agon selfplay '*) tried config "$place" "$command --print-config" ;;
    './agon make-preferences '*) tried '8 tasks' "$place" "$(sed -E 's/--tasks [0-9]+/--tasks 8 --responses 2/' <<<"$command")" ;;
    './agon serve '* | './agon serve-search '*) served "$place" "$command" ;;
    *' serper '* | *' brave '*)
      printf '%-9s %-24s %s\n' key "$place" "$line"
      timeout 60 bash -c "$command" >out 2>err && fail "$place: $command: no key is wanted"
      grep -q 'API_KEY' err || fail "$place: $command: not for the key: $(tail -1 err)" ;;
    script/* | ctest* | tensorboard* | git* | cmake*)
      bash -nc "$command" || fail "$place: bash does not read: $command"
      case $command in script/*) [ -x "$source/${command%% *}" ] || fail "$place: there is no ${command%% *}" ;; esac
      printf '%-9s %-24s %s\n' script "$place" "$line" ;;
    sqlite3*) tried run "$place" "sql $(printf %q "$command")" ;;
    *)
      command=${command//http:\/\/127.0.0.1:8000/http://127.0.0.1:${port:-8000}}
      fewer=$command
      [ "${AGON_LONG:-0}" = 1 ] || fewer=$(fewer_tasks "$command")
      if grep -qE "$own" <<<"$command"; then tried stand-in "$place" "$fewer"
      elif [ "$fewer" != "$command" ]; then tried fewer "$place" "$fewer"
      else tried run "$place" "$command"; fi ;;
  esac
}

documents=(README.md HACKING.md)
for document in "$source"/docs/*.md "$source"/docs/results/*.md; do [ -f "$document" ] && documents+=("${document#"$source"/}"); done
total=0
for document in "${documents[@]}"; do
  folder_of "$document"
  if grep -q 'run\.sqlite "' "$source/$document"; then
    "$agon" search --method guided --tasks 2 --out runs/searched >/dev/null 2>&1 || fail "a run for $document"
    cp runs/searched/run.sqlite .
  fi
  if grep -q '127.0.0.1:8000/v1' "$source/$document"; then # a model behind a server
    python3 "$here/chat_server.py" port 0 2>/dev/null &
    server=$!
    for _ in $(seq 100); do [ -s port ] && break; sleep 0.1; done
    port=$(cat port)
  fi
  (cd "$source" && python3 "$here/documented_commands.py" "$document") >lines || fail "$document: $(cat lines)"
  while IFS=$'\t' read -r place line <&3; do
    one "$place" "$line"
    total=$((total + 1))
  done 3<lines
  end_server
  port=
done
cd / || exit 1
echo "$total commands"
[ $total -ge 90 ] || fail "only $total commands: did the documents lose them?"

finish
