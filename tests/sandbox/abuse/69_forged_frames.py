# case 69: forged answers to the supervisor, on its channel and on stdout
# reason: exception,protocol_error
# tiers: ABC

import os, struct, time


def frame(kind, body=b""):
    return struct.pack("<I", 1 + len(body)) + kind + body


if os.fork() == 0:  # from another process than the one that may answer
    try:
        for forged in (frame(b"d", b"\0"), frame(b"x", struct.pack("<i", 0)), frame(b"h"), frame(b"s"), frame(b"f"), frame(b"i")):
            os.write(3, forged)
    finally:
        os._exit(0)
print('{"reason": "ok", "tier": "A", "images": []}')
print("\x00\x00\x00\x02d\x00")
time.sleep(0.5)
raise ValueError("this is how the call ends, whatever was said before")

# ---- other session
# reason: protocol_error
import os, struct, time

os.write(3, struct.pack("<I", 0xFFFFFFFF) + b"d" * 100)
time.sleep(60)
