# case 27: locks on files that all sessions can read, held to block another session
# reason: ok
# tiers: ABC
# output: held

import fcntl, os

shared = open(os.__file__, "rb")
for lock in (lambda: fcntl.flock(shared, fcntl.LOCK_EX | fcntl.LOCK_NB),
             lambda: fcntl.lockf(shared, fcntl.LOCK_SH | fcntl.LOCK_NB),
             lambda: fcntl.fcntl(shared, fcntl.F_SETLEASE, fcntl.F_RDLCK)):
    try:
        lock()
    except OSError:
        pass
own = open("own", "w")  # a file of one's own can be locked
fcntl.flock(own, fcntl.LOCK_EX)
fcntl.lockf(own, fcntl.LOCK_EX)
print("held")

# ---- other session
# output: held
import fcntl, os

shared = open(os.__file__, "rb")
try:
    fcntl.flock(shared, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    print("ESCAPED the lock of another session is felt")
except OSError:
    pass
print("held")
