# case benign: modes and times of files, set while other threads and processes run, and through a link
# reason: ok
# output: held
# tiers: ABC

import os, threading, time


def set_both(name, mode):
    os.chmod(name, mode)
    os.utime(name, (5, 5))
    status = os.stat("file")
    assert (status.st_mode & 0o777, status.st_mtime) == (mode, 5), status
    done.append(mode)


done = []
open("file", "w").close()
os.symlink("file", "link")
set_both("file", 0o640)
set_both("link", 0o604)
threads = [threading.Thread(target=time.sleep, args=(0.3,)), threading.Thread(target=set_both, args=("file", 0o600))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if os.fork() == 0:
    time.sleep(0.5)
    os._exit(0)
set_both("file", 0o644)
os.wait()
assert done == [0o640, 0o604, 0o600, 0o644], done
print("held")
