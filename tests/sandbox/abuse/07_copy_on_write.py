# case 07: pages shared with a parent and written by every child: no process is large, but their sum is
# reason: memory_limit
# limits: memory=256M
# tiers: ABC
# use: lib

import numpy as np

pages = np.ones(100 << 20, np.uint8)
for _ in range(5):
    if os.fork() == 0:
        mark()
        try:
            pages[::4096] += 1
            time.sleep(60)
        finally:
            os._exit(1)
while True:
    time.sleep(60)

# ---- other session
# output: held
import numpy as np

assert np.ones(64 << 20, np.uint8).all()
print("held")
