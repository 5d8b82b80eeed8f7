# case 130: as 83, and in the parent of each the first thread has ended too: neither seems to have memory
# reason: memory_limit
# limits: memory=128M
# tiers: ABC
# use: lib

import threading


def hold():
    data = b"\1" * (80 << 20)
    time.sleep(4)
    os._exit(0)


def start_another():
    time.sleep(0.2)
    if os.fork() == 0:
        mark()
        threading.Thread(target=hold).start()
        libc.syscall(60, 0)  # exit, of this thread
    time.sleep(4)


threading.stack_size(1 << 18)
for _ in range(3):
    if os.fork() == 0:
        mark()
        threading.Thread(target=start_another).start()
        libc.syscall(60, 0)
time.sleep(3)
print("ESCAPED 240 MB")

# ---- other session
# output: held
print("held")
