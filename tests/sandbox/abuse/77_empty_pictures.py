# case 77: pictures of empty space, cheap to write and expensive to bring out
# reason: ok
# limits: file=64M,disk=64M
# tiers: ABC
# output: held
# artifacts: 0.png,1.png,2.png,3.png -> 2

for i in range(4):
    open(f"{i}.png", "wb").truncate(64 << 20)
print("held")
