# case 03: a thread bomb
# reason: process_limit
# tiers: ABC

import threading, time

while True:
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()

# ---- other session
# output: held
import threading

threads = [threading.Thread(target=print) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("held")
