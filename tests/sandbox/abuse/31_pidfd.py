# case 31: handles (pidfds) of processes outside, and one of the session's own kept in its fork
# reason: ok
# tiers: AB
# output: held
# use: lib

# Not on C, which has no pid namespace: handles of other processes can be had there, but send nothing.

for pid in range(1, 5000):
    try:
        fd = os.pidfd_open(pid)
    except OSError:
        continue
    if pid not in (1, os.getpid()):
        print("ESCAPED a handle of process", pid)
    os.close(fd)

first = os.pidfd_open(1)
refuse_call("pidfd_getfd", 438, first, 0, 0)
refuse_call("process_madvise", 440, first, 0, 0, 0, 0)
refuse_call("process_mrelease", 448, first, 0)
try:
    signal.pidfd_send_signal(first, signal.SIGKILL)  # says yes and does nothing: it comes from within
except OSError:
    pass
this = os.pidfd_open(os.getpid())
print("held")

# ---- fork
# output: held
for fd in (first, this):
    try:
        signal.pidfd_send_signal(fd, signal.SIGKILL)
        print("ESCAPED a fork may signal the session that it came from")
    except OSError:
        pass
print("held")

# ---- back
# output: held
print("held")
