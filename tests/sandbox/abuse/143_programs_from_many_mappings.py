# case 143: programs started by processes with 60,000 mappings, whose memory is freed by whoever reads about them
# reason: ok
# limits: cpu=60,memory=512M
# tiers: ABC
# use: lib

map_singly(60000)
data = b"x" * (150 << 20)

# ---- next call
# neighbour: 30
# reason: ok,memory_limit,process_limit
start_programs(6)
time.sleep(4)
