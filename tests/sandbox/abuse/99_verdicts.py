# case 99: sessions ended by their code report that, at once and later, and never as a failure of the sandbox
# reason: protocol_error,exception,ok
# limits: memory=100M,output=1M
# tiers: ABC

import os

os._exit(0)

# ---- next call
# reason: protocol_error,exception
# text: the session had ended
print("ESCAPED the session lives on")

# ---- other session
# reason: output_limit
while True:
    print("x" * 1000)

# ---- next call
# reason: output_limit
# text: the session had ended
print("ESCAPED the session lives on")

# ---- other session
# reason: exception,protocol_error
import os

os._exit(3)

# ---- next call
# reason: exception,protocol_error
# text: the session had ended
print("ESCAPED the session lives on")

# ---- other session
import os, time

for _ in range(4):
    if os.fork() == 0:
        time.sleep(0.3)
        data = b"\1" * (60 << 20)
        time.sleep(60)
        os._exit(0)

# ---- next call
# reason: memory_limit
import time

time.sleep(60)

# ---- next call
# reason: memory_limit
# text: the session had ended
print("ESCAPED the session lives on")

# ---- other session
# reason: killed_by_signal
import os, signal

os.kill(os.getpid(), signal.SIGSEGV)

# ---- next call
# reason: killed_by_signal
# text: the session had ended
print("ESCAPED the session lives on")
