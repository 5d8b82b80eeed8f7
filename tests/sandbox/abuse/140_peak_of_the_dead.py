# case 140: what an interpreter used before it ended itself is told
# reason: ok
# limits: memory=512M
# peak_memory: 150M..200M
# tiers: ABC

import os, time

data = b"x" * (150 << 20)
time.sleep(0.3)
os._exit(0)
