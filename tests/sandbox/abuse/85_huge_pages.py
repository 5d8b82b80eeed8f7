# case 85: huge pages, one page fault each, that replace pages shared by all sessions
# reason: memory_limit
# limits: memory=128M
# tiers: ABC
# use: lib

import mmap

HUGE = 2 << 20
NEEDED = ("python", "libc.", "libm.", "ld-linux", "ffi", "ctypes", "mmap")


class Program(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_uint32), ("flags", ctypes.c_uint32)] + [
        (name, ctypes.c_uint64) for name in ("offset", "place", "physical", "in_file", "size", "alignment")]


class Library(ctypes.Structure):
    _fields_ = [("base", ctypes.c_uint64), ("name", ctypes.c_char_p), ("programs", ctypes.POINTER(Program)), ("count", ctypes.c_uint16)]


areas = []


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Library), ctypes.c_size_t, ctypes.c_void_p)
def take_library(library, _size, _data):
    one = library.contents
    name = (one.name or b"").decode()
    if name and not any(part in name for part in NEEDED):
        for program in one.programs[: one.count]:
            if program.kind == 1 and program.flags & 2:  # loaded, to be written
                begin, end = (one.base + program.place + 4095) & ~4095, (one.base + program.place + program.size) & ~4095
                if end > begin:
                    areas.append((begin, end - begin))
    return 0


libc.dl_iterate_phdr(take_library, None)
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
given_back = sum(size for _, size in areas)
megabytes = given_back // HUGE * 2
for _ in range(28):
    if os.fork() == 0:
        mark()
        for area in areas:
            libc.madvise(*area, 4)  # MADV_DONTNEED
        data = mmap.mmap(-1, megabytes + 4 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        data.madvise(mmap.MADV_HUGEPAGE)
        for at in range(0, len(data), HUGE):
            data[at] = 1
        time.sleep(3)
        os._exit(0)
time.sleep(2.5)
print("ESCAPED", 28 * megabytes, "MB")

# ---- other session
# output: held
print("held")
