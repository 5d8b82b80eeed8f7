# case 108: forks of forks, until an error refuses one
# reason: ok
# tiers: ABC

kept = 1

# ---- forks of forks
# count: 7
# text: in a row
kept += 1

# ---- back
# output: held
print("held")
