#!/usr/bin/env bash
# exec_command.sh AGON: errors of agon exec before any code runs: one line that says what to do. Its output: text that
# cannot control the terminal, pictures under any name, and the results of all scripts, whatever happens to one of them.
agon=$1
. "$(dirname "$0")/helpers.sh"
cd "$scratch" || exit 1


echo 'print(1)' >one.py
mkdir a b && echo >a/p.png && echo >b/p.png
refuses 2 'does not exist: none.py' "$agon" exec none.py
refuses 2 "unknown limit 'foo'" "$agon" exec --limit foo=1 one.py
refuses 2 'leaves nothing to fork: there are 1 scripts' "$agon" exec --fork-after 1 one.py
refuses 2 "'-1' is not a whole number" "$agon" exec --fork-after -1 one.py
refuses 1 'exists and is not a folder' "$agon" exec --out one.py one.py
refuses 2 'another image has the same name' "$agon" exec --image a/p.png --image b/p.png one.py
refuses 1 '--readable /none: No such file' "$agon" exec --readable /none one.py
refuses 1 'cannot be readable in a sandbox' "$agon" exec --readable / one.py
refuses 2 "is not a size or a count" "$agon" exec --limit memory=12X one.py
refuses 2 'does not exist: none.py' "$agon" exec --image a/p.png none.py one.py
refuses 2 'does not exist: none.py' "$agon" exec --module numpy none.py one.py
refuses 2 "no tier 'Z'. There are: A, B, C" "$agon" exec --floor Z one.py
refuses 2 "unknown backend 'foo'. Use native" "$agon" exec --backend foo one.py

# run SCRIPT...: at any tier, with the fastest start of the sandbox; stdout goes to out, stderr to err.
run() {
  "$agon" exec --floor C --module '' "$@" >out 2>err
}
steers() { LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]' "$@"; }

# agon works whatever signals its parent ignores or blocks, and whatever umask it sets.
for setting in 'trap "" CHLD' 'trap "" INT' 'umask 777'; do
  says="$(timeout 60 sh -c "$setting; exec \"\$0\" exec --floor C --module '' one.py" "$agon" 2>&1)"
  [ "${says%%$'\n'*}" = 1 ] || fail "$setting: $says"
done

# A picture of 1 x 1, which code can write without a library.
cat >picture.py <<'END'
import struct, zlib
def chunk(name, content):
    return struct.pack('>I', len(content)) + name + content + struct.pack('>I', zlib.crc32(name + content))
PNG = b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 1, 1, 8, 2, 0, 0, 0)) + chunk(
    b'IDAT', zlib.compress(bytes(4))) + chunk(b'IEND', b'')
END
cat >names.py <<'END'
for name in ['n' * 251 + '.png', 'a\x1b[31m.png', 'a_[31m.png', 'line\nbreak.png', '-rf.png', '\u202egnp.png']:
    open(name, 'wb').write(PNG)
open(b'\xff\x9b.png', 'wb').write(PNG)
_ = open('half.png', 'wb').write(PNG[:40])
END
run --out pictures picture.py names.py one.py || fail "exec: pictures of any name: $(cat err)"
[ "$(cat out)" = 1 ] || fail "exec: a name loses the result of another script: $(cat out)"
[ "$(find pictures -type f | wc -l)" = 7 ] || fail "exec: pictures: $(ls pictures | cat -v)"
[ -f "pictures/$(printf 'n%.0s' $(seq 251)).png" ] || fail 'exec: the longest name is not kept'
find pictures >names && steers names && fail "exec: names of files: $(cat -v names)"
steers err && fail "exec: names on stderr: $(cat -v err)"
grep -qF 'half.png is left out: not a picture: the picture is cut off' err || fail "exec: what is no picture is not told: $(cat err)"
run --json --out pictures picture.py names.py one.py || fail "exec --json: pictures of any name: $(cat err)"
[ "$(value 2/stdout out)" = 1 ] || fail "exec --json: $(cat out)"
steers out && fail 'exec --json: control characters'
[ -f "$(value 1/images/0/saved out)" ] || fail "exec --json: where a picture lies is not told"
[ "$(value 1/left_out/0/name out)" = half.png ] || fail "exec --json: what is no picture is not told"

