#!/usr/bin/env bash
# The command line of the program AGON: exit codes and the output streams. Usage: command_line.sh AGON
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
expect 2 "no '--jsn'" --version --jsn
expect 2 '--prompt: an empty text' complete ''
for wrong in "--max-tokens 0" "--top-k -1" "--top-p 0" "--top-p nan" "--temperature -1" "--samples 0"; do
  read -r flag value <<<"$wrong"
  expect 2 "$flag: '$value' is not a" complete "$flag" "$value" x
done
for empty in "run --policy" "run --file" "run --out" "run --baseline" "search --rank" "complete --system" "complete --stop" "report --out" "convert TO"; do
  read -r command flag <<<"$empty"
  case $flag in TO) words=(models/agon-tiny '') ;; *) words=("$flag" '') ;; esac
  expect 2 "$flag: an empty text" "$command" "${words[@]}"
done
expect 2 '--suite: given once at most, but there are 2' run --suite charts --suite shapes

# Help, version, the manual and completions.
expect 0 '^agon [0-9]+\.[0-9]+\.[0-9]+ ' version
expect 0 '^Usage: agon COMMAND \[options\]$' help
expect 0 '^Usage: agon run \[options\]$' help run
expect 2 "no 'rnu'. Did you mean 'run'" help rnu
[ "$("$agon" help show)" = "$("$agon" show --help)" ] || fail "agon help show and agon show --help differ"
expect 0 '^\.TH AGON 1 ' man
expect 2 "SHELL: .csh. is not one of bash, fish, zsh" completion csh
for shell in bash fish zsh; do expect 0 'agon' completion $shell; done
# completed WORDS...: what bash offers for the last of them.
completed() {
  "$agon" completion bash >"$scratch/completion" || fail "agon completion bash"
  bash -c 'set -u; . "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _agon; echo "${COMPREPLY[@]}"' _ \
    "$scratch/completion" "$@" | xargs
}
offers() {
  local expected=$1
  shift
  [ "$(completed "$@")" = "$expected" ] || fail "bash completes '$*' with '$(completed "$@")', expected '$expected'"
}
offers 'run' agon ru
offers '--split' agon run --sp
offers 'test train' agon run --split ''
offers 'charts' agon eval --suite cha
offers 'bash fish zsh' agon completion ''
offers 'suites' agon help sui
offers '' agon show runs/

# Old names of flags work, and agon reports the new name.
expect 2 '^run: --threads is called --in-flight now' run --threads 0
expect 2 '^serve-search: --threads is called --in-flight now' serve-search x --threads 0
expect 2 '^search: --n is called --samples now' search --n 0
expect 1 '^eval-rm: --rm is called --reward-model now' eval-rm --rm nowhere --file nowhere
expect 1 '^score: --rm is called --reward-model now' score --rm nowhere "$(dirname "$0")/../../../docs/tour/responses.json"
expect 2 '^run: --verifier is called --reward-model now' run --suite phone --verifier nowhere
expect 1 '^search: --critic rm:DIR is called --critic reward-model:DIR now' search --critic rm:nowhere --tasks 1

[ -z "$("$agon" suites --jsn 2>/dev/null)" ] || fail "a usage error is printed on stdout"
status=0
"$agon" suites >/dev/full 2>/dev/null || status=$?
[ $status = 1 ] || fail "a full disk under stdout: expected exit 1, got $status"

# Closed streams: lost output shows in the exit code, and no file takes the place of a stream.
status=0
"$agon" suites >&- 2>/dev/null || status=$?
[ $status = 1 ] || fail "a closed stdout: expected exit 1, got $status"
for closed in '2>&-' '2>/dev/full' '<&- >&- 2>&-'; do
  status=0
  eval '"$agon" suties' "$closed" || status=$?
  [ $status = 2 ] || fail "$closed: expected exit 2, got $status"
done

finish
