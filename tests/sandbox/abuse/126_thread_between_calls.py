# case 126: a thread of the interpreter takes memory between calls
# reason: ok
# limits: memory=100M
# tiers: ABC

import threading, time
kept = []
def work():
    time.sleep(0.2)
    for _ in range(12): kept.append(b"1" * (10 << 20))
    time.sleep(10)
threading.Thread(target=work, daemon=True).start()

# ---- other session
import time
time.sleep(2.5)

# ---- back
# reason: memory_limit
# text: the session had ended
pass
