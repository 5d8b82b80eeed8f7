#!/usr/bin/env bash
# exec_command.sh AGON: what agon exec refuses before any code runs: one line, which says what to do.
set -u
agon=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
cd "$scratch" || exit 1

fail() { echo "FAILED: $*" >&2; failures=$((failures + 1)); }
# refused CODE WORDS ARGUMENTS...: the exit code, one line with the words, and no script was run.
refused() {
  local code=$1 words=$2
  shift 2
  "$agon" exec "$@" >out 2>err
  local got=$?
  [ $got = "$code" ] || fail "exec $*: exit code $got, expected $code"
  grep -qF -- "$words" err || fail "exec $*: stderr lacks '$words': $(cat err)"
  [ "$(wc -l <err)" = 1 ] && [ ! -s out ] || fail "exec $*: not one line: $(cat out err)"
}

echo 'print(1)' >one.py
mkdir a b && echo >a/p.png && echo >b/p.png
refused 2 'does not exist: none.py' none.py
printf 'print("\xe9")\n' >latin.py
refused 1 'latin.py: is not text in UTF-8' latin.py
refused 1 "there is no limit 'foo'" --limit foo=1 one.py
refused 1 'leaves nothing to fork: there are 1 scripts' --fork-after 1 one.py
refused 2 "'-1' is not a whole number" --fork-after -1 one.py
refused 1 'is there and is no folder' --out one.py one.py
refused 1 'another one has the same name' --image a/p.png --image b/p.png one.py
refused 1 '--readable /none: No such file' --readable /none one.py
refused 1 'cannot be readable in a sandbox' --readable / one.py
refused 1 "is no number of bytes" --limit memory=12X one.py
refused 2 'does not exist: none.py' --image a/p.png none.py one.py
refused 2 'does not exist: none.py' --module numpy none.py one.py
refused 1 "no tier 'Z'. There are: A, B, C" --floor Z one.py
refused 1 "no backend 'foo'. There are: native" --backend foo one.py

[ $failures = 0 ] && echo "exec_command: passed"
exit $((failures > 0))
