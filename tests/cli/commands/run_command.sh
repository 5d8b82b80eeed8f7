#!/usr/bin/env bash
# run_command.sh AGON MODEL TINY: agon run on the command line, with a small random model (and models/agon-tiny for long
# episodes): the same episodes for any number of threads, kill -9 and --resume, Ctrl-C, and every error.
agon=$1 model=$2 tiny=$3
. "$(dirname "$0")/helpers.sh"

play() { "$agon" run --policy "$model" --max-tokens 24 --samples 3 "$@"; }
# Runs agon in the background: $! is agon itself and not a shell around it.
play_alone() { exec "$agon" run --policy "$model" --max-tokens 24 --samples 3 "$@"; }
# Every recorded episode as text, in order.
episodes() {
  sqlite3 "$1/run.sqlite" "SELECT task_index, sample, turn, text, hex(token_ids), hex(logprobs), e.reward, success
    FROM turns t JOIN episodes e ON t.episode_id = e.id ORDER BY 1, 2, 3"
}

# Groups in flight.
play --suite charts --tasks 12 --seed 3 --in-flight 1 --out "$scratch/one" --json >"$scratch/one.json" 2>/dev/null || fail "run with 1 group in flight"
play --suite charts --tasks 12 --seed 3 --in-flight 8 --out "$scratch/eight" --json >"$scratch/eight.json" 2>/dev/null || fail "run with 8 groups in flight"
[ "$(episodes "$scratch/one")" = "$(episodes "$scratch/eight")" ] || fail "1 and 8 groups in flight play different episodes"
[ "$(episodes "$scratch/one" | wc -l)" -ge 48 ] || fail "48 episodes expected"
figures() { sed '/"seconds"/d; /"run"/d; /"provenance"/,$d' "$1"; }  # not when, where and by whom: the last key
[ "$(figures "$scratch/one.json")" = "$(figures "$scratch/eight.json")" ] || fail "1 and 8 groups in flight give different figures"
play --suite charts --tasks 12 --seed 4 --out "$scratch/other" >/dev/null 2>&1
[ "$(episodes "$scratch/one")" != "$(episodes "$scratch/other")" ] || fail "another seed plays the same episodes"

# LibTorch writes the same greedy texts as agon's kernels.
greedy() {
  "$agon" run --policy "$model" --weights f32 --max-tokens 24 --samples 1 --temperature 0 --suite charts --tasks 4 "$@" >/dev/null 2>"$scratch/err" ||
    fail "run $*: $(cat "$scratch/err")"
}
tokens() { sqlite3 "$1/run.sqlite" 'SELECT task_index, sample, turn, hex(token_ids) FROM turns t JOIN episodes e ON t.episode_id = e.id ORDER BY 1, 2, 3'; }
greedy --out "$scratch/kernels"
greedy --out "$scratch/torch" --device torch:cpu
[ "$(tokens "$scratch/kernels")" = "$(tokens "$scratch/torch")" ] || fail "LibTorch writes other tokens than agon's kernels"
[ "$(tokens "$scratch/torch" | wc -l)" -ge 4 ] || fail "4 episodes expected"
refuses 2 "--device" play --device gpu --out "$scratch/x"

# agon reports the memory of a model, and refuses a model that does not fit.
says 0 "memory: weights " play --suite charts --tasks 1 --kv q8 --out "$scratch/told"
refuses 1 "does not fit into 1.0 MB" "$agon" run --policy "$tiny" --memory 1 --tasks 1 --out "$scratch/unfit"
[ ! -e "$scratch/unfit" ] || fail "a model that does not fit leaves a folder"
refuses 1 "policy_files" play --suite charts --tasks 1 --out "$scratch/told" --resume
says 0 "KV for" "$agon" inspect "$tiny" --kv q8
says 0 "do not fit into 1.0 MB" "$agon" inspect "$tiny" --memory 1
says 0 "equal greedy" "$agon" inspect "$tiny" --compare q8
refuses 2 "--compare" "$agon" inspect "$tiny" --compare q9
for flag in "--kv q8" "--memory 100" "--weights q8"; do
  refuses 2 "${flag% *} does nothing with a server" "$agon" complete --policy http://127.0.0.1:9/v1 $flag --prompt x
