#!/usr/bin/env bash
# serve_command.sh AGON MODEL: agon serve on the command line: its endpoints, its key, and how it ends.
agon=$1 model=$2
. "$(dirname "$0")/helpers.sh"
unset AGON_API_KEY

refuses 1 'AGON_API_KEY' "$agon" serve --policy "$model" --host 0.0.0.0 --port 0
refuses 2 'is a server, not a model folder' "$agon" serve --policy http://127.0.0.1:1/v1
refuses 1 'not a model folder' "$agon" serve --policy "$scratch/nothing"
refuses 2 'is not NAME=FOLDER' "$agon" serve --policy "$model" --adapter role
refuses 1 'no adapter_config.json' "$agon" serve --policy "$model" --adapter role="$model"
refuses 1 'is an adapter. Give its base to --policy' "$agon" serve --policy "$(dirname "$model")/agon-tiny-reward"
refuses 1 'no such index' "$agon" serve --search-index "$scratch/nothing"
refuses 2 '--queue' "$agon" serve --queue -1

# serving ARGUMENTS...: a server in the background; $url is its address, up to the port.
serving() {
  "$agon" serve --port 0 "$@" >"$scratch/served" 2>"$scratch/served.err" &
  server=$!
  for _ in $(seq 200); do grep -q ^serving "$scratch/served" && break; sleep 0.05; done
  url=$(sed -n 's/.* at \(http:[^ ]*\)\/v1; .*/\1/p' "$scratch/served")
}
# ended SIGNAL: after it the server ends with 130.
ended() {
  kill "-$1" "$server"
  wait "$server"
  local code=$?
  [ $code = 130 ] || fail "serve: exit code $code after SIG$1, expected 130"
}
ask() { curl -sS --max-time 60 "$@"; }
chat='{"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 8, "temperature": 0}'

serving --policy "$model"
says 0 '"status":"ok"' ask "$url/health"
says 0 '"id":"agon-tiny"' ask "$url/v1/models"
says 0 '"object":"chat.completion"' ask "$url/v1/chat/completions" -d "$chat"
says 0 'data: [DONE]' ask -N "$url/v1/chat/completions" -d "${chat%\}}, \"stream\": true}"
says 0 'agon_generation_tokens_total' ask "$url/metrics"
says 0 'not JSON' ask "$url/v1/chat/completions" -d '{'
# A stream in progress is finished; later requests are not answered.
ask -N "$url/v1/chat/completions" -d '{"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 400, "temperature": 100, "stream": true}' \
  >"$scratch/stream" &
client=$!
for _ in $(seq 200); do grep -q content "$scratch/stream" && break; sleep 0.01; done
ended TERM
wait $client
grep -q '^data: \[DONE\]' "$scratch/stream" || fail "serve: the stream under way was cut: $(tail -c 200 "$scratch/stream")"
grep -q 'serve: stopped after [0-9]* requests' "$scratch/served.err" || fail "serve: $(cat "$scratch/served.err")"
! grep -q Hello "$scratch/served" "$scratch/served.err" || fail "serve: a prompt is printed"

serving --policy "$model" --adapter judge="$(dirname "$model")/agon-tiny-reward"
grep -q 'serving agon-tiny, judge at' "$scratch/served" || fail "serve: $(cat "$scratch/served")"
says 0 '"parent":"agon-tiny"' ask "$url/v1/models/judge"
says 0 '"model":"judge"' ask "$url/v1/chat/completions" -d "${chat%\}}, \"model\": \"judge\"}"
ended INT

export AGON_API_KEY=secret
serving --policy "$model" --host 0.0.0.0
url=${url/0.0.0.0/127.0.0.1}
says 0 'invalid_api_key' ask "$url/v1/chat/completions" -d "$chat"
says 0 '"object":"chat.completion"' ask -H 'Authorization: Bearer secret' "$url/v1/chat/completions" -d "$chat"
! grep -q secret "$scratch/served" "$scratch/served.err" || fail "serve: the key is printed"
ended INT
unset AGON_API_KEY

printf '{"id": "1", "contents": "\\"Cats\\"\\nThe cat sat on the mat."}\n' >"$scratch/docs.jsonl"
"$agon" index "$scratch/docs.jsonl" --out "$scratch/index" >/dev/null 2>&1 || fail "the index"
serving --reward-model "$(dirname "$model")/agon-tiny-reward" --search-index "$scratch/index"
says 0 '"relevance_score"' ask "$url/v1/rerank" -d '{"query": "2 + 2?", "documents": ["It is 4.", "It is 5."]}'
says 0 '"usage":{"prompt_tokens":' ask "$url/v1/score" -d '{"text_1": "2 + 2?", "text_2": ["It is 4.", "It is 5."]}'
says 0 'The cat sat' ask "$url/retrieve" -d '{"queries": ["cat"]}'
says 0 'this server has no policy' ask "$url/v1/chat/completions" -d "$chat"
ended INT

finish
