# case 118: timers and counters by descriptor made before a fork do not connect the two
# reason: ok
# tiers: ABC
# output: held

import os, ctypes, struct, select
libc = ctypes.CDLL(None)
t = libc.timerfd_create(1, 0o4000)
e = os.eventfd(0, os.EFD_NONBLOCK)
print(t, e, "held")

# ---- fork
try: libc.timerfd_settime(t, 0, struct.pack("qqqq", 0, 1000, 0, 1000), None)
except Exception as x: print(x)
try: os.eventfd_write(e, 5)
except OSError as x: print(x)

# ---- back
# output: held
import time
time.sleep(0.1)
try: print("ESCAPED timer", os.read(t, 8))
except BlockingIOError: pass
try: print("ESCAPED event", os.eventfd_read(e))
except BlockingIOError: pass
print("held")
