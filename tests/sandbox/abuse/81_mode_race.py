# case 81: folders and links to a host file swapped while forks are removed, to change the file's mode
# reason: ok
# tiers: ABC
# limits: wall=10,cpu=10
# output: held
# use: lib

for i in range(200):
    os.mkdir(f"d{i}")
if os.fork() == 0:
    mark()
    AT_FDCWD, EXCHANGE = -100, 2
    exchange, link = libc.renameat2, f"{HOME}/tmp/link".encode()
    end = time.monotonic() + 4
    while time.monotonic() < end:
        for folder in (HOME, os.path.dirname(HOME)):
            for fork in listed(folder + "/forks"):
                for place in (f"{folder}/forks/{fork}/workspace", f"{folder}/forks/{fork}/files/workspace"):
                    names = listed(place)  # in the order in which they are removed
                    if "go" not in names:
                        continue
                    for name in names:
                        try:
                            os.symlink("@HOST@/file", link)
                        except OSError:
                            pass
                        path = f"{place}/{name}".encode()
                        while name.startswith("d") and exchange(AT_FDCWD, path, AT_FDCWD, link, EXCHANGE) == 0 and time.monotonic() < end:
                            pass
                        try:
                            os.rmdir(link)
                        except OSError:
                            pass
    os._exit(0)
print("held")

# ---- tried fork
# count: 60
open("go", "w").close()

# ---- back
# output: held
print("held")
