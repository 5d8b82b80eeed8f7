# case 10: /tmp, /dev/shm and the working folder filled in turn, under one common limit
# reason: disk_limit
# limits: disk=16M
# tiers: AB

# Not on C, where /tmp and /dev/shm are the host's and must not be written at all (case 68).

written = 0
try:
    for number in range(100):
        for folder in (".", "/tmp", "/dev/shm"):
            with open(f"{folder}/fill-{number}", "wb") as file:
                file.write(b"\1" * (1 << 20))
            written += 1 << 20
finally:
    if written > 16 << 20:
        print("ESCAPED", written, "bytes were written")

# ---- next call
# output: held
import glob, os

for name in glob.glob("fill-*") + glob.glob("/tmp/fill-*") + glob.glob("/dev/shm/fill-*"):
    os.remove(name)
with open("again", "wb") as file:
    file.write(bytes(1 << 20))
print("held")
