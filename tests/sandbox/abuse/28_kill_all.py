# case 28: SIGKILL to every visible process, from a session and from its fork
# reason: ok
# tiers: ABC
# output: held

import os, signal

try:
    os.kill(-1, signal.SIGKILL)
except OSError:
    pass
print("held")

# ---- fork
# output: held
try:
    os.kill(-1, signal.SIGKILL)
except OSError:
    pass
print("held")

# ---- back
# output: held
print("held")

# ---- other session
# output: held
import os, signal

try:
    os.kill(-1, signal.SIGKILL)
except OSError:
    pass
print("held")
