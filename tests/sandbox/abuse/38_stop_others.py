# case 38: attempts to stop or slow every other process, above all the one that makes sessions
# reason: ok
# tiers: ABC
# output: held

import os, signal

own = os.getpid()
for pid in [*range(1, 300), *range(max(1, own - 3000), own + 300)]:  # on C /proc cannot be listed
    if pid != own:
        for act in (lambda: os.kill(pid, signal.SIGSTOP), lambda: os.setpriority(os.PRIO_PROCESS, pid, 19)):
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
