# case 107: what agon's parent had open (the runner looks at all processes of the launcher, at every case)
# reason: ok
# tiers: ABC
# output: held

import os

for fd in range(4096):
    try:
        status = os.fstat(fd)
    except OSError:
        continue
    if fd > 3:
        print("ESCAPED", fd, status)
print("held")
