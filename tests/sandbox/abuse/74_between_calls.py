# case 74: processes that wait until nobody looks, between two calls, and then take memory
# reason: ok
# limits: memory=200M
# tiers: ABC
# use: lib

for _ in range(4):
    if os.fork() == 0:
        mark()
        time.sleep(0.5)
        data = b"\1" * (150 << 20)
        time.sleep(60)
        os._exit(0)

# ---- other session
# output: held
import time
time.sleep(3)
print("held")

# ---- back
# reason: memory_limit
print("ESCAPED the session lives on")