run --json --out one.py/x picture.py names.py one.py && fail 'exec: a folder that cannot be made is no failure'
[ "$(value 2/stdout out)" = 1 ] || fail "exec: a folder that cannot be made loses the results: $(cat out err)"
[ "$(value 1/images/0/saved out)" = None ] || fail "exec: what cannot be saved is told as saved"
[ "$(value 1/not_saved/0/name out)" = -rf.png ] || fail "exec: it is not told what was not saved"

printf 'import sys\nprint("\\x1b]0;t\\x07 \\u202e \\x9b \\x7f ok")\nprint("\\x1b[2J", file=sys.stderr)\nraise ValueError("\\x1b[31m")\n' >steer.py
run steer.py && fail 'exec: an exception is no failure'
grep -qF '\x1b]0;t\x07 \u202e \x9b \x7f ok' out || fail "exec: $(cat -v out)"
steers out err && fail "exec: control characters: $(cat -v out err)"
cp one.py "$(printf 'o\033[31mne\n.py')"
run "$(printf 'o\033[31mne\n.py')" || fail "exec: a script of any name: $(cat err)"
steers err && fail "exec: the script's name: $(cat -v err)"

# A session that the code ended.
echo 'import os; os._exit(3)' >ends.py
run --json --fork-after 1 ends.py one.py one.py && fail 'exec: a session that ended is no failure'
[ "$(value 4/fork out)" = 2 ] || fail "exec --fork-after: not a result for each script: $(cat out err)"
[ "$(value 4/reason out)" = "$(value 0/reason out)" ] || fail "exec --fork-after: the reason that ended it is not told"
printf 'import os\nfor _ in range(70):\n    os.mkdir("d"); os.chdir("d")\n' >deep.py
run --json --fork-after 1 deep.py one.py && fail 'exec: a session that cannot be forked is no failure'
[ "$(value 2/reason out)" != sandbox_lost ] || fail "exec --fork-after: code that cannot be forked is the machinery's failure: $(cat out)"
run --json ends.py one.py && fail 'exec: a session that ended is no failure'
[ "$(value 1/alive out)" = False ] || fail "exec: $(cat out err)"

# Scripts in encodings that the interpreter accepts.
printf '\xef\xbb\xbfprint("bom")\n' >bom.py
printf '# -*- coding: latin-1 -*-\nprint(len("\xe9"))\n' >latin.py
run bom.py latin.py
[ "$(tr '\n' ' ' <out)" = 'bom 1 ' ] || fail "exec: $(cat out err)"

# A picture that takes long to decode.
cat >bomb.py <<'END'
import zlib
text = chunk(b'zTXt', b'k\0\0' + zlib.compress(bytes(7_900_000)))
open('bomb.png', 'wb').write(PNG[:33] + 300 * text + PNG[33:])
def segment(marker, content): return bytes([255, marker]) + struct.pack('>H', len(content) + 2) + content
table = lambda which: segment(0xC4, bytes([which, 1]) + bytes(16))
scan = lambda first, last: segment(0xDA, bytes([1, 1, 0, first, last, 0])) + bytes(4)
open('scans.jpg', 'wb').write(b'\xff\xd8' + segment(0xDB, b'\0' + b'\1' * 64) + segment(
    0xC2, struct.pack('>BHHB', 8, 8192, 8192, 1) + bytes([1, 0x11, 0])) + table(0) + table(16) + scan(0, 0) +
    2999 * scan(1, 63) + b'\xff\xd9')
END
begin=$(date +%s)
run --json picture.py bomb.py || fail "exec: $(cat out err)"
[ $(($(date +%s) - begin)) -lt 10 ] || fail "exec: pictures took $(($(date +%s) - begin)) s"
case $(cat out) in *'3000 scans (at most 100)'*) ;; *) fail "exec: a JPEG of 3,000 scans: $(cat out)" ;; esac

finish
