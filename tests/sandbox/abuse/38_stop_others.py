# case 38: stopping and slowing whatever else there is, the process that makes sessions before all
# reason: ok
# tiers: AB
# output: held

# Not on C, which has no pid namespace: others of the same user can be slowed there.

import os, signal

own = os.getpid()
for name in os.listdir("/proc"):
    if name.isdigit() and int(name) != own:
        for act in (lambda: os.kill(int(name), signal.SIGSTOP), lambda: os.setpriority(os.PRIO_PROCESS, int(name), 19)):
            try:
                act()
            except OSError:
                pass
for kind, who in ((os.PRIO_PGRP, 0), (os.PRIO_PGRP, 1), (os.PRIO_USER, 0), (os.PRIO_USER, os.getuid())):
    try:
        os.setpriority(kind, who, 19)
    except OSError:
        pass
print("held")

# ---- other session
# output: held
import os

if os.getpriority(os.PRIO_PROCESS, 0) == 19:
    print("ESCAPED a new session starts slowed")
print("held")
