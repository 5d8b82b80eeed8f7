# case 113: mappings by the ten thousand, which the kernel keeps a record of each, copied by every child
# reason: memory_limit
# limits: memory=64M
# tiers: ABC
# use: lib

libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
area = libc.mmap(None, 60000 * 4096, 0, 0x4022, -1, 0)
for i in range(0, 60000, 2):
    libc.mprotect(area + i * 4096, 4096, 1)
for _ in range(28):
    if os.fork() == 0:
        mark()
        time.sleep(3.5)
        os._exit(0)
time.sleep(3.5)
print("ESCAPED 400 MB of records")
