# case 30: every signal to process 1, real-time signals included
# reason: ok
# tiers: AB
# output: held

# Not on C, where process 1 is the host's, and /proc cannot be read.

import os, time

for number in range(1, 65):
    try:
        os.kill(1, number)
    except OSError:
        pass
time.sleep(0.2)
with open("/proc/1/stat") as file:
    state = file.read().rsplit(")", 1)[1].split()[0]
if state in "tTZXx":
    print("ESCAPED process 1 is in the state", state)
print("held")

# ---- next call
# output: held
print("held")
