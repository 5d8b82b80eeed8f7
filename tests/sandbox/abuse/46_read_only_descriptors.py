# case 46: writes through /proc/self/fd to files opened for reading
# reason: ok
# tiers: ABC
# output: held
# use: lib

import stat

# Each attempt changes nothing where it works.
for path in ("/usr/bin/env", os.__file__, "/etc/passwd"):
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        continue
    status = os.fstat(fd)
    again = f"/proc/self/fd/{fd}"
    refuse(f"opening {path} again to write", lambda: os.open(again, os.O_RDWR))
    refuse(f"opening {path} again to append", lambda: os.open(again, os.O_WRONLY | os.O_APPEND))
    refuse(f"truncating {path}", lambda: os.truncate(again, status.st_size))
    refuse(f"ftruncate of {path}", lambda: os.ftruncate(fd, status.st_size))
    refuse(f"the mode of {path}", lambda: os.fchmod(fd, stat.S_IMODE(status.st_mode)))
    refuse(f"the owner of {path}", lambda: os.fchown(fd, status.st_uid, -1))
    refuse(f"the times of {path}", lambda: os.utime(fd, ns=(status.st_atime_ns, status.st_mtime_ns)))
    refuse_call(f"an attribute of {path}", 190, fd, b"user.agon", b"x", 1, 0)
    os.close(fd)
for path in ("/usr", "/usr/bin", "/etc", "/"):
    fd = os.open(path, os.O_PATH | os.O_DIRECTORY)
    refuse(f"a new file in {path}", lambda: os.open("agon-abuse", os.O_CREAT | os.O_EXCL | os.O_WRONLY, dir_fd=fd))
    refuse(f"an unnamed file in {path}", lambda: os.open(f"/proc/self/fd/{fd}", os.O_TMPFILE | os.O_WRONLY))
    refuse(f"a new folder in {path}", lambda: os.mkdir(f"/proc/self/fd/{fd}/agon-abuse"))
    os.close(fd)
print("held")
