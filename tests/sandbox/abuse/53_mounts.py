# case 53: mounts of every kind, and another root
# reason: ok
# tiers: ABC
# output: held
# use: lib

MS_RDONLY, MS_REMOUNT, MS_BIND, MS_PRIVATE = 1, 32, 4096, 1 << 18
for name in ("at", "upper", "work"):
    os.mkdir(name)
options = f"lowerdir=/etc,upperdir={os.getcwd()}/upper,workdir={os.getcwd()}/work".encode()
refuse_call("bind", 165, b"/etc", b"at", 0, MS_BIND, 0)
refuse_call("tmpfs", 165, b"none", b"at", b"tmpfs", 0, 0)
refuse_call("proc", 165, b"none", b"at", b"proc", 0, 0)
refuse_call("sysfs", 165, b"none", b"at", b"sysfs", 0, 0)
refuse_call("cgroup2", 165, b"none", b"at", b"cgroup2", 0, 0)
refuse_call("overlay", 165, b"none", b"at", b"overlay", 0, options)
refuse_call("remount", 165, b"none", b"at", 0, MS_REMOUNT | MS_BIND, 0)
refuse_call("private", 165, b"none", b"at", 0, MS_PRIVATE, 0)
if NAMESPACES:
    refuse_call("tmpfs over /etc", 165, b"none", b"/etc", b"tmpfs", 0, 0)
    refuse_call("remount of /", 165, b"none", b"/", 0, MS_REMOUNT | MS_BIND, 0)
    refuse_call("umount of /proc", 166, b"/proc", 2)
refuse_call("umount", 166, b"at", 0)
refuse_call("pivot_root", 155, b"at", b"at")
refuse_call("chroot", 161, b"at")
refuse_call("open_tree", 428, -100, b"/etc", 1)
refuse_call("move_mount", 429, -1, b"", -100, b"at", 4)
refuse_call("fsopen", 430, b"tmpfs", 0)
refuse_call("fsconfig", 431, -1, 6, 0, 0, 0)
refuse_call("fsmount", 432, -1, 0, 0)
refuse_call("fspick", 433, -100, b"/", 0)
refuse_call("mount_setattr", 442, -100, b"at", 0, bytes(32), 32)
print("held")
