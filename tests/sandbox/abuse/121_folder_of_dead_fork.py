# case 121: the folder of a fork that has ended is filled by the session that it came from
# reason: ok
# limits: disk=64M,file=64M
# on_disk: 200M
# tiers: C
# use: lib

pass

# ---- fork
# reason: ok,exception
os._exit(0)

# ---- back
# reason: disk_limit,ok
n = 0
for folder in (HOME + "/forks", os.path.dirname(HOME) + "/forks"):
    for fork in listed(folder):
        for k in range(10):
            try:
                with open(f"{folder}/{fork}/big{k}", "wb") as f:
                    for _ in range(50): f.write(os.urandom(1 << 20))
                n += 50
            except OSError as e: print(e)
print(n, "MB")
time.sleep(1)
