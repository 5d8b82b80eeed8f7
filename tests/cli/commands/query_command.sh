#!/usr/bin/env bash
# query_command.sh AGON: agon index, query and serve-search on the command line: the examples of docs/tools.md, and
# every error.
agon=$1
. "$(dirname "$0")/helpers.sh"


cd "$scratch" || exit 1
printf '%s\n' '{"id": "1", "contents": "\"Ada Lovelace\"\nShe wrote the first program, for the Analytical Engine."}' \
              '{"id": "2", "title": "Charles Babbage", "text": "He designed the Analytical Engine."}' >docs.jsonl
says 0 'docs.index: 2 documents, 18 words' "$agon" index docs.jsonl --out docs.index
says 0 '"corpus_hash": "' "$agon" index docs.jsonl --out docs.index --json
says 0 'Ada Lovelace  [1]' "$agon" query docs.index 'who wrote the first program?'
says 0 'No document matches' "$agon" query docs.index 'NEAR( "'
says 0 'No document matches' "$agon" query docs.index ''
says 0 '"title": "Charles Babbage"' "$agon" query docs.index '"designed" OR' --top-k 1 --json
for line in $(seq 11); do echo '{"id": "'$line'", "contents": "text"}'; done >broken.jsonl
echo '{broken' >>broken.jsonl
says 0 'line 12: not JSON' "$agon" index broken.jsonl --out broken.index
says 1 'more than a tenth' "$agon" index docs.index --out other.index
says 1 'cannot be read' "$agon" index nothing.jsonl --out other.index
says 1 'cannot be written' "$agon" index docs.jsonl --out no/such/folder
says 1 'no such index' "$agon" query nothing.index x
says 1 'not a search index' "$agon" query docs.jsonl x
says 1 'a folder' "$agon" query . x
says 1 'unavailable' "$agon" query http://127.0.0.1:1 x
says 1 "ftp://x' is not an address" "$agon" query ftp://x y
says 1 'is not an address' "$agon" query searxng+host y
says 1 'SERPER_API_KEY' "$agon" query serper x
says 2 'go together' "$agon" query docs.index x --cache searches
says 2 'top-k' "$agon" query docs.index x --top-k 0
says 2 'QUERY' "$agon" query docs.index

"$agon" serve-search docs.index --port 0 >served 2>served.err &
server=$!
for _ in $(seq 200); do grep -q ^serving served && break; sleep 0.05; done
url=$(sed -n 's/.* at \(http:[^ ]*\)\/retrieve; .*/\1/p' served)
says 0 'Ada Lovelace' "$agon" query "$url" 'first program' --cache searches --cache-mode record
says 0 'Charles Babbage' "$agon" query "$url" 'babbage'
# A request without a header for its body.
exec 3<>"/dev/tcp/127.0.0.1/${url##*:}"
printf 'POST /retrieve HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' >&3
head -1 <&3 | grep -q ' 400 ' || fail "serve-search: a request without a body is not refused as such"
exec 3<&-
kill -INT $server
wait $server
code=$?
[ $code = 130 ] || fail "serve-search: exit code $code after Ctrl-C, expected 130"
grep -q 'stopped after 3 requests' served.err || fail "serve-search: $(cat served.err)"
says 1 'unavailable' "$agon" query "$url" 'first program'
says 0 'Ada Lovelace' "$agon" query "$url" 'first  program' --cache searches --cache-mode replay
says 1 'offline_miss' "$agon" query "$url" 'babbage' --cache searches --cache-mode replay

finish
