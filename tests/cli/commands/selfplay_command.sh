#!/usr/bin/env bash
# selfplay_command.sh AGON MODEL: agon selfplay on the command line: every error, games that give no training data,
# Ctrl-C.
agon=$1 model=$2
. "$(dirname "$0")/helpers.sh"

# config NAME LINES...: $scratch/NAME.yaml, with the keys that every config needs unless a line gives them.
config() {
  local name=$1
  shift
  printf '%s\n' "$@" >"$scratch/$name.yaml"
  local key
  for key in "output: $name" "critic: $model" "sneaky: $model" "solvers: [$model]" "sources: [{suite: charts, level: 1, games: 6}]"; do
    grep -q "^${key%%:*}:" "$scratch/$name.yaml" || printf '%s\n' "$key" >>"$scratch/$name.yaml"
  done
}

# refused WORDS NAME FLAGS...
refused() { refuses 1 "$1" "$agon" selfplay "$scratch/$2.yaml" "${@:3}"; }

config key "round: 2"
refused "Did you mean 'rounds'" key
config type "rounds: two"
refused "'rounds' has the wrong type" type
config pairing "pairing: both"
refused "got 'both'" pairing
config zero "critiques: 0"
refused "'critiques' must lie between 1 and 256, got 0" zero
config rate "learning: {learning_rate: 0}"
refused "'learning_rate' must be above 0" rate
config threads "learning: {threads: 5000}"
refused "'threads' must lie between 0 and 1024, got 5000" threads
config suite "sources: [{suite: chart}]"
refused "Did you mean 'charts'" suite
config files "sources: [{suite: jsonl}]"
refused "jsonl" files
config model "critic: nowhere"
refused "nowhere is not a model folder" model
config solver "sources: [{suite: charts, solvers: [elsewhere]}]"
refused "elsewhere is not a model folder" solver
config adapter "critic: $(realpath "$(dirname "$0")/../../../models/agon-tiny-reward")"
refused "must be a model folder, not an adapter. An adapter can be a solver" adapter
config tokens "max_tokens: 0"
refused "'max_tokens' must be at least 1" tokens
config cold "temperature: 0"
refused "'temperature' above 0" cold
config cold "temperature: -1"
refused "'temperature' above 0" cold
config games "sources: [{suite: charts, games: 0}]"
refused "'games' must be at least 1" games
config games "sources: [{suite: charts, games: -3}]"
refused "'games' must be a whole number from 0 to 18446744073709551615, got -3" games
config seed "seed: -1"
refused "'seed' must be a whole number from 0 to 18446744073709551615, got -1" seed
config weight "learning: {imitation_weight: -0.1}"
refused "'imitation_weight' must be at least 0" weight
printf 'output: x\n' >"$scratch/empty.yaml"
refused "'critic' is missing" empty
refused "absent" absent
config set "rounds: 2"
refused "'pairs' needs at least 2 'critiques'" set --set critiques=1
refuses 2 "is not KEY=VALUE" "$agon" selfplay "$scratch/set.yaml" --set rounds
refused "Did you mean 'rounds'" set --set round=1
refused "must lie between 1 and 256" set --set critiques=0
for yaml in "$scratch"/*.yaml; do
  [ -e "${yaml%.yaml}" ] && fail "a refused selfplay left a folder: ${yaml%.yaml}"
done

# An untrained generator writes no step that could be played.
config untaught "max_tokens: 20"
refused "no game teaches the critic anything: of 6 games 6 are invalid" untaught
[ "$(sqlite3 "$scratch/untaught/run.sqlite" "SELECT count(*) FROM journal WHERE kind = 'game'" 2>/dev/null ||
  python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM journal").fetchone()[0])' "$scratch/untaught/run.sqlite")" = 6 ] ||
  fail "the games are not in the store"
refused "holds a run already" untaught
refused "6 are invalid" untaught --resume # the games are there; they are not played again
config untaught "max_tokens: 21"
refused "max_tokens" untaught --resume

# Ctrl-C and kill -9 in the middle: the same command plays the missing games, and all games equal those of an
# uninterrupted run.
games() {
  python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute("SELECT task_index, body FROM journal ORDER BY task_index"): print(*row)' "$scratch/$1/run.sqlite"
}
many="sources: [{suite: charts, level: 1, games: 400}]"
config whole "max_tokens: 20" "$many"
refused "of 400 games 400 are invalid" whole
for signal in INT KILL; do
  config cut "max_tokens: 20" "$many"
  rm -rf "$scratch/cut"
  "$agon" selfplay "$scratch/cut.yaml" >"$scratch/out" 2>"$scratch/err" &
  pid=$!
  until [ -n "$(games cut 2>/dev/null)" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
  kill -$signal $pid
  wait $pid
  got=$?
  [ $got = $([ $signal = INT ] && echo 130 || echo 137) ] || fail "selfplay ends with $got after SIG$signal"
  [ $signal = KILL ] || grep -q "Rerun the same command with --resume" "$scratch/err" || fail "no word of Ctrl-C: $(cat "$scratch/err")"
  [ "$(games cut | wc -l)" -lt 400 ] || fail "SIG$signal came too late to test anything"
  refused "of 400 games 400 are invalid" cut --resume
  [ "$(games cut)" = "$(games whole)" ] || fail "after SIG$signal the games are others than in one go"
done

# The number of threads may change; the model may not.
cp -r "$model" "$scratch/critic"
config files "critic: critic" "max_tokens: 20" "learning: {threads: 1}"
refused "6 are invalid" files
refused "6 are invalid" files --resume --set learning.threads=2
printf ' ' >>"$scratch/critic/config.json"
refused "files.critic" files --resume

finish
