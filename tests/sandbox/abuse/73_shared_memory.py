# case 73: shared memory without a file, written and then unmapped, which no process is charged for
# reason: ok
# limits: memory=256M
# tiers: ABC
# output: held

import mmap, os

for make in (lambda: mmap.mmap(-1, 1 << 20), lambda: mmap.mmap(os.open("/dev/zero", os.O_RDWR), 1 << 20),
             lambda: mmap.mmap(os.open("/dev/zero", os.O_RDONLY), 1 << 20, prot=mmap.PROT_READ)):
    try:
        make()
        print("ESCAPED shared memory that nobody counts")
    except OSError:
        pass
mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)[0] = 1
with open("file", "w+b") as file:  # what lies in the workspace is counted there
    file.truncate(1 << 20)
    mmap.mmap(file.fileno(), 1 << 20)[0] = 1
print("held")
