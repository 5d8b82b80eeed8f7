# case 90: chains of processes that burn CPU time and end before anybody looks, in a call
# reason: cpu_limit
# limits: wall=5,cpu=1
# tiers: ABC
# use: lib

def burn(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def chain(seconds):
    # Each leaves an orphan, which continues.
    mark()
    while True:
        if os.fork():
            os._exit(0)
        burn(seconds)


if os.fork() == 0:
    chain(0.1)
time.sleep(4)
print("ESCAPED 4 s")

# ---- other session
# reason: cpu_limit
import os, signal, time

signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them, nobody is told what they used
end = time.monotonic() + 4
while time.monotonic() < end:
    if os.fork() == 0:
        until = time.monotonic() + 0.1
        while time.monotonic() < until:
            pass
        os._exit(0)
    time.sleep(0.1)
print("ESCAPED 4 s")

# ---- other session
# reason: cpu_limit
import ctypes, os, struct, time

libc = ctypes.CDLL(None)
SIGCHLD, SA_NOCLDWAIT = 17, 2
action = struct.pack("<QQQQ", 0, SA_NOCLDWAIT | 0x04000000, 0, 0)
assert libc.syscall(13, SIGCHLD, action, None, 8) == 0
end = time.monotonic() + 4
while time.monotonic() < end:
    if os.fork() == 0:
        until = time.monotonic() + 0.1
        while time.monotonic() < until:
            pass
        os._exit(0)
    time.sleep(0.1)
print("ESCAPED 4 s")
