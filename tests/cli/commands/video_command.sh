#!/usr/bin/env bash
# video_command.sh AGON MODEL: the sandboxed decoder reads videos of the usual file types, although their decoders ask
# for several threads. Damaged files are refused.
agon=$1 model=$2
. "$(dirname "$0")/helpers.sh"
cp -r "$model" "$scratch/model"
python3 - "$scratch/model/chat_template.jinja" <<'PYTHON' # it gets a place for videos
import sys
text = open(sys.argv[1]).read()
picture = "{{- '<|vision_start|><|image_pad|><|vision_end|>' -}}"
assert picture in text
open(sys.argv[1], "w").write(text.replace(
    picture, picture + "{%- elif part['type'] == 'video' -%}" + picture.replace("image_pad", "video_pad")))
PYTHON
cd "$scratch" || exit 1
/usr/bin/python3 - 2>/dev/null <<'PYTHON' # Debian's, which has OpenCV
import cv2, numpy
for name, code in {"a.mp4": "mp4v", "b.mp4": "avc1", "c.mp4": "hvc1", "d.webm": "VP80", "e.webm": "VP90", "f.avi": "MJPG", "g.mov": "mp4v"}.items():
    video = cv2.VideoWriter(name, cv2.VideoWriter_fourcc(*code), 5, (160, 120))
    assert video.isOpened(), name
    for step in range(20):
        frame = numpy.full((120, 160, 3), 255, numpy.uint8)
        cv2.rectangle(frame, (5 * step, 10), (5 * step + 30, 60), (0, 0, 200), -1)
        video.write(frame)
    video.release()
PYTHON
tokens=
for file in a.mp4 b.mp4 c.mp4 d.webm e.webm f.avi g.mov; do
  "$agon" complete --policy model --video "$file" --video-fps 1 --max-tokens 4 --json "What?" >out 2>err || fail "$file: $(cat err)"
  : "${tokens:=$(value prompt_tokens out)}"
  [ "$(value prompt_tokens out)" = "$tokens" ] || fail "$file: $(value prompt_tokens out) tokens, the first video has $tokens"
done
[ "$tokens" -gt 50 ] || fail "a video takes $tokens tokens"

head -c 1000 b.mp4 >cut.mp4
refuses 1 "cut.mp4" "$agon" complete --policy model --video cut.mp4 "What?"
printf '#EXTM3U\nfile:///etc/passwd\n' >list.mp4
refuses 1 "list.mp4" "$agon" complete --policy model --video list.mp4 "What?"
refuses 1 "none.mp4" "$agon" complete --policy model --video none.mp4 "What?"
refuses 2 "--video-fps" "$agon" complete --policy model --video-fps 1 "What?"
finish
