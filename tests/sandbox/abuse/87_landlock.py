# case 87: Landlock rules, which the kernel keeps for a process without a limit
# reason: ok
# tiers: ABC
# output: held
# use: lib

handled = (ctypes.c_uint64 * 3)(1 << 2, 0, 0)
refuse_call("landlock_create_ruleset", 444, ctypes.addressof(handled), 8, 0)
refuse_call("landlock_create_ruleset, its version", 444, 0, 0, 1)
refuse_call("landlock_add_rule", 445, 3, 1, ctypes.addressof(handled), 0)
refuse_call("landlock_restrict_self", 446, 3, 0)
print("held")

# ---- fork
# output: held
refuse_call("in a fork: landlock_create_ruleset", 444, ctypes.addressof(handled), 8, 0)
refuse_call("in a fork: landlock_restrict_self", 446, 3, 0)
print("held")
