#!/usr/bin/env bash
# server_command.sh AGON MODEL: every command that takes a policy, with a policy behind a server; kill -9 of the client
# and of the server, the cache, and a price.
agon=$(realpath "$1") model=$(realpath "$2") here=$(realpath "$(dirname "$0")")
. "$here/helpers.sh"
cd "$scratch" || exit 1
export AGON_CACHE=$scratch/cache.sqlite

# serve FILE SECONDS: starts the server; its address in $url, its process in $server.
serve() {
  rm -f "$1"
  python3 "$here/chat_server.py" "$1" "$2" 2>/dev/null &
  server=$!
  for _ in {1..200}; do [ -s "$1" ] && break; sleep 0.05; done
  url=http://127.0.0.1:$(cat "$1")/v1
}
asked() { wc -l <"$1.log"; }
recorded() { sqlite3 "$1/run.sqlite" "SELECT count(*) FROM episodes WHERE status = 'done'" 2>/dev/null || echo 0; }
figures() { sed '/"seconds"/d; /"run"/d; /"provenance"/,$d' "$1"; }

# kill -9 of the server during a run: agon waits 30 seconds for it, and the next tests run meanwhile.
long=(--suite lookup --level 1 --tasks 40 --samples 1 --in-flight 4 --seed)
serve mortal 0.05
AGON_CACHE=$scratch/orphan.sqlite "$agon" run --policy "$url#digits" "${long[@]}" 10 --out orphan >/dev/null 2>orphan.err &
orphan=$!
for _ in {1..600}; do [ "$(recorded orphan)" -gt 5 ] && break; sleep 0.02; done
kill -9 $server

serve port 0
says 0 "digits" "$agon" doctor --policy "$url"
says 0 "continue_final_message" "$agon" doctor --policy "$url"
says 0 "<answer>" "$agon" complete --policy "$url" 'Which digit?'
small=(--suite lookup --level 1 --tasks 4 --samples 2)
"$agon" run --policy "$url#digits" "${small[@]}" --out run --json >run.json 2>err || fail "run: $(tail -2 err)"
[ "$(recorded run)" = 12 ] || fail "run: $(recorded run) episodes are done, not 12"
grep -q '"policy_tokens": 0' run.json && fail "run: no tokens were counted"
says 0 "what it wrote" "$agon" show run 0

# Nothing is paid twice: neither by the same run again nor by a replay, which works without the server.
before=$(asked port)
"$agon" run --policy "$url#digits" "${small[@]}" --cache replay --out replayed --json >replayed.json 2>err || fail "replay: $(tail -2 err)"
[ "$(asked port)" = "$before" ] || fail "a replay asked the server"
[ "$(figures run.json)" = "$(figures replayed.json)" ] || fail "a replay has other figures"
refuses 1 "--cache replay" "$agon" complete --policy "$url#digits" --cache replay 'Which other digit?'
says 0 "generations of 1 models" "$agon" cache

"$agon" eval --policy "$url" --policy "$model" "${small[@]}" --out eval >/dev/null 2>err || fail "eval: $(tail -2 err)"
refuses 1 "--retry independent" "$agon" search --policy "$url" --suite lookup --level 1 --tasks 2 --critic oracle --out search
for method in "guided --retry independent --critic oracle" "beam --width 2 --critic oracle" best-of-n majority; do
  "$agon" search --policy "$url" --suite lookup --level 1 --tasks 2 --method $method --out "search-${method%% *}" >/dev/null 2>err ||
    fail "search $method: $(tail -2 err)"
done
"$agon" search --policy "$model" --suite lookup --level 1 --tasks 1 --critic-policy "$url" --out judged >/dev/null 2>err || fail "a critic: $(tail -2 err)"
"$agon" eval-critic --policy "$url" --suite lookup --tasks 1 >/dev/null 2>err || fail "eval-critic: $(tail -2 err)"
"$agon" make-preferences --policy "$url" --tasks 6 --responses 2 --out preferences >/dev/null 2>err || fail "make-preferences: $(tail -2 err)"
"$agon" eval-rm --judge "$url" --file preferences/preferences.jsonl >/dev/null 2>err || fail "eval-rm: $(tail -2 err)"
printf 'critic: %s\nsneaky: %s\nsolvers: ["%s"]\nsources: [{suite: charts, level: 1, games: 2}]\nrounds: 1\nmax_tokens: 8\noutput: selfplay\n' \
  "$model" "$model" "$url" >selfplay.yaml
