# case 23: every signal ignored and blocked, so that only SIGKILL ends it
# reason: wall_timeout
# limits: wall=1,cpu=20
# tiers: ABC

import signal

for number in signal.valid_signals():
    try:
        signal.signal(number, signal.SIG_IGN)
    except OSError:
        pass
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
while True:
    pass

# ---- other session
# output: held
print("held")
