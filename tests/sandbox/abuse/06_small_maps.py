# case 06: many small mappings with every page touched (shared ones: case 73)
# reason: memory_limit
# limits: memory=256M
# tiers: ABC

import errno, mmap

maps = []
try:
    while True:
        piece = mmap.mmap(-1, 1 << 16, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for at in range(0, len(piece), 4096):
            piece[at] = 1
        maps.append(piece)
except OSError as error:  # mmap says so where Python's own allocator raises a MemoryError
    if error.errno != errno.ENOMEM:
        raise
    raise MemoryError from error
