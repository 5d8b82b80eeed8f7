# case 124: at rest the sandbox uses no CPU time, also when a session that was forked before is closed
# reason: ok
# tiers: ABC

pass

# ---- rest

# ---- fork
pass

# ---- rest

# ---- close first

# ---- rest
