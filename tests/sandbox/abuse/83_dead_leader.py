# case 83: the first thread of a process ends and another one takes memory: the kernel shows none for the process
# reason: memory_limit
# limits: memory=128M
# tiers: ABC
# use: lib

import threading


def hold():
    time.sleep(0.3)
    data = b"\1" * (80 << 20)
    time.sleep(4)
    os._exit(0)


threading.stack_size(1 << 18)
for _ in range(3):
    if os.fork() == 0:
        mark()
        threading.Thread(target=hold).start()
        libc.syscall(60, 0)  # exit, of this thread
time.sleep(3)
print("ESCAPED 240 MB")

# ---- other session
# output: held
print("held")
