# case 140: the use of an interpreter that ended itself is reported
# reason: ok
# limits: memory=512M
# peak_memory: 150M..200M
# tiers: ABC

import os, time

data = b"x" * (150 << 20)
time.sleep(0.3)
os._exit(0)
