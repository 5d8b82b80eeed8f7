# case 142: thousands of picture names of 255 bytes, which every call searches for new pictures
# reason: ok
# limits: wall=30,cpu=30
# tiers: ABC

for i in range(4000):
    open("n" * 240 + f"{i}.png", "w").close()

# ---- next call
# neighbour: 20
# times: 200
pass
