# case 137: a session that ignores SIGCHLD is forked, so that nobody can wait for what makes the fork
# reason: ok
# tiers: ABC

import signal

signal.signal(signal.SIGCHLD, signal.SIG_IGN)

# ---- fork
# output: held
print("held")

# ---- back
# output: held
print("held")
