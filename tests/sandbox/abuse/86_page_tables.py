# case 86: page tables, which cost 4 KB for each 2 MB of addresses in which one byte was read
# reason: memory_limit
# limits: memory=128M
# tiers: ABC
# use: lib

libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
for _ in range(8):
    if os.fork() == 0:
        break
mark()
for _ in range(100):
    area = libc.mmap(None, 1 << 30, 1, 0x4022, -1, 0)  # to be read, private, without a file, nothing set aside
    if area in (None, 2**64 - 1):
        break
    for at in range(0, 1 << 30, 2 << 20):
        ctypes.string_at(area + at, 1)
for line in read_some("/proc/self/status").decode().splitlines():
    if line.startswith("VmPTE") and int(line.split()[1]) > 20 << 10:
        print("ESCAPED", line, flush=True)
if area in (None, 2**64 - 1):
    raise MemoryError("addresses are limited too")
time.sleep(2)
