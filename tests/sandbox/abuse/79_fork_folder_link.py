# case 79: folders in which the supervisor makes a fork, swapped for links to a folder of the host
# reason: ok
# tiers: ABC
# output: held
# use: lib

for folder in (HOME, os.path.dirname(HOME)):
    path = folder + "/forks"
    try:
        os.rename(path, path + "-before")
    except OSError:
        pass
    try:
        os.symlink("@HOST@", path)
    except OSError:
        pass
print("held")

# ---- tried fork
# reason: ok,exception,protocol_error,killed_by_signal
open("owned", "w").write("x")

# ---- back
# output: held
for folder in (HOME, os.path.dirname(HOME)):
    for name in ("workspace", "tmp", "shm", "files"):
        try:
            os.rename(f"{folder}/{name}", f"{folder}/{name}-before")
            os.symlink("@HOST@", f"{folder}/{name}")
        except OSError:
            pass
print("held")

# ---- tried fork
# reason: ok,exception,protocol_error,killed_by_signal
open("owned", "w").write("x")

# ---- other session
# output: held
print("held")
