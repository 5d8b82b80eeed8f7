# case 113: ten thousands of mappings: the kernel keeps a record of each, and every child copies them
# reason: memory_limit
# limits: memory=64M
# tiers: ABC
# use: lib

map_singly(60000)
for _ in range(28):
    if os.fork() == 0:
        mark()
        time.sleep(60)
        os._exit(0)
time.sleep(60)
print("ESCAPED 400 MB of records")
