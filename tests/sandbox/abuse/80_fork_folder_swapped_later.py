# case 80: a fork's folder swapped for a link to the host's while the fork lives, and emptied when it is closed
# reason: ok
# tiers: ABC
# output: held
# use: lib

print("held")

# ---- fork
print(HOME)

# ---- back
# output: held
# A fork's folder may lie in any of them, and a folder of the host has the same name.
for folder in (HOME, os.path.dirname(HOME)):
    for name in ("forks", "files"):
        path = f"{folder}/{name}"
        try:
            os.rename(path, path + "-before")
            os.symlink("@HOST@/numbered", path)
        except OSError:
            pass
    for inner in listed(folder + "/forks"):
        try:
            os.rename(f"{folder}/forks/{inner}", f"{folder}/forks/{inner}-before")
            os.symlink("@HOST@/numbered", f"{folder}/forks/{inner}")
        except OSError:
            pass
print("held")

# ---- close

# ---- back
# reason: ok
# output: held
print("held")
