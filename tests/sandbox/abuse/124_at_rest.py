# case 124: at rest, also when a session is closed that was forked before, the sandbox uses no CPU
# reason: ok
# tiers: ABC

pass

# ---- rest

# ---- fork
pass

# ---- rest

# ---- close first

# ---- rest
