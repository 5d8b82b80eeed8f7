# case 94: a flood of meaningless messages to the supervisor, while another session works
# reason: ok,protocol_error
# tiers: ABC
# use: lib
# neighbour: 20

import struct

frame = struct.pack("<I", 1000) + b"d" + bytes(999)
for _ in range(3):
    if os.fork() == 0:
        mark()
        try:
            while True:
                os.write(3, frame * 8)
        except OSError:
            os._exit(0)
time.sleep(2)

# ---- other session
# reason: ok,protocol_error
# neighbour: 20
import os, struct, time

frame = struct.pack("<I", 5) + b"f" + bytes(4)  # as if forks had been asked for
end = time.monotonic() + 2
while time.monotonic() < end:
    os.write(3, frame * 800)
