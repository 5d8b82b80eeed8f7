# case 82: more and more names of one file while a fork is copied: the copy takes no more room than the session has
# reason: ok
# limits: disk=1M,file=1M
# on_disk: 16M
# tiers: ABC
# output: held
# use: lib

with open("file", "wb") as file:
    file.write(os.urandom(900 << 10))
if os.fork() == 0:
    mark()
    folders = [folder + "/forks" for folder in (HOME, os.path.dirname(HOME))]
    end = time.monotonic() + 3
    while time.monotonic() < end and not any(map(listed, folders)):
        pass
    for i in range(300):
        os.link("file", f"name-{i}")
    time.sleep(0.15)
    for i in range(300):
        os.unlink(f"name-{i}")
    os._exit(0)
print("held")

# ---- tried fork
# reason: ok,disk_limit
print(len(os.listdir(".")))
