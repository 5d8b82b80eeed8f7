# case 08: /dev/shm filled up
# reason: disk_limit
# limits: disk=16M
# tiers: AB

# Not on C, where /dev/shm is the host's and must not be written at all (case 68).

for number in range(200):
    with open(f"/dev/shm/{number}", "wb") as file:
        file.write(b"\1" * (1 << 20))
print("ESCAPED 200 MB in /dev/shm")

# ---- next call
# output: held
import os

for name in os.listdir("/dev/shm"):
    os.remove("/dev/shm/" + name)
with open("/dev/shm/again", "wb") as file:
    file.write(bytes(1 << 20))
print("held")

# ---- other session
# output: held
import os

if os.path.exists("/dev/shm/again"):
    print("ESCAPED /dev/shm is shared")
print("held")
