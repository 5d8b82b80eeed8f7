# helpers.sh: functions that the tests of the command line share and source. $scratch is a folder that is removed after
# the test.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

fail() { printf 'FAILED: %s\n' "$*"; failures=$((failures + 1)); }
# value PATH FILE: the value at PATH (keys/and/indices) in a JSON file.
value() {
  python3 -c 'import json, sys
value = json.load(open(sys.argv[2]))
for key in sys.argv[1].split("/"):
  value = value[int(key) if isinstance(value, list) else key]
print(value)' "$1" "$2"
}
# refuses CODE WORDS COMMAND...: the command ends with CODE, with one message on stderr that holds WORDS, and with nothing
# on stdout.
refuses() {
  local code=$1 words=$2 got
  shift 2
  "$@" >"$scratch/out" 2>"$scratch/err"
  got=$?
  [ $got = "$code" ] || fail "$*: exit code $got, expected $code"
  grep -qF -- "$words" "$scratch/err" || fail "$*: stderr lacks '$words': $(cat "$scratch/err")"
  [ "$(grep -c '^agon: ' "$scratch/err")" = 1 ] || fail "$*: not one message: $(cat "$scratch/err")"
  [ ! -s "$scratch/out" ] || fail "$*: refused, and yet printed: $(cat "$scratch/out")"
}
# says CODE WORDS COMMAND...: the command ends with CODE and prints WORDS, on either stream.
says() {
  local code=$1 words=$2 got
  shift 2
  "$@" >"$scratch/out" 2>&1
  got=$?
  [ $got = "$code" ] || fail "$*: exit code $got, expected $code: $(tail -3 "$scratch/out")"
  grep -qF -- "$words" "$scratch/out" || fail "$*: does not say '$words': $(tail -3 "$scratch/out")"
}
# finish: the end of a test.
finish() {
  [ $failures = 0 ] && echo "$(basename "$0"): passed"
  exit $((failures > 0))
}
