# case 06: many small maps, shared and private, every page touched
# reason: memory_limit
# limits: memory=256M
# tiers: ABC

import errno, mmap

maps = []
try:
    while True:
        for kind in (mmap.MAP_SHARED, mmap.MAP_PRIVATE):
            piece = mmap.mmap(-1, 1 << 16, flags=kind | mmap.MAP_ANONYMOUS)
            for at in range(0, len(piece), 4096):
                piece[at] = 1
            maps.append(piece)
except OSError as error:  # mmap says so where Python's own allocator raises a MemoryError
    if error.errno != errno.ENOMEM:
        raise
    raise MemoryError from error
