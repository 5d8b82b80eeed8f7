# case 139: files written into the folder of a fork that is being made, delayed by an at-fork hook of its origin
# reason: ok
# limits: disk=64M,file=64M
# on_disk: 220M
# tiers: C
# use: lib

FORKS = os.path.dirname(HOME) + "/forks"


def write_into_fork():
    while not (forks := listed(FORKS)) or not os.path.isdir(f"{FORKS}/{forks[0]}/files/tmp"):
        time.sleep(0.01)
    time.sleep(0.3)  # until the copy is made
    for number in range(16):
        with open(f"{FORKS}/{forks[0]}/files/tmp/{number}", "wb") as file:
            for _ in range(30):
                file.write(b"a" * (1 << 20))
        time.sleep(0.1)


if os.fork() == 0:
    mark()
    try:
        write_into_fork()
    except OSError:
        pass
    os._exit(0)
os.register_at_fork(after_in_child=lambda: time.sleep(4))

# ---- refused fork
# text: more than 67108864 bytes

# ---- back
# output: held
print("held")