done

# kill -9, then resume.
play --suite shapes --tasks 150 --out "$scratch/whole" --json >"$scratch/whole.json" 2>/dev/null || fail "shapes run"
recorded() { sqlite3 "$1/run.sqlite" 'SELECT count(*) FROM episodes' 2>/dev/null || echo 0; }
# until_more FOLDER COUNT: waits until the run there has more than COUNT episodes.
until_more() { for _ in $(seq 600); do [ "$(recorded "$1")" -gt "$2" ] && return; sleep 0.05; done; }
for at_least in 0 50 120; do
  play_alone --suite shapes --tasks 150 --in-flight 1 --out "$scratch/killed" --resume >/dev/null 2>&1 &
  pid=$!
  until_more "$scratch/killed" $at_least
  kill -9 $pid 2>/dev/null || fail "the run to kill after $at_least episodes has ended by itself"
  wait $pid 2>/dev/null
done
play --suite shapes --tasks 150 --out "$scratch/killed" --resume --json >"$scratch/killed.json" 2>/dev/null || fail "resume after kill -9"
[ "$(episodes "$scratch/whole")" = "$(episodes "$scratch/killed")" ] || fail "a killed and resumed run has other episodes"
[ "$(figures "$scratch/whole.json")" = "$(figures "$scratch/killed.json")" ] || fail "a killed and resumed run has other figures"

# Asked to stop (SIGTERM; Ctrl-C is handled alike): a message that says how to resume, exit code 130.
"$agon" run --policy "$model" --suite shapes --tasks 1000 --samples 8 --out "$scratch/stopped" >/dev/null 2>"$scratch/err" &
pid=$!
until_more "$scratch/stopped" 0
kill -TERM $pid
wait $pid
code=$?
[ $code = 130 ] || fail "stopped run: exit code $code, expected 130: $(cat "$scratch/err")"
grep -q -- '--resume' "$scratch/err" || fail "stopped run does not say how to go on: $(cat "$scratch/err")"

# Suites with tools: sandbox and index are ready before the first episode, or the run reports why not.
export XDG_CACHE_HOME="$scratch/cache"
tool_play() { "$agon" run --policy "$tiny" --max-tokens 24 --samples 1 "$@"; }
for suite in darkroom lookup; do
  tool_play --suite $suite --tasks 2 --out "$scratch/$suite" --json >"$scratch/$suite.json" 2>"$scratch/err" || fail "run $suite: $(cat "$scratch/err")"
  grep -q '"failed": 0' "$scratch/$suite.json" || fail "run $suite: episodes failed"
done
[ -n "$(ls "$scratch/cache/agon")" ] || fail "no index in the cache"
tool_play --suite lookup --baseline rag --tasks 2 --out "$scratch/rag" >/dev/null 2>&1 || fail "run lookup --baseline rag"
"$agon" show "$scratch/rag" 0 | grep -q '^Doc 1(Title' || fail "rag shows no documents"
refuses 2 "no tools" play --suite charts --baseline cot --out "$scratch/x"
printf '{"question": "who?", "golden_answers": ["Ada"]}\n' >"$scratch/questions.jsonl"
refuses 2 "--search is for suite questions" play --suite charts --search "$scratch/index" --out "$scratch/x"
refuses 1 "--search" play --suite questions --file "$scratch/questions.jsonl" --out "$scratch/x"
# The searched corpus is part of the run: the same corpus at another path counts as the same, another corpus does not.
printf '{"id": "1", "contents": "Ada\\nAda wrote the first program."}\n' >"$scratch/corpus.jsonl"
"$agon" index "$scratch/corpus.jsonl" --out "$scratch/index" >/dev/null 2>&1 || fail "index"
cp "$scratch/index" "$scratch/copy"
printf '{"id": "1", "contents": "Ada\\nBabbage wrote nothing."}\n' >"$scratch/other.jsonl"
"$agon" index "$scratch/other.jsonl" --out "$scratch/other.index" >/dev/null 2>&1 || fail "index"
for file in "$scratch/questions.jsonl" "$scratch/one/run.sqlite"; do
  cp "$file" "$scratch/kept"
  refuses 1 "exists and is not an index of agon" "$agon" index "$scratch/other.jsonl" --out "$file"
  cmp "$file" "$scratch/kept" || fail "an index is written over $file"
