#!/usr/bin/env bash
# query_command.sh AGON: agon index, query and serve-search from outside: what docs/tools.md shows, and every way to be told no.
set -u
agon=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

fail() { printf 'FAILED: %s\n' "$*"; failures=$((failures + 1)); }
# expect CODE WORDS ARGUMENTS...: the exit code, and words in what was printed (both streams).
expect() {
  local code=$1 words=$2
  shift 2
  "$agon" "$@" >"$scratch/out" 2>&1
  local got=$?
  [ $got = "$code" ] || fail "$*: exit code $got, expected $code: $(cat "$scratch/out")"
  grep -q -- "$words" "$scratch/out" || fail "$*: no '$words' in: $(cat "$scratch/out")"
}

cd "$scratch" || exit 1
printf '%s\n' '{"id": "1", "contents": "\"Ada Lovelace\"\nShe wrote the first program, for the Analytical Engine."}' \
              '{"id": "2", "title": "Charles Babbage", "text": "He designed the Analytical Engine."}' >docs.jsonl
expect 0 '^docs.index: 2 documents, 18 words' index docs.jsonl --out docs.index
expect 0 '"corpus_hash": "[0-9a-f]*"' index docs.jsonl --out docs.index --json
expect 0 '^ 1 .*Ada Lovelace  \[1\]' query docs.index 'who wrote the first program?'
expect 0 '^No document matches' query docs.index 'NEAR( "'
expect 0 '^No document matches' query docs.index ''
expect 0 '"title": "Charles Babbage"' query docs.index '"designed" OR' --top-k 1 --json
for line in $(seq 11); do echo '{"id": "'$line'", "contents": "text"}'; done >broken.jsonl
echo '{broken' >>broken.jsonl
expect 0 'line 12: not JSON' index broken.jsonl --out broken.index
expect 1 'more than a tenth' index docs.index --out other.index
expect 1 'cannot be read' index nothing.jsonl --out other.index
expect 1 'cannot be written' index docs.jsonl --out no/such/folder
expect 1 'no such index' query nothing.index x
expect 1 'not a search index' query docs.jsonl x
expect 1 'a folder' query . x
expect 1 'unavailable' query http://127.0.0.1:1 x
expect 1 'ftp://x. is no address' query ftp://x y
expect 1 'is no address' query searxng+host y
expect 1 'SERPER_API_KEY' query serper x
expect 1 'go together' query docs.index x --cache searches
expect 2 'top-k' query docs.index x --top-k 0
expect 2 'QUERY' query docs.index

"$agon" serve-search docs.index --port 0 >served 2>served.err &
server=$!
for _ in $(seq 200); do grep -q ^serving served && break; sleep 0.05; done
url=$(sed -n 's/.* at \(http:[^ ]*\)\/retrieve; .*/\1/p' served)
expect 0 'Ada Lovelace' query "$url" 'first program' --cache searches --cache-mode record
expect 0 'Charles Babbage' query "$url" 'babbage'
# A request that says nothing of a body.
exec 3<>"/dev/tcp/127.0.0.1/${url##*:}"
printf 'POST /retrieve HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' >&3
head -1 <&3 | grep -q ' 400 ' || fail "serve-search: a request without a body is not refused as such"
exec 3<&-
kill -INT $server
wait $server
code=$?
[ $code = 130 ] || fail "serve-search: exit code $code after Ctrl-C, expected 130"
grep -q 'stopped after 3 requests' served.err || fail "serve-search: $(cat served.err)"
expect 1 'unavailable' query "$url" 'first program'
expect 0 'Ada Lovelace' query "$url" 'first  program' --cache searches --cache-mode replay
expect 1 'offline_miss' query "$url" 'babbage' --cache searches --cache-mode replay

[ $failures = 0 ] && echo "query_command: passed"
exit $((failures > 0))
