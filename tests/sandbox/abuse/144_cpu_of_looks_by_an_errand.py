# case 144: six processes with 60,000 mappings use CPU time in programs that they start; a child process checks them
# reason: ok
# limits: wall=30,cpu=8,memory=512M
# tiers: ABC
# use: lib

map_singly(60000)

# ---- next call
# reason: cpu_limit
# cpu_s: 8..24
start_programs(6)
time.sleep(25)
