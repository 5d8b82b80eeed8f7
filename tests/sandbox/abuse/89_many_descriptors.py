# case 89: thousands of open descriptors: in processes, in threads with own tables, in processes without a first thread
# reason: process_limit
# tiers: ABC
# use: lib

for _ in range(20):
    if os.fork() == 0:
        mark()
        for _ in range(240):
            os.pipe()
        time.sleep(3)
        os._exit(0)
time.sleep(2)
print("ESCAPED 9,600 descriptors")

# ---- other session
# reason: ok,process_limit
import ctypes, os, threading, time

libc = ctypes.CDLL(None)
opened = []


def take():
    libc.syscall(436, 400, 401, 2)  # close_range with CLOSE_RANGE_UNSHARE
    count = 0
    try:
        while True:
            os.pipe()
            count += 2
    except OSError:
        pass
    opened.append(count)
    time.sleep(1)


threading.stack_size(1 << 16)
threads = [threading.Thread(target=take) for _ in range(24)]
for thread in threads:
    thread.start()
time.sleep(0.7)
if sum(opened) > 2000:
    print("ESCAPED", sum(opened), "descriptors")

# ---- other session
# reason: process_limit
import ctypes, os, threading, time

libc = ctypes.CDLL(None)


def take():
    for _ in range(240):
        os.pipe()
    time.sleep(3)
    os._exit(0)


threading.stack_size(1 << 16)
for _ in range(14):
    if os.fork() == 0:
        threading.Thread(target=take).start()
        libc.syscall(60, 0)  # exit, of this thread
time.sleep(2)
print("ESCAPED 6,700 descriptors")
