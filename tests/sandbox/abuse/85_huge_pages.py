# case 85: huge pages, which come in with one page fault each, in children and in the place of pages that all sessions share
# reason: memory_limit
# limits: memory=128M
# tiers: ABC
# use: lib

import mmap

HUGE = 2 << 20


def take(megabytes):
    area = mmap.mmap(-1, megabytes + 2 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    area.madvise(mmap.MADV_HUGEPAGE)
    for at in range(0, len(area), HUGE):
        area[at] = 1
    return area


for _ in range(12):
    if os.fork() == 0:
        mark()
        data = take(20)
        time.sleep(3)
        os._exit(0)
time.sleep(2.5)
print("ESCAPED 240 MB")

# ---- other session
# output: held
print("held")
