# case 48: descriptors that the sandbox left open, above all a folder to escape through (CVE-2024-21626)
# reason: ok
# tiers: ABC
# output: held

import os, stat, subprocess

kinds = {0: "null pipe", 1: "pipe socket", 2: "pipe socket", 3: "socket"}
for fd in range(4096):
    try:
        status = os.fstat(fd)
    except OSError:
        continue
    mode = status.st_mode
    kind = ("folder" if stat.S_ISDIR(mode) else "pipe" if stat.S_ISFIFO(mode) else "socket" if stat.S_ISSOCK(mode) else
            "file" if stat.S_ISREG(mode) else "null" if status.st_rdev == os.makedev(1, 3) else "device or other")
    if kind not in kinds.get(fd, ""):
        print("ESCAPED descriptor", fd, "is open, a", kind)
    try:
        os.chdir(f"/proc/self/fd/{fd}")
        print("ESCAPED a working folder through descriptor", fd)
    except OSError:
        pass

# Programs that the code starts inherit the three streams and nothing else.
ask = """
import os
for fd in range(3, 256):
    try:
        os.fstat(fd)
        print(fd)
    except OSError:
        pass
"""
done = subprocess.run(["python3", "-I", "-c", ask], close_fds=False, capture_output=True, text=True)
if done.returncode != 0:
    raise RuntimeError(done.stderr)
if done.stdout:
    print("ESCAPED programs inherit", done.stdout.split())
print("held")
