# case 47: an overwrite of the running program through /proc/self/exe (CVE-2019-5736)
# reason: ok
# tiers: ABC
# output: held
# use: lib

for pid in ("self", 1, os.getppid()):
    path = f"/proc/{pid}/exe"
    for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND):
        refuse(f"writing {path}", lambda: os.open(path, flags))
    try:
        fd = os.open(path, os.O_PATH)
    except OSError:
        continue
    refuse(f"writing {path} by a handle", lambda: os.open(f"/proc/self/fd/{fd}", os.O_WRONLY))

# A program that has just ended is busy no more: the race that the attack runs.
handle = os.open("/usr/bin/env", os.O_PATH)
for _ in range(20):
    pid = os.fork()
    if pid == 0:
        try:
            os.execv("/usr/bin/env", ["env", "true"])
        finally:
            os._exit(1)
    os.waitpid(pid, 0)
    try:
        os.close(os.open(f"/proc/self/fd/{handle}", os.O_WRONLY))
        print("ESCAPED a program is writable once it has ended")
    except OSError:
        pass
print("held")
