# case 136: sleeping children with 30,000 mappings each, which are slow to read
# reason: ok
# limits: cpu=60,memory=512M
# tiers: ABC
# use: lib

map_singly(30000)
for _ in range(6):
    if os.fork() == 0:
        mark()
        time.sleep(30)
        os._exit(0)
time.sleep(2)

# ---- rest
