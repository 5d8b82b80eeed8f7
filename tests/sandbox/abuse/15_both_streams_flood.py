# case 15: stdout and stderr flooded alternately by two processes
# reason: output_limit
# limits: wall=10,cpu=10,output=32M
# tiers: ABC
# dropped: yes

import os

os.fork()
block = b"x" * (1 << 16)
for _ in range(100_000):
    os.write(1, block)
    os.write(2, block)
