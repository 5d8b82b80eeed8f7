# case 131: children that each begin a kernel session (setsid), and so would each get a share of the processor
# reason: ok
# limits: cpu=600,memory=512M
# tiers: ABC
# output: had 3 of them

import os, time

results, ready = os.pipe()
for i in range(26):
    if os.fork() == 0:
        os.setsid()
        os.write(ready, b"y")
        while True:
            pass
time.sleep(0.5)
print("had", len(os.read(results, 1000)), "of them")

# ---- next call
# neighbour: 20
# times: 20
# reason: ok,process_limit,memory_limit,cpu_limit
time.sleep(0.05)
