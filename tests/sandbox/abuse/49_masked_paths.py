# case 49: races on masked or protected paths (CVE-2025-31133, -52565, -52881)
# reason: ok
# limits: wall=10,cpu=10
# tiers: ABC
# output: held
# use: lib

import threading

for folder in ("/dev", "/proc", "/proc/self", "/sys", "/"):
    refuse(f"a link in {folder}", lambda: os.symlink("null", folder + "/agon-abuse"))
    refuse(f"a folder in {folder}", lambda: os.mkdir(folder + "/agon-abuse"))

protected = "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/kernel/modprobe", "/usr/bin/env"
open("own", "w").close()
own = os.stat("own")
os.symlink("own", "mask")
going = True


def swap():
    number = 0
    while going:
        for target in ("own", protected[number % len(protected)]):
            os.symlink(target, "next")
            os.replace("next", "mask")
        number += 1


thread = threading.Thread(target=swap, daemon=True)
thread.start()
end = time.monotonic() + 1
while time.monotonic() < end:
    try:
        fd = os.open("mask", os.O_WRONLY)
    except OSError:
        continue
    status = os.fstat(fd)
    if (status.st_dev, status.st_ino) != (own.st_dev, own.st_ino):
        print("ESCAPED", os.readlink(f"/proc/self/fd/{fd}"), "is open for writing")
        break
    os.close(fd)
going = False
thread.join()
print("held")
