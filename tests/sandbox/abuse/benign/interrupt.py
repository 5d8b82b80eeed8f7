# case benign: the wall limit arrives as a KeyboardInterrupt, and the session keeps its state
# reason: wall_timeout
# limits: wall=1,cpu=20
# tiers: ABC
# output: held

import time

kept = 41
try:
    while True:
        time.sleep(0.01)
finally:
    print("held")

# ---- next call
# reason: wall_timeout
# output: held
try:
    while True:
        kept += 0
except KeyboardInterrupt:
    print("held")
    raise

# ---- next call
# output: held
assert kept + 1 == 42
print("held")
