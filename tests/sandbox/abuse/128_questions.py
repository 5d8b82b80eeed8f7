# case 128: calls that the supervisor decides, from 28 processes at once, while another session works
# reason: ok
# limits: cpu=20
# tiers: ABC
# use: lib
# neighbour: 20

import fcntl

open("file", "w").close()
end = time.monotonic() + 2.5
for i in range(28):
    if os.fork() == 0:
        mark()
        fd = os.open("file", os.O_RDWR)
        while time.monotonic() < end:
            if i < 20:
                libc.flock(fd, fcntl.LOCK_EX)
                libc.flock(fd, fcntl.LOCK_UN)
            else:
                libc.kill(1, 0)
                libc.setns(1, 0)
                libc.chmod(b"file", 0o644)
        os._exit(0)
time.sleep(2.7)
