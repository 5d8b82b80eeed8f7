# case 96: thousands of enlarged pipes, which use up the space that all pipes of the user share
# reason: ok
# tiers: ABC
# output: held

import fcntl, os

F_SETPIPE_SZ, F_GETPIPE_SZ = 1031, 1032
kept = [os.pipe() for _ in range(60)]
for reading, _ in kept:
    try:
        fcntl.fcntl(reading, F_SETPIPE_SZ, 1 << 20)
    except OSError:
        pass
total = sum(fcntl.fcntl(reading, F_GETPIPE_SZ) for reading, _ in kept)
if total > 8 << 20:
    print("ESCAPED", total >> 20, "MB of pipes")
print("held")

# ---- next call
# reason: process_limit
import time

for _ in range(15):
    if os.fork() == 0:
        for _ in range(180):
            os.pipe()
        time.sleep(60)
        os._exit(0)
time.sleep(60)
print("ESCAPED 2,700 pipes")

# ---- other launcher
# output: 65536
import fcntl, os, time

for _ in range(40):  # until the kernel has taken all of those down
    size = fcntl.fcntl(os.pipe()[0], 1032)
    if size == 65536:
        break
    time.sleep(0.05)
print(size)
