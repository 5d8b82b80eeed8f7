#!/usr/bin/env bash
# exec_command.sh AGON: what agon exec refuses before any code runs: one line, which says what to do.
agon=$1
. "$(dirname "$0")/helpers.sh"
cd "$scratch" || exit 1


echo 'print(1)' >one.py
mkdir a b && echo >a/p.png && echo >b/p.png
refuses 2 'does not exist: none.py' "$agon" exec none.py
printf 'print("\xe9")\n' >latin.py
refuses 1 'latin.py: is not text in UTF-8' "$agon" exec latin.py
refuses 1 "there is no limit 'foo'" "$agon" exec --limit foo=1 one.py
refuses 1 'leaves nothing to fork: there are 1 scripts' "$agon" exec --fork-after 1 one.py
refuses 2 "'-1' is not a whole number" "$agon" exec --fork-after -1 one.py
refuses 1 'is there and is no folder' "$agon" exec --out one.py one.py
refuses 1 'another one has the same name' "$agon" exec --image a/p.png --image b/p.png one.py
refuses 1 '--readable /none: No such file' "$agon" exec --readable /none one.py
refuses 1 'cannot be readable in a sandbox' "$agon" exec --readable / one.py
refuses 1 "is no number of bytes" "$agon" exec --limit memory=12X one.py
refuses 2 'does not exist: none.py' "$agon" exec --image a/p.png none.py one.py
refuses 2 'does not exist: none.py' "$agon" exec --module numpy none.py one.py
refuses 1 "no tier 'Z'. There are: A, B, C" "$agon" exec --floor Z one.py
refuses 1 "no backend 'foo'. There are: native" "$agon" exec --backend foo one.py

finish
