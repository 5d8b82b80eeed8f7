#!/usr/bin/env bash
# selfplay_command.sh AGON MODEL: agon selfplay from outside: every way to be told no, games that teach nothing, Ctrl-C.
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
refused "not 'both'" pairing
config zero "critiques: 0"
refused "must be at least 1" zero
config rate "learning: {learning_rate: 0}"
refused "'learning_rate' must be above 0" rate
config threads "learning: {threads: 5000}"
refused "'threads' must lie between 0 and 1024, got 5000" threads
config suite "sources: [{suite: chart}]"
refused "Did you mean 'charts'" suite
config files "sources: [{suite: jsonl}]"
refused "jsonl" files
config model "critic: nowhere"
refused "nowhere" model
printf 'output: x\n' >"$scratch/empty.yaml"
refused "'critic' is missing" empty
refused "absent" absent
config set "rounds: 2"
refused "expected KEY=VALUE" set --set rounds
refused "Did you mean 'rounds'" set --set round=1
refused "must be at least 1" set --set critiques=0

# A generator that was never taught writes no step that could be played.
config untaught "max_tokens: 20"
refused "no game teaches the critic anything: of 6 games 6 are invalid" untaught
[ "$(sqlite3 "$scratch/untaught/run.sqlite" "SELECT count(*) FROM journal WHERE kind = 'game'" 2>/dev/null ||
  python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM journal").fetchone()[0])' "$scratch/untaught/run.sqlite")" = 6 ] ||
  fail "the games are not in the store"
refused "6 are invalid" untaught # the games are there; they are not played again
config untaught "max_tokens: 21"
refused "max_tokens" untaught

finish
