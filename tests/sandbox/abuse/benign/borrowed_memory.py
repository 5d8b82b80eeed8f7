# case benign: a child that runs in its parent's memory for a while, as after vfork, counts once
# reason: ok
# limits: memory=300M
# tiers: ABC
# output: held

import ctypes
import os

libc = ctypes.CDLL(None)
libc.clone.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
libc.malloc.restype = ctypes.c_void_p
CLONE_VM, CLONE_VFORK, SIGCHLD = 0x100, 0x4000, 17
data = b"1" * (180 << 20)
stack = libc.malloc(1 << 16) + (1 << 16) - 64
child = libc.clone(ctypes.cast(libc.sleep, ctypes.c_void_p), stack, CLONE_VM | CLONE_VFORK | SIGCHLD, 1)
os.waitpid(child, 0)
print("held")