done
says 0 "1 documents" "$agon" index "$scratch/other.jsonl" --out "$scratch/other.index"
ask() { tool_play --suite questions --file "$scratch/questions.jsonl" --out "$scratch/asked" "$@"; }
says 0 "run: $scratch/asked" ask --search "$scratch/index"
says 0 "run: $scratch/asked" ask --search "$scratch/copy" --resume
refuses 1 "search" ask --search "$scratch/other.index" --resume
[ "$(python3 -c "import json; print(json.load(open('$scratch/asked/config.json'))['provenance']['search']['where'])")" = "$scratch/index" ] ||
  fail "where it searched is not in the config"
cp "$agon" "$scratch/agon"
refuses 1 "no launcher" "$scratch/agon" run --suite darkroom --policy "$model" --out "$scratch/y"

# Errors.
refuses 2 "Did you mean 'charts'" play --suite chart
refuses 2 "suite" play --siute charts
refuses 2 "level" play --suite charts --level 9 --out "$scratch/x"
refuses 1 "holds a run already" play --suite charts --tasks 12 --seed 3 --out "$scratch/one"
refuses 1 "seed" play --suite charts --tasks 12 --seed 5 --out "$scratch/one" --resume
refuses 1 "no-such-model" "$agon" run --policy "$scratch/no-such-model" --out "$scratch/x"
refuses 2 "--out" play --suite charts --resume
touch "$scratch/file"
refuses 1 "$scratch/file" play --suite charts --tasks 1 --out "$scratch/file/run"
refuses 2 "file" play --suite jsonl --out "$scratch/x"
printf '{"id": "1", "prompt": "What?", "answer": "4", "grader": "exact"}\n{"id": \n' >"$scratch/bad.jsonl"
refuses 1 "bad.jsonl:2:" play --suite jsonl --file "$scratch/bad.jsonl" --out "$scratch/x"
# Pictures of a task file: checked before anything is played. A failed task may be fixed; a played task must not change.
cat >"$scratch/png.py" <<'PYTHON'
"""png.py FILE WIDTH HEIGHT GRAY [cut|damaged]"""
import struct, sys, zlib
path, width, height, gray = sys.argv[1], *map(int, sys.argv[2:5])
chunk = lambda name, content: struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
file = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress((b"\0" + bytes([gray] * width)) * height)) + chunk(b"IEND", b""))
if "cut" in sys.argv: file = file[:-5]
if "damaged" in sys.argv: file = file[:45] + b"\xff\xff" + file[47:]
open(path, "wb").write(file)
PYTHON
picture() { python3 "$scratch/png.py" "$scratch/$1" "${@:2}"; }
picture one.png 40 30 90; picture two.png 40 30 90 damaged
for id in one two; do
  printf '{"id": "%s", "prompt": "How gray?", "images": ["%s.png"], "answer": "4", "grader": "exact"}\n' $id $id
