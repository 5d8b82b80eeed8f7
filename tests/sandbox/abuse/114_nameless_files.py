# case 114: files without a name, held only by a mapping or by a program that nobody may inspect
# reason: ok,disk_limit,memory_limit
# limits: disk=64M,file=32M
# tiers: ABC
# use: lib

libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
for i in range(12):
    fd = os.open("big", os.O_RDWR | os.O_CREAT)
    for _ in range(31):
        os.write(fd, bytes(1 << 20))
    libc.mmap(None, 4096, 1, 1, fd, 0)
    os.close(fd)
    os.unlink("big")
time.sleep(1)
print("ESCAPED 372 MB of files")

# ---- other session
# reason: ok,exception,disk_limit,process_limit,memory_limit
import os, shutil, subprocess

shutil.copy("/usr/bin/python3", "program")
os.chmod("program", 0o111)
code = """
import os, time
for i in range(12):
    fd = os.open("big", os.O_RDWR | os.O_CREAT)
    for _ in range(31):
        os.write(fd, bytes(1 << 20))
    os.unlink("big")
time.sleep(1)
print("ESCAPED 372 MB of files")
"""
done = subprocess.run(["./program", "-I", "-S", "-c", code])
