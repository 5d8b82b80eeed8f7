# case 92: chains of orphans that burn CPU time between two calls, one process at a time
# reason: ok
# limits: cpu=1
# tiers: ABC
# use: lib

if os.fork() == 0:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    mark()
    while True:
        if os.fork():
            os._exit(0)
        end = time.monotonic() + 0.05
        while time.monotonic() < end:
            pass

# ---- other session
# output: held
import time

time.sleep(3.5)
print("held")

# ---- back
# reason: cpu_limit
# text: the session had ended
print("ESCAPED the session lives on")
