# case 112: full socket pairs, which are the kernel's memory
# reason: ok,memory_limit,process_limit
# limits: memory=64M
# tiers: ABC

import os, socket, time

for _ in range(2):
    if os.fork() == 0:
        break
kept, total = [], 0
try:
    while len(kept) < 330:
        pair = socket.socketpair()
        kept += pair
        for side in pair:
            side.setblocking(False)
            try:
                while True:
                    total += side.send(bytes(4096))
            except BlockingIOError:
                pass
except OSError:
    pass
time.sleep(1.5)
if total > 40 << 20:
    print("ESCAPED", 3 * total >> 20, "MB")