"$agon" selfplay selfplay.yaml --print-config 2>err | grep -qF "$url" || fail "selfplay: the solver's address is another: $(tail -2 err)"

# A server cannot be trained, and errors name the cause.
refuses 1 "selfplay: $url learns" "$agon" selfplay selfplay.yaml --set critic="$url"
refuses 1 "does not exist" "$agon" complete --policy "$url#letters" x
refuses 1 "127.0.0.1:1" "$agon" complete --policy http://127.0.0.1:1/v1 x
printf 'url: %s\nmodle: digits\n' "$url" >wrong.yaml
refuses 1 "modle" "$agon" complete --policy wrong.yaml x

# The cost of a run, and the limit that ends it.
printf 'url: %s\nmodel: digits\nprice: {input: 1000, output: 2000}\n' "$url" >policy.yaml
"$agon" run --policy policy.yaml "${small[@]}" --out priced --json >priced.json 2>err || fail "a price: $(tail -2 err)"
python3 - priced.json <<'PYTHON' || fail "the cost is wrong"
import json, sys
figures = json.load(open(sys.argv[1]))
assert figures["cost"]["usd"] > 12 * 100 * 1000 / 1e6 + figures["policy_tokens"] * 2000 / 1e6 - 1e-9, figures["cost"]
assert abs(figures["cost"]["usd_per_task"] * 4 - figures["cost"]["usd"]) < 1e-9
PYTHON
says 0 "the servers of this call cost" "$agon" complete --policy policy.yaml 'Which digit now?'
"$agon" search --policy policy.yaml --suite lookup --level 1 --tasks 2 --seed 7 --method best-of-n --out priced-search --json >priced.json 2>err ||
  fail "the price of a search: $(tail -2 err)"
grep -q '"usd"' priced.json || fail "a search says no cost"
refuses 1 "the budget of 0.5 US dollars is spent" "$agon" run --policy policy.yaml "${small[@]}" --budget usd=0.5 --out budget
refuses 1 "the budget of 0.5 US dollars is spent" "$agon" run --policy policy.yaml "${small[@]}" --budget usd=0.5 --out budget --resume
"$agon" run --policy policy.yaml "${small[@]}" --budget usd=1000 --out budget --resume >/dev/null 2>err || fail "a larger budget: $(tail -2 err)"
kill $server
wait $server 2>/dev/null

# kill -9 of the client during a run: answered requests are not sent again.
serve slow 0.05
for at_least in 5 20; do
  "$agon" run --policy "$url#digits" "${long[@]}" 9 --out killed --resume >/dev/null 2>&1 &
  pid=$!
  for _ in {1..600}; do [ "$(recorded killed)" -gt $at_least ] && break; sleep 0.02; done
  kill -9 $pid 2>/dev/null || fail "the run to kill has ended by itself"
  wait $pid 2>/dev/null
done
"$agon" run --policy "$url#digits" "${long[@]}" 9 --out killed --resume --json >killed.json 2>err || fail "resume: $(tail -2 err)"
[ "$(recorded killed)" = 80 ] || fail "resume: $(recorded killed) episodes are done, not 80"
kept=$(sqlite3 "$AGON_CACHE" "SELECT count(*) FROM generations")
before=$(asked slow)
"$agon" run --policy "$url#digits" "${long[@]}" 9 --out again --json >again.json 2>err || fail "again: $(tail -2 err)"
[ "$(figures killed.json)" = "$(figures again.json)" ] || fail "a killed and resumed run has other figures"
[ $(($(asked slow) - before)) -lt 20 ] || fail "a run that was recorded asked the server $(($(asked slow) - before)) times"
[ "$(sqlite3 "$AGON_CACHE" "SELECT count(*) FROM generations")" = "$kept" ] || fail "a run that was recorded was generated again"

kill $server
wait $server 2>/dev/null

# The run whose server was killed has stopped, and can be resumed when the server is back.
wait $orphan
ended=$?
[ $ended = 1 ] || fail "a run whose server is gone ends with $ended"
grep -q "is gone" orphan.err || fail "a run whose server is gone: $(tail -2 orphan.err)"
kept=$(recorded orphan)
[ "$kept" -gt 5 ] && [ "$kept" -lt 80 ] || fail "$kept episodes are kept"
serve slow2 0
"$agon" run --policy "$url#digits" "${long[@]}" 10 --out orphan --resume >/dev/null 2>err || fail "a server that is back: $(tail -2 err)"
[ "$(recorded orphan)" = 80 ] || fail "a server that is back: $(recorded orphan) episodes"
kill $server
wait $server 2>/dev/null

finish
