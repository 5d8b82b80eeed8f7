# case 82: more and more names of one file while a fork is copied: the copy takes no more space than the session has
# reason: ok
# limits: disk=2M,file=1M,wall=20
# on_disk: 9M
# tiers: ABC
# output: held
# use: lib

with open("file", "wb") as file:
    file.write(os.urandom(900 << 10))
for i in range(20):
    os.mkdir(f"folder-{i}")
    for j in range(150):
        os.mkfifo(f"folder-{i}/{j}")
if os.fork() == 0:
    mark()
    folders = [folder + "/forks" for folder in (HOME, os.path.dirname(HOME))]
    end = time.monotonic() + 3
    while time.monotonic() < end and not any(map(listed, folders)):
        pass
    for i in range(400):
        os.link("file", f"folder-{i % 20}/name-{i}")
    time.sleep(0.15)
    for i in range(400):
        os.unlink(f"folder-{i % 20}/name-{i}")
    os._exit(0)
print("held")

# ---- tried fork
# reason: ok,disk_limit
print(sum(len(os.listdir(f"folder-{i}")) - 150 for i in range(20)), "names")
