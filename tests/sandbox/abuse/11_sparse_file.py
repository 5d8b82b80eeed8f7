# case 11: a sparse file of 1 TB, and space allocated past a file's end
# reason: disk_limit
# tiers: ABC
# use: lib

with open("sparse", "wb") as file:
    os.ftruncate(file.fileno(), 1 << 40)
print("ESCAPED a file of 1 TB")

# ---- next call
# output: held
fd = os.open("sparse", os.O_RDWR | os.O_CREAT)
refuse("truncate", lambda: os.truncate("sparse", 1 << 40))
refuse("a write at 1 TB", lambda: os.pwrite(fd, b"x", 1 << 40))
refuse("fallocate", lambda: call(285, fd, 0, 0, 1 << 40))
FALLOC_FL_KEEP_SIZE = 1  # some file systems do not ask for the limit here
refuse("fallocate past the end", lambda: call(285, fd, FALLOC_FL_KEEP_SIZE, 0, 256 << 20))
os.ftruncate(fd, 0)
os.remove("sparse")
print("held")
