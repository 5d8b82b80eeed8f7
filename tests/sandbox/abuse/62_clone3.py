# case 62: clone3, whose flags lie in memory, where a filter cannot see them
# reason: ok
# tiers: ABC
# output: held
# use: lib

import struct


def clone3(flags, size=88):
    pid = call(435, struct.pack("11Q", flags, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0), size)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid


INTO_CGROUP = 0x200000000
for flags in (0x10000000, 0x20000, 0x20000000, 0x40000000, 0x30020000, 0x80, INTO_CGROUP, 0):
    end = attempt(lambda: clone3(flags))
    if end not in ("refused ENOSYS", "refused EPERM", "signal 31"):
        print("ESCAPED", f"clone3({flags:#x})", end)
pid = os.fork()  # the C library goes on without it
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0)
print("held")
