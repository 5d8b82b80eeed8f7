# case 91: children of a few milliseconds each: waited for, orphaned, and with SIGCHLD ignored
# reason: cpu_limit
# limits: wall=6,cpu=1
# tiers: ABC

import os, time

end = time.monotonic() + 4
while time.monotonic() < end:
    if os.fork() == 0:
        until = time.monotonic() + 0.003
        while time.monotonic() < until:
            pass
        os._exit(0)
    os.wait()
print("ESCAPED 4 s")

# ---- other session
# reason: cpu_limit
import os, time

end = time.monotonic() + 5
while time.monotonic() < end:
    if os.fork() == 0:
        if os.fork():
            os._exit(0)
        until = time.monotonic() + 0.004
        while time.monotonic() < until:
            pass
        os._exit(0)
    os.wait()
    time.sleep(0.003)
print("ESCAPED 4 s")

# ---- other session
# reason: cpu_limit
import os, signal, time

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
end = time.monotonic() + 5
while time.monotonic() < end:
    if os.fork() == 0:
        until = time.monotonic() + 0.004
        while time.monotonic() < until:
            pass
        os._exit(0)
    time.sleep(0.003)
print("ESCAPED 4 s")
