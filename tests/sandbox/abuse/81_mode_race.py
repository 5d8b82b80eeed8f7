# case 81: folders and links to files of the host change places while a fork is removed, to change the files' modes
# reason: ok
# tiers: ABC
# limits: wall=10
# output: held
# use: lib

for i in range(300):
    os.mkdir(f"d{i}")
    os.mkdir(f"d{i}/inner")
    os.symlink("@HOST@/file", f"l{i}")
if os.fork() == 0:
    mark()
    RENAMEAT2, EXCHANGE = 316, 2
    end = time.monotonic() + 6
    while time.monotonic() < end:
        for folder in (HOME, os.path.dirname(HOME)):
            for fork in listed(folder + "/forks"):
                for place in (f"{folder}/forks/{fork}/workspace", f"{folder}/forks/{fork}/files/workspace"):
                    for name in listed(place):
                        if name.startswith("d"):
                            libc.syscall(RENAMEAT2, -100, f"{place}/{name}".encode(), -100, f"{place}/l{name[1:]}".encode(), EXCHANGE)
    os._exit(0)
print("held")

# ---- tried fork
print("held")

# ---- close

# ---- tried fork
print("held")

# ---- close

# ---- tried fork
print("held")

# ---- close

# ---- tried fork
print("held")

# ---- close

# ---- back
# output: held
print("held")
