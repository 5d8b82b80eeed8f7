#!/usr/bin/env bash
# The command line of the program AGON: exit codes, and where words go. Usage: command_line.sh AGON
agon=$1
. "$(dirname "$0")/helpers.sh"

# expect CODE PATTERN ARGUMENTS...: the exit code, and a pattern in what was printed (both streams).
expect() {
  local code=$1 pattern=$2 output status=0
  shift 2
  output=$("$agon" "$@" 2>&1) || status=$?
  [ "$status" = "$code" ] && grep -qE -- "$pattern" <<<"$output" && return
  fail "agon $*: expected exit $code and /$pattern/, got exit $status and: $output"
}

expect 0 '^agon [0-9]+\.[0-9]+\.[0-9]+ \(commit [0-9a-f]{12}(-dirty)?|unknown\)$' --version
expect 0 '^Usage: agon' --help
expect 0 '^suite +levels' suites
expect 0 '^\[' suites --json
expect 1 '^FAIL +output .*/proc/no/such' doctor --out /proc/no/such
expect 1 '^FAIL +model .*no-model' doctor --policy no-model
expect 1 '"ok": false' doctor --policy no-model --json
expect 1 '"policy": null' doctor --policy no-model --json
expect 2 '^Usage: agon'
expect 2 "^agon: .*no 'suties'" suties
expect 2 "^agon: .*Did you mean '--json'" suites --jsn
expect 2 "got 'charts'" suites charts

[ -z "$("$agon" suites --jsn 2>/dev/null)" ] || fail "a usage error is printed on stdout"
status=0
"$agon" suites >/dev/full 2>/dev/null || status=$?
[ $status = 1 ] || fail "a full disk under stdout: expected exit 1, got $status"

# Closed streams: what is printed into them is lost and said so by the code, and no file takes their place.
status=0
"$agon" suites >&- 2>/dev/null || status=$?
[ $status = 1 ] || fail "a closed stdout: expected exit 1, got $status"
for closed in '2>&-' '2>/dev/full' '<&- >&- 2>&-'; do
  status=0
  eval '"$agon" suties' "$closed" || status=$?
  [ $status = 2 ] || fail "$closed: expected exit 2, got $status"
done

finish
