# case 97: 28 children that share 420 MB, which are slow to measure, while another session works
# reason: ok
# limits: memory=512M,cpu=20
# tiers: ABC
# output: held
# use: lib
# neighbour: 20

data = b"\1" * (420 << 20)
for _ in range(28):
    if os.fork() == 0:
        mark()
        time.sleep(3)
        os._exit(0)
time.sleep(2.5)
print("held")
