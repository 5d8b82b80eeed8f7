# case 01: a fork bomb
# reason: process_limit
# tiers: ABC

import os

while True:
    os.fork()

# ---- other session
# output: held
import os

for _ in range(8):  # a session next to it has its own room
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
print("held")
