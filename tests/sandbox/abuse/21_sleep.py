# case 21: sleeps forever, with next to no CPU
# reason: wall_timeout
# limits: wall=1
# tiers: ABC

import time

while True:
    time.sleep(1e6)

# ---- other session
# output: held
print("held")
