# case 82: one file under many names, more of them while a fork is copied: the copy takes no more room than the session has
# reason: ok
# limits: disk=1M,file=1M
# on_disk: 8M
# tiers: ABC
# output: held
# use: lib

with open("file", "wb") as file:
    file.write(os.urandom(900 << 10))
for i in range(300):
    os.link("file", f"name-{i}")
if os.fork() == 0:
    mark()
    for i in range(100_000):
        try:
            os.link("file", f"late-{i % 500}")
            os.unlink(f"late-{(i + 250) % 500}")
        except OSError:
            pass
    os._exit(0)
print("held")

# ---- tried fork
# reason: ok,disk_limit
print(len(os.listdir(".")))

# ---- tried fork
# reason: ok,disk_limit
print(len(os.listdir(".")))
