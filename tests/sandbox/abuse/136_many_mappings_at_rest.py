# case 136: sleeping children with 30,000 mappings each, which take long to read
# reason: ok
# limits: cpu=60,memory=512M
# tiers: ABC
# use: lib

libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
PAGES = 30000
start = libc.mmap(None, PAGES * 4096, 0, 0x4022, -1, 0)  # nothing may be read; private, without a reserve
for k in range(0, PAGES, 2):
    libc.mprotect(start + k * 4096, 4096, 1)
for _ in range(6):
    if os.fork() == 0:
        mark()
        time.sleep(30)
        os._exit(0)
time.sleep(2)

# ---- rest
