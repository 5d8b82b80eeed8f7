# case 75: a lock on a file of the host, put in place of an own file while the lock is checked
# reason: ok
# tiers: ABC
# output: held

import fcntl, os, threading

shared, own = os.open(os.__file__, os.O_RDONLY), os.open("own", os.O_RDWR | os.O_CREAT)
number, over = os.dup(own), False


def flip():
    while not over:
        os.dup2(shared, number)
        os.dup2(own, number)


other = os.open("own", os.O_RDWR)
fcntl.flock(other, fcntl.LOCK_EX)  # so that a lock that is given is one on the other file
thread = threading.Thread(target=flip)
thread.start()
for _ in range(2000):
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        print("ESCAPED a lock on a file that others read")
        break
    except OSError:
        pass
over = True
thread.join()
fcntl.flock(other, fcntl.LOCK_UN)

# A lock that another process holds is waited for.
ready, held = os.pipe()
child = os.fork()
if child == 0:
    mine = os.open("own", os.O_RDWR)
    fcntl.flock(mine, fcntl.LOCK_EX)
    os.write(held, b"x")
    import time
    time.sleep(0.3)
    os._exit(0)
os.read(ready, 1)
fresh = os.open("own", os.O_RDWR)
try:
    fcntl.flock(fresh, fcntl.LOCK_EX | fcntl.LOCK_NB)
    print("ESCAPED the lock is given twice")
except BlockingIOError:
    pass
fcntl.flock(fresh, fcntl.LOCK_EX)
os.waitpid(child, 0)
print("held")
