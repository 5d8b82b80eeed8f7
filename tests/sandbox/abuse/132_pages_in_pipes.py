# case 132: pages of a file that a pipe or a socket keeps while the file is truncated, so that no counter has them
# reason: ok
# limits: memory=64M
# tiers: ABC
# output: held
# use: lib

import socket

kept, pinned = [], 0
file = os.open("pages", os.O_RDWR | os.O_CREAT)


def pin(put):
    global pinned
    try:
        while pinned < 200 << 20:
            os.pwrite(file, b"a" * 65536, 0)
            pages = sum(put(k * 4096) for k in range(16))
            pinned += pages * 4096
            os.ftruncate(file, 0)
    except OSError:
        os.ftruncate(file, 0)


for _ in range(20):
    pipe, pair = os.pipe(), socket.socketpair()
    for end in (*pipe, *(one.fileno() for one in pair)):
        os.set_blocking(end, False)
    kept += [pipe, pair]
    pin(lambda at: os.splice(file, pipe[1], 1, offset_src=at) or 1)
    pin(lambda at: os.sendfile(pipe[1], file, at, 1) or 1)
    pin(lambda at: os.sendfile(pair[0].fileno(), file, at, 1) or 1)
if pinned > 32 << 20:
    print("ESCAPED", pinned, "bytes of pages that are in no count")
print("held")

# ---- next call
# output: held
import shutil, socket, subprocess

with open("text", "wb") as file:
    file.write(bytes(range(256)) * 4000)
shutil.copyfile("text", "copy")
assert open("copy", "rb").read() == open("text", "rb").read()
assert subprocess.run("cat text | cp /dev/stdin piped; cmp text piped", shell=True).returncode == 0
left, right = socket.socketpair()
left.sendfile(open("copy", "rb"), count=1000)
assert right.recv(2000) == (bytes(range(256)) * 4000)[:1000]
print("held")
