# case 107: descriptors that agon's parent had open (for every case the runner checks all processes of the launcher)
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
