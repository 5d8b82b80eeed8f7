# case 145: memory that grows next to processes that always start programs, which makes their readers wait
# reason: memory_limit
# limits: cpu=60,memory=512M,wall=10
# in_memory: 2000M
# tiers: ABC
# use: lib

map_singly(60000)
start_programs(8)
time.sleep(0.5)
for _ in range(80):
    if os.fork() == 0:
        mark()
        data = bytearray(b"1" * (50 << 20))
        time.sleep(60)
time.sleep(60)
print("ESCAPED 4 GB")
