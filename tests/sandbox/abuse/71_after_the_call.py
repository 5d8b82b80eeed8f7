# case 71: code that runs while the answer is made or after it: reducers, destructors, exit hooks, threads
# reason: exception
# tiers: ABC

import atexit, builtins, gc, os, threading, time


def left_behind():
    open("/tmp/agon-abuse-canary/owned", "w").close()


class Late(Exception):
    def __reduce__(self):  # runs where a host unpickles what it was sent
        return os.system, ("echo owned > /tmp/agon-abuse-canary/owned",)

    def __del__(self):
        print("late: __del__")
        left_behind()


def later():
    time.sleep(0.3)
    print("late: thread", flush=True)
    left_behind()


atexit.register(left_behind)
builtins.late = Late()
threading.Thread(target=later, daemon=True).start()
raise Late("with a reducer")

# ---- next call
# output: held
time.sleep(0.6)
print("held")

# ---- next call
# output: held
del builtins.late
gc.collect()
print("held")

# ---- next call
# reason: ok,exception,protocol_error
os._exit(0)

# ---- other session
# output: held
import builtins

if hasattr(builtins, "late"):
    print("ESCAPED into another session")
print("held")
