# case 12: empty files until no inodes are left
# reason: disk_limit
# limits: inodes=1000
# tiers: AB

# Not on C, which has no file system of its own: the supervisor ends a session with too many files, a while later.

count = 0
try:
    while count < 1_000_000:
        open(f"empty-{count}", "w").close()
        count += 1
finally:
    if count > 1000:
        print("ESCAPED", count, "files")

# ---- next call
# output: held
import os

for name in os.listdir("."):
    os.remove(name)
open("again", "w").close()
print("held")

# ---- other session
# output: held
open("own", "w").close()
print("held")
