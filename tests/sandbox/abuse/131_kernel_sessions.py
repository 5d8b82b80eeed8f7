# case 131: children that each begin a session of the kernel's, and so would have a share of the processor each
# reason: ok
# limits: cpu=600,memory=512M
# tiers: ABC
# output: had 3 of them

import errno, os, time

results, ready = os.pipe()


def lead():
    try:
        os.setsid()
        return b"y"
    except OSError as error:
        return b"n" if error.errno == errno.EPERM else b"?"


for i in range(26):
    if os.fork() == 0:
        os.write(ready, lead())
        while True:
            lead()
            for _ in range(1000000):
                pass
time.sleep(0.5)
print("had", os.read(results, 1000).count(b"y"), "of them")

# ---- next call
# neighbour: 20
# times: 20
# reason: ok,process_limit,memory_limit,cpu_limit
time.sleep(0.05)
