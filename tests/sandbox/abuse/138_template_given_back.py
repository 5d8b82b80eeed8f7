# case 138: children that free all pages shared with the template, and take huge ones instead
# reason: memory_limit
# limits: memory=128M
# tiers: AB
# use: lib

# Not on C: there a session cannot read its own mappings.
import mmap

# For x86_64, as nothing of the interpreter is left when it has run. Of words[0] pairs from words[3] on, a place and a
# size each, it gives the pages back (madvise 4); then it maps words[1] bytes, asks for huge pages (madvise 14), writes
# to each, sleeps for the time that stands at words[words[2]], and ends.
CODE = bytes.fromhex(
    "4155ba0400000041bd1c00000041544531e455488d6f18534889fb4c39237e1f488b7508488b7d004531d24531c04531c94c89e80f05"
    "49ffc44883c510ebdc488b430841ba220000004983c8ff31ff4531c9ba03000000488db000002000b8090000000f054531d2488b7308"
    "4531c0ba0e000000488db8ffff1f00b81c0000004881e70000e0ff0f0531c0483943087e0f488d1438480500002000c60201ebeb488b"
    "431031d24531d24531c04531c94889d6488d3cc3b8230000000f05b8e70000004889d70f055b5d415c415dc3"
)
MEGABYTES = 30


def place(data, size, protection):
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    area = libc.mmap(None, size, protection, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    ctypes.memmove(area, bytes(data), len(bytes(data)))
    return area


ranges = []
with open("/proc/self/maps") as maps:
    for line in maps:
        fields = line.split()
        begin, end = (int(word, 16) for word in fields[0].split("-"))
        if fields[1].startswith("rw") and "[" not in line.replace("[heap]", ""):
            ranges += [begin, end - begin]
words = [len(ranges) // 2, MEGABYTES << 20, 3 + len(ranges), *ranges, 4, 0]
code = place(CODE, 4096, 7)
words = place((ctypes.c_long * len(words))(*words), 1 << 16, 3)
hide = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code)
for _ in range(28):
    if os.fork() == 0:
        mark()
        hide(words)
time.sleep(3.5)
print("ESCAPED", 28 * MEGABYTES, "MB")

# ---- other session
# output: held
print("held")
