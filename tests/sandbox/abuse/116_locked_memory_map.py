# case 116: a thread that forks endlessly, for which the kernel locks the process's memory, at the start of each call
# reason: ok
# limits: cpu=60,memory=512M
# tiers: ABC
# use: lib

import threading

libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
area = libc.mmap(None, 30000 * 4096, 0, 0x4022, -1, 0)
for i in range(0, 30000, 2):
    libc.mprotect(area + i * 4096, 4096, 1)
data = b"\1" * (100 << 20)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
stop = False


def fork_on():
    while not stop:
        if libc.syscall(57) == 0:
            libc.syscall(231, 0)


threading.stack_size(1 << 16)
for _ in range(2):
    threading.Thread(target=fork_on, daemon=True).start()

# ---- next call
# neighbour: 20
# times: 40
# reason: ok,process_limit,memory_limit
time.sleep(0.02)
