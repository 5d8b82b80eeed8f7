# case 142: thousands of names of pictures, 255 bytes each, among which every call looks for what is new
# reason: ok
# limits: wall=30,cpu=30
# tiers: ABC

for i in range(4000):
    open("n" * 240 + f"{i}.png", "w").close()

# ---- next call
# neighbour: 20
# times: 200
pass
