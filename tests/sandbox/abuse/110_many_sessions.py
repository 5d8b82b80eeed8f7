# case 110: 300 sessions at a time, where a program may have 1,024 descriptors
# reason: ok
# tiers: ABC
# output: held

print("held")

# ---- other session
# count: 300
# output: held
print("held")
