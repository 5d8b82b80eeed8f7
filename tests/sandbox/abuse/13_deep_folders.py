# case 13: 20,000 nested folders, with a path of 4 MB
# reason: disk_limit,ok,wall_timeout
# limits: wall=4
# tiers: AB

# Landlock walks up the whole path at each step. Not on C, which ends a session whose files are too many or too deep.

import os

for _ in range(20_000):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)

# ---- next call
# output: held
os.chdir(os.environ["HOME"] + "/workspace")
print("held")

# ---- other session
# output: held
print("held")
