# case 44: device nodes (mknod)
# reason: ok
# tiers: ABC
# output: held
# use: lib

import stat

nodes = {"null": (stat.S_IFCHR, 1, 3), "mem": (stat.S_IFCHR, 1, 1), "kmsg": (stat.S_IFCHR, 1, 11),
         "disk": (stat.S_IFBLK, 8, 0), "loop": (stat.S_IFBLK, 7, 0), "virtual": (stat.S_IFBLK, 254, 0)}
for name, (kind, major, minor) in nodes.items():
    for folder in (".", HOME, "/dev", "/dev/shm", "/tmp"):
        refuse(f"{folder}/{name}", lambda: os.mknod(f"{folder}/agon-{name}", kind | 0o666, os.makedev(major, minor)))
os.mknod("plain", stat.S_IFREG | 0o600)  # a file like any other
print("held")