done >"$scratch/pictures.jsonl"
pictures() { play --suite jsonl --file "$scratch/pictures.jsonl" --out "$scratch/pictures" "$@"; }
picture three.png 2010 10 90
sed 's/two.png/three.png/' "$scratch/pictures.jsonl" >"$scratch/long_picture.jsonl"
refuses 1 "long_picture.jsonl:2: task jsonl/two: $scratch/three.png: 2010 x 10 pixels" \
  play --suite jsonl --file "$scratch/long_picture.jsonl" --out "$scratch/none"
picture three.png 40 30 90 cut
refuses 1 "long_picture.jsonl:2: task jsonl/two: $scratch/three.png: the picture is cut off" \
  play --suite jsonl --file "$scratch/long_picture.jsonl" --out "$scratch/none"
refuses 1 "pictures.jsonl:2: task jsonl/two: $scratch/two.png: the picture is damaged" pictures --check full
refuses 2 "--check full" play --suite charts --check full --out "$scratch/none"
[ ! -e "$scratch/pictures" ] && [ ! -e "$scratch/none" ] || fail "a picture that is refused leaves a folder"
says 1 "4 of 8 episodes failed" pictures
tasks() { sqlite3 -readonly "$scratch/pictures/run.sqlite" "SELECT DISTINCT task_id || ' ' || status FROM episodes JOIN tasks USING (task_index) ORDER BY task_index" | paste -sd,; }
[ "$(tasks)" = "jsonl/one done,jsonl/two failed" ] || fail "episodes of a damaged picture: $(tasks)"
cp "$scratch/one.png" "$scratch/kept.png"
picture one.png 40 30 91
refuses 1 "task jsonl/one was played" pictures --resume
cp "$scratch/kept.png" "$scratch/one.png"
cp "$scratch/two.png" "$scratch/damaged.png"
picture two.png 40 30 90
refuses 1 'seed = 0, not seed = 7' pictures --resume --seed 7
cp "$scratch/damaged.png" "$scratch/two.png"  # what was refused has left the run as it was
says 1 "4 of 8 episodes failed" pictures --resume
picture two.png 40 30 90
says 0 "run: $scratch/pictures" pictures --resume
[ "$(tasks)" = "jsonl/one done,jsonl/two done" ] || fail "episodes of a mended picture: $(tasks)"
says 0 "run: $scratch/pictures" pictures --resume
python3 -c 'import json, sys
json.dump([json.loads(line) for line in open(sys.argv[1])], open(sys.argv[1] + ".part", "w"), indent=1)' "$scratch/pictures.jsonl"
mv "$scratch/pictures.jsonl.part" "$scratch/pictures.jsonl"  # the file is another, its tasks are not
says 0 "run: $scratch/pictures" pictures --resume
python3 -c 'import json, sys
json.dump(json.load(open(sys.argv[1]))[::-1], open(sys.argv[2], "w"))' "$scratch/pictures.jsonl" "$scratch/swapped.jsonl"
refuses 1 "task jsonl/one was played in $scratch/pictures as the file's task 0, and is another now. Restore the order" \
  play --suite jsonl --file "$scratch/swapped.jsonl" --out "$scratch/pictures" --resume
picture two.png 40 30 92
refuses 1 "task jsonl/two was played" pictures --resume
long_prompt=$(printf 'word %.0s' $(seq 1 20000))
printf '{"id": "1", "prompt": "%s", "answer": "4", "grader": "exact"}\n' "$long_prompt" >"$scratch/long.jsonl"
says 1 "context" play --suite jsonl --file "$scratch/long.jsonl" --out "$scratch/long"

# A full disk: the run stops with one message, and the committed part can be resumed elsewhere.
if [ "$(id -u)" = 0 ] && mkdir "$scratch/small" && mount -t tmpfs -o size=256k tmpfs "$scratch/small" 2>/dev/null; then
  refuses 1 full play --suite charts --tasks 200 --out "$scratch/small/run"
  umount "$scratch/small"
else
  echo "full disk: NOT TRIED, mounting a small tmpfs needs root"
fi

finish
