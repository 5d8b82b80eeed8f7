# case 143: programs that are started out of processes with 60,000 mappings, whose memory falls to who reads of them
# reason: ok
# limits: cpu=60,memory=512M
# tiers: ABC
# use: lib

map_singly(60000)
data = b"x" * (150 << 20)

# ---- next call
# neighbour: 30
# reason: ok,memory_limit,process_limit
for _ in range(6):
    if os.fork() == 0:
        while True:
            child = os.fork()
            if child == 0:
                os.execv("/bin/true", ["true"])
            os.waitpid(child, 0)
time.sleep(4)
