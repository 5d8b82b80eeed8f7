# case 20: busy loops in the interpreter and in its children
# reason: cpu_limit
# limits: wall=10,cpu=1
# tiers: ABC

import signal

signal.signal(signal.SIGXCPU, signal.SIG_IGN)
while True:
    pass

# ---- other session
# reason: cpu_limit
import os, signal


def burn():
    if os.fork() == 0:
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        while True:
            pass


burn()
burn()
while True:  # where a child is ended by a limit of its own, another follows: the sum counts
    os.wait()
    burn()
