#!/usr/bin/env bash
# served_policy_command.sh AGON MODEL: agon as the client of agon serve: every command that takes a policy gives the
# same results as in one process, even if the server is killed meanwhile.
agon=$(realpath "$1") model=$(realpath "$2") here=$(realpath "$(dirname "$0")")
. "$here/helpers.sh"
models=$(dirname "$model")
cd "$scratch" || exit 1
export AGON_CACHE=$scratch/cache.sqlite
unset AGON_API_KEY

# serving NAME PORT ARGUMENTS...: a server; its address in $url, its process in $server.
serving() {
  rm -f "$1"
  "$agon" serve --port "$2" "${@:3}" >"$1" 2>"$1.err" &
  server=$!
  for _ in {1..200}; do grep -q ^serving "$1" && break; sleep 0.05; done
  url=$(sed -n 's/.* at \(http:[^ ]*\/v1\); .*/\1/p' "$1")
}
figures() { sed '/"seconds"/d; /"run"/d; /"provenance"/,$d; /"critic"/d' "$1"; }
texts() { sqlite3 "$1/run.sqlite" "SELECT task_index, sample, turn, text, t.reward FROM turns t JOIN episodes e ON e.id = t.episode_id ORDER BY 1, 2, 3"; }
tree() { sqlite3 "$1/run.sqlite" "SELECT task_index, number, node, parent, text FROM search_steps ORDER BY 1, 2, 3; SELECT task_index, number, node, judgement, critique FROM search_verdicts ORDER BY 1, 2, 3"; }
# here_and_there NAME COMMAND... -- FLAGS...: the command, and the same with the flags of servers.
here_and_there() {
  local name=$1 command=()
  shift
  while [ "$1" != -- ]; do command+=("$1"); shift; done
  shift
  "$agon" "${command[@]}" >"$name.here" 2>err || fail "$name in one process: $(tail -2 err)"
  "$agon" "${command[@]/#here-/there-}" "$@" >"$name.there" 2>err || fail "$name through servers: $(tail -2 err)"
}

serving critic 0 --policy "$models/agon-tiny-critic" --reward-model "$models/agon-tiny-reward"
critic=$url critic_server=$server
serving solver 0 --policy "$model"
solver=$url
for trait in 'seeds         yes' 'named by the server' 'continue_final_message' 'scoring       yes' 'context       2048 tokens'; do
  says 0 "$trait" "$agon" doctor --policy "$solver"
done

greedy=(--temperature 0 --tasks 6)
here_and_there run run --suite charts "${greedy[@]}" --out here-run -- --policy "$solver"
[ -n "$(texts here-run)" ] && [ "$(texts here-run)" = "$(texts there-run)" ] || fail "run: other texts"
here_and_there tools run --suite lookup --level 1 "${greedy[@]}" --out here-tools -- --policy "$solver"
[ "$(texts here-tools)" = "$(texts there-tools)" ] || fail "a suite of several turns: other texts"
here_and_there search search --suite charts --tasks 4 --method guided --attempts 1 --out here-search -- \
  --policy "$solver" --critic-policy "$critic"
[ -n "$(tree here-search)" ] && [ "$(tree here-search)" = "$(tree there-search)" ] || fail "search: another tree"
here_and_there judged eval-critic --suite charts --tasks 3 --json -- --policy "$critic"
[ "$(figures judged.here)" = "$(figures judged.there)" ] || fail "eval-critic: other figures"
here_and_there scored eval-critic --suite charts --tasks 3 --critic discriminative -- --policy "$critic"
[ "$(sed 's/ agon-tiny-critic/ /g' scored.here)" = "$(sed 's/ agon-tiny-critic/ /g' scored.there)" ] ||
  fail "a discriminative critic: other figures: $(diff scored.here scored.there)"
printf '%s\n' '{"id": "a", "problem": "What is 2 + 3?", "steps": ["2 + 3 is 5.", "So it is 6."], "label": 1}' \
  '{"id": "b", "problem": "What is 4 + 3?", "steps": ["4 + 3 is 7.", "So it is 7."], "label": -1}' >steps.jsonl
"$agon" eval-critic --file steps.jsonl --critic process-reward --url "${critic%/v1}" >pooled 2>err ||
  fail "one agon's reward model as the critic of another: $(tail -2 err)"
solver_server=$server
serving judge 0 --critic generative
"$agon" search --suite charts --tasks 4 --method guided --attempts 1 --out asked-search --critic process-reward \
  --critic-url "${url%/v1}" >/dev/null 2>err || fail "a critic that is served: $(tail -2 err)"
[ "$(tree here-search)" = "$(tree asked-search)" ] || fail "a critic that is served: another tree"
kill $server
server=$solver_server
"$agon" eval --suite charts --policy "$solver" "${greedy[@]}" --samples 1 --out eval >/dev/null 2>err || fail "eval: $(tail -2 err)"
server_name=${solver#http://}
[ -f "eval/${server_name%/v1}/charts/run.sqlite" ] || fail "eval: a server that is named by its address alone: $(ls eval)"
"$agon" make-preferences --policy "$solver" --tasks 4 --responses 2 --out preferences >/dev/null 2>err || fail "make-preferences: $(tail -2 err)"
"$agon" eval-rm --judge "$solver" --file preferences/preferences.jsonl >/dev/null 2>err || fail "eval-rm: $(tail -2 err)"
printf 'critic: %s\nsneaky: %s\nsolvers: ["%s"]\nsources: [{suite: charts, level: 1, games: 2}]\nrounds: 1\nmax_tokens: 8\noutput: selfplay\n' \
  "$models/agon-tiny-critic" "$model" "$solver" >selfplay.yaml
"$agon" selfplay selfplay.yaml >/dev/null 2>err
grep -q '2/2 games' err || fail "selfplay: $(tail -2 err)"

# kill -9 of the server during a run: answers are kept, and the run ends like an undisturbed one.
"$agon" run --suite charts --temperature 0 --tasks 200 --in-flight 2 --out here-long >/dev/null 2>&1
"$agon" run --suite charts --temperature 0 --tasks 200 --in-flight 2 --policy "$solver" --out there-long >/dev/null 2>err &
client=$!
recorded() { sqlite3 there-long/run.sqlite "SELECT count(*) FROM episodes WHERE status = 'done'" 2>/dev/null || echo 0; }
for _ in {1..600}; do [ "$(recorded)" -gt 10 ] && break; sleep 0.02; done
kill -9 "$server"
wait "$server" 2>/dev/null
port=${solver##*:}
serving again "${port%/v1}" --policy "$model"
wait $client
"$agon" run --suite charts --temperature 0 --tasks 200 --in-flight 2 --policy "$solver" --out there-long --resume >/dev/null 2>err ||
  fail "the run goes on: $(tail -2 err)"
[ "$(texts here-long)" = "$(texts there-long)" ] || fail "a run whose server was killed: other texts"

# A recorded search replays without any server.
kill -9 "$server" "$critic_server"
wait "$server" "$critic_server" 2>/dev/null
"$agon" search --suite charts --tasks 4 --method guided --attempts 1 --policy "$solver" --critic-policy "$critic" \
  --cache replay --out replayed >/dev/null 2>err || fail "a replay: $(tail -2 err)"
[ "$(tree replayed)" = "$(tree here-search)" ] || fail "a replay: another tree"

finish
