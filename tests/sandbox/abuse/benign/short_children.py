# case benign: children that end all the time, some at the same moment
# limits: wall=10,cpu=10,processes=64
# reason: ok
# tiers: ABC
# output: held

import os, time
end = time.monotonic() + 2
n = 0
while time.monotonic() < end:
    pids = []
    for _ in range(20):
        p = os.fork()
        if p == 0:
            x = bytearray(20 << 20)
            os._exit(0)
        pids.append(p)
    for p in pids: os.waitpid(p, 0); n += 1
print(n, "held")
