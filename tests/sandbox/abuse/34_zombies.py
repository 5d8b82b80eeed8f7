# case 34: children that end and are never waited for
# reason: process_limit
# limits: wall=10,cpu=10
# tiers: ABC

import os

for _ in range(2000):
    if os.fork() == 0:
        os._exit(0)
print("ESCAPED 2000 zombies")

# ---- other session
# output: held
import subprocess

assert subprocess.run(["true"]).returncode == 0
print("held")
