# case 137: a fork of a session that ignores SIGCHLD, so that nobody can wait for the process that makes the fork
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
