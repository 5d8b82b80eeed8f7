#!/usr/bin/env bash
# checkpoint_command.sh AGON SMOLLM2: a published checkpoint on the command line: what agon inspect reports, its answers
# with every type of weights, conversion, a run that is killed and resumed, and files that are damaged or wrong. Without
# SMOLLM2 (script/checkpoint smollm2) the test fails.
agon=$1 smollm2=$2
. "$(dirname "$0")/helpers.sh"
export AGON_CACHE="$scratch/cache.sqlite"
[ -d "$smollm2" ] || { echo "There is no $smollm2. Run script/checkpoint smollm2."; exit 1; }
file=$(ls "$smollm2"/*.gguf)

# Inspection.
"$agon" inspect "$smollm2" --json >"$scratch/inspect.json" 2>"$scratch/err" || fail "inspect: $(cat "$scratch/err")"
[ "$(value model_type "$scratch/inspect.json")" = llama ] || fail "inspect: not a Llama"
[ "$(value parameters "$scratch/inspect.json")" = 134515008 ] || fail "inspect: $(value parameters "$scratch/inspect.json") parameters"

# Answers: the same each time for each type; the first words of two similar types agree.
ask() { "$agon" complete --policy "$smollm2" --weights "$1" --max-tokens 24 --temperature 0 "What is the capital of France?"; }
for kind in auto f32 q8; do
  ask $kind >"$scratch/$kind" 2>"$scratch/err" || fail "complete --weights $kind: $(cat "$scratch/err")"
  [ -s "$scratch/$kind" ] || fail "complete --weights $kind: no answer"
  [ "$(ask $kind 2>/dev/null)" = "$(cat "$scratch/$kind")" ] || fail "complete --weights $kind: another answer the second time"
done

# A folder and a file made from it give the same answers.
"$agon" convert "$smollm2" "$scratch/folder" --type f32 >/dev/null 2>"$scratch/err" || fail "convert to a folder: $(cat "$scratch/err")"
[ "$("$agon" complete --policy "$scratch/folder" --max-tokens 24 --temperature 0 "What is the capital of France?" 2>/dev/null)" = "$(cat "$scratch/f32")" ] ||
  fail "the converted folder answers otherwise than the file with fp32 weights"
"$agon" convert "$scratch/folder" "$scratch/again.gguf" --type q8 >/dev/null 2>"$scratch/err" || fail "convert to a file: $(cat "$scratch/err")"
"$agon" complete --policy "$scratch/again.gguf" --max-tokens 4 "Hello" >/dev/null 2>"$scratch/err" || fail "the converted file: $(cat "$scratch/err")"
refuses 1 "is there already" "$agon" convert "$smollm2" "$scratch/again.gguf"
rm -r "$scratch/folder" "$scratch/again.gguf"

# A checkpoint that does not fit its config.json is not reported as sound and not converted. Existing files are not
# overwritten.
golden=$(dirname "$0")/../../golden/text_models/qwen2
cp -r "$golden" "$scratch/other"
sed -i 's/"intermediate_size": 48/"intermediate_size": 64/' "$scratch/other/config.json"
refuses 1 "model.layers.0.mlp.down_proj.weight: shape [32, 48]" "$agon" inspect "$scratch/other"
refuses 1 "model.layers.0.mlp.down_proj.weight: shape [32, 48]" "$agon" convert "$scratch/other" "$scratch/x.gguf"
echo mine >"$scratch/mmproj-x.gguf"
refuses 1 "mmproj-x.gguf is there already" "$agon" convert "$golden" "$scratch/x.gguf" --type bf16
refuses 2 "TO: an empty text" "$agon" convert "$golden" ""
rm -r "$scratch/other" "$scratch/mmproj-x.gguf"

# A file that is too large to be a tokenizer, config or template.
cp -r "$golden" "$scratch/large"
truncate -s 60G "$scratch/large/tokenizer.json"
refuses 1 "tokenizer.json: 64424509440 bytes" "$agon" inspect "$scratch/large"
refuses 1 "tokenizer.json: 64424509440 bytes" "$agon" tokenize --policy "$scratch/large" hi
rm -r "$scratch/large"

# Ctrl-C while a hub does not answer. timeout forwards it twice.
python3 -c 'import socket, time
with socket.create_server(("127.0.0.1", 0)) as server:
  print(server.getsockname()[1], flush=True)
  time.sleep(60)' >"$scratch/port" &
hub=$!
until [ -s "$scratch/port" ]; do sleep 0.05; done
HF_ENDPOINT=http://127.0.0.1:$(cat "$scratch/port") HF_HUB_CACHE=$scratch/hub \
  says 130 "the same command fetches the rest" timeout --signal=INT --preserve-status 1 "$agon" pull org/name
kill $hub
wait $hub 2>/dev/null

# A run that is killed and resumed plays what an undisturbed one does.
play() { exec "$agon" run --policy "$smollm2" --suite arithmetic --level 1 --tasks 6 --samples 2 --max-tokens 24 "$@"; }
episodes() { sqlite3 "$1/run.sqlite" "SELECT task_index, sample, text, hex(logprobs), e.reward FROM turns t JOIN episodes e ON t.episode_id = e.id ORDER BY 1, 2"; }
recorded() { sqlite3 "$1/run.sqlite" 'SELECT count(*) FROM episodes' 2>/dev/null || echo 0; }
(play --out "$scratch/whole" >/dev/null 2>"$scratch/err") || fail "run: $(cat "$scratch/err")"
play --out "$scratch/killed" --in-flight 1 >/dev/null 2>&1 &
pid=$!
for _ in $(seq 600); do [ "$(recorded "$scratch/killed")" -gt 3 ] && break; sleep 0.05; done
kill -9 $pid 2>/dev/null || fail "the run to kill has ended by itself"
wait $pid 2>/dev/null
(play --out "$scratch/killed" --resume >/dev/null 2>"$scratch/err") || fail "resume: $(cat "$scratch/err")"
[ "$(episodes "$scratch/whole")" = "$(episodes "$scratch/killed")" ] || fail "a killed and resumed run has other episodes"

# Files that are truncated or wrong, and files that are not checkpoints.
damaged() { cp "$file" "$scratch/damaged.gguf"; python3 -c "$1" "$scratch/damaged.gguf"; }
damaged 'import sys, os; os.truncate(sys.argv[1], 1000000)'
refuses 1 "damaged.gguf" "$agon" complete --policy "$scratch/damaged.gguf" hi
damaged 'import sys; f = open(sys.argv[1], "r+b"); f.seek(8); f.write(b"\xff" * 8)'  # the number of tensors
refuses 1 "damaged.gguf" "$agon" inspect "$scratch/damaged.gguf"
damaged 'import sys; f = open(sys.argv[1], "r+b"); f.seek(16); f.write(b"\xff" * 7)'  # the number of keys
refuses 1 "damaged.gguf" "$agon" inspect "$scratch/damaged.gguf"
echo "no model" >"$scratch/damaged.gguf"
refuses 1 "damaged.gguf" "$agon" inspect "$scratch/damaged.gguf"
refuses 1 "context" "$agon" bench "$smollm2" --prompt-tokens 9000 --rounds 1
refuses 2 "auto, f32, bf16, q8" "$agon" complete --policy "$smollm2" --weights q3 hi
refuses 1 "Choose a model that reads pictures" "$agon" run --policy "$smollm2" --suite charts --tasks 1 --out "$scratch/charts"
finish
