# case 41: hard links and renames out of the workspace, and the workspace replaced by a link
# reason: ok
# tiers: ABC
# output: held
# artifacts: etc/passwd,tmp/agon-abuse-canary/secret -> 0
# use: lib

AT_FDCWD, AT_EMPTY_PATH, AT_SYMLINK_FOLLOW = -100, 0x1000, 0x400
open("own", "w").close()
for target in ("/etc/passwd", "/usr/bin/env", os.__file__):
    refuse(f"a hard link to {target}", lambda: os.link(target, "linked"))
    fd = os.open(target, os.O_PATH)
    refuse(f"a hard link to an open {target}", lambda: call(265, fd, b"", AT_FDCWD, b"linked-2", AT_EMPTY_PATH))
    path = b"/proc/self/fd/%d" % fd
    refuse(f"a hard link by /proc to {target}", lambda: call(265, AT_FDCWD, path, AT_FDCWD, b"linked-3", AT_SYMLINK_FOLLOW))
    os.close(fd)
for target in ("/usr/agon-abuse", "/etc/agon-abuse", "/agon-abuse", "/home/agon-abuse", "/dev/agon-abuse", "/proc/agon-abuse"):
    refuse(f"a rename to {target}", lambda: os.rename("own", target))
    refuse(f"a hard link as {target}", lambda: os.link("own", target))
    refuse(f"a new file {target}", lambda: os.open(target, os.O_CREAT | os.O_WRONLY))
try:  # allowed or not: the host must not follow
    os.rename(HOME + "/workspace", HOME + "/elsewhere")
    os.symlink("/", HOME + "/workspace")
except OSError:
    pass
print("held")
