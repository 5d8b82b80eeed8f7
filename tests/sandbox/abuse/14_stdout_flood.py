# case 14: 10 GB on stdout
# reason: output_limit
# limits: wall=10,cpu=10,output=32M
# tiers: ABC
# dropped: yes

import os

block = b"x" * (1 << 20)
for _ in range(10_000):
    os.write(1, block)

# ---- other session
# output: held
print("held")
