# case 29: signals to the parent
# reason: ok
# tiers: ABC
# output: held

import os, signal, time

parent = os.getppid()
for name in ("HUP", "INT", "QUIT", "TERM", "USR1", "ALRM", "TSTP", "STOP", "KILL"):
    try:
        if parent > 0:
            os.kill(parent, getattr(signal, "SIG" + name))
    except OSError:
        pass
time.sleep(0.2)
if os.getppid() != parent:
    print("ESCAPED the parent is gone")
print("held")

# ---- next call
# output: held
print("held")
