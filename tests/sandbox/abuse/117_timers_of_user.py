# case 117: timers and queued signals, which the kernel counts per user: what one session takes another lacks
# reason: ok
# tiers: ABC
# output: held
# use: lib

timer = ctypes.c_int()
while libc.syscall(222, 1, 0, ctypes.byref(timer)) == 0:
    pass
print("held")

# ---- other session
# output: held
import ctypes, errno

libc = ctypes.CDLL(None, use_errno=True)
timer = ctypes.c_int()
if libc.syscall(222, 1, 0, ctypes.byref(timer)) != 0 and ctypes.get_errno() == errno.EAGAIN:  # refused to all is well
    print("ESCAPED no timer is left")
print("held")

# ---- other launcher
# output: held
import ctypes, errno

libc = ctypes.CDLL(None, use_errno=True)
timer = ctypes.c_int()
if libc.syscall(222, 1, 0, ctypes.byref(timer)) != 0 and ctypes.get_errno() == errno.EAGAIN:
    print("ESCAPED no timer is left")
print("held")
