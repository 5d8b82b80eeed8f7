# case 25: core dumps
# reason: ok
# tiers: ABC
# output: held
# use: lib

import glob, resource

try:
    resource.setrlimit(resource.RLIMIT_CORE, (4 << 30, 4 << 30))
    print("ESCAPED the limit of core files can be raised")
except (ValueError, OSError):
    pass
pid = os.fork()
if pid == 0:
    pages = b"\1" * (32 << 20)
    os.abort()
status = os.waitpid(pid, 0)[1]
pattern = read_some("/proc/sys/kernel/core_pattern")
piped = not pattern or pattern.startswith(b"|")  # to a program of the host, whatever the limit
if os.WCOREDUMP(status) and not piped:
    print("ESCAPED a core was dumped")
for name in glob.glob("core*") + glob.glob(HOME + "/core*"):
    print("ESCAPED there is a core file", name)
print("held")

# ---- next call
# reason: killed_by_signal
os.abort()
