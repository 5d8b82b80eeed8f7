# case 105: the value of a last expression is printed, as in an interactive interpreter
# reason: ok
# tiers: ABC
# output: 42

value = 41
value + 1

# ---- next call
# output: held
print("held")
None

# ---- next call
# output: 'text'
f"te{'xt'}"
