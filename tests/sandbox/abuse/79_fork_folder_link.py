# case 79: the folders that the supervisor makes a fork in are swapped for links to a folder of the host
# reason: ok
# tiers: ABC
# output: held
# use: lib

def swap(target):
    for folder in (HOME, os.path.dirname(HOME)):
        for name in ("forks", "workspace", "tmp", "shm", "files"):
            path = f"{folder}/{name}"
            try:
                os.rename(path, path + "-before")
                os.symlink(target, path)
            except OSError:
                pass


swap("@HOST@")
print("held")

# ---- tried fork
# reason: ok,exception,protocol_error,killed_by_signal,sandbox_lost
open("owned", "w").write("x")

# ---- back
# output: held
print("held")

# ---- other session
# output: held
print("held")
