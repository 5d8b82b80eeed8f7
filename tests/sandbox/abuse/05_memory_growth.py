# case 05: a bytearray that grows until memory is used up
# reason: memory_limit
# limits: wall=5,memory=256M
# tiers: ABC

data = bytearray()
while True:
    data += b"\1" * (1 << 20)

# ---- other session
# output: held
data = b"\1" * (64 << 20)
print("held")
