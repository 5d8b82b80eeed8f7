# case 84: children of a fork that free what the session before it held, and take as much again
# reason: ok
# limits: memory=128M
# tiers: ABC
# output: held
# use: lib

held = [bytearray(b"\1") * (1 << 20) for _ in range(70)]
print("held")

# ---- fork
# reason: memory_limit
for _ in range(6):
    if os.fork() == 0:
        mark()
        held.clear()
        data = b"\2" * (65 << 20)
        time.sleep(60)
        os._exit(0)
time.sleep(60)
print("ESCAPED 390 MB")
