# case 21: an endless sleep with almost no CPU time
# reason: wall_timeout
# limits: wall=1
# tiers: ABC

import time

while True:
    time.sleep(1e6)

# ---- other session
# output: held
print("held")
