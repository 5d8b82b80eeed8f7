# case 100: os.fork as programs use it: a child that reaches the script's end, one that raises, one that exits
# reason: ok
# tiers: ABC
# output: parent 0

import os, sys

pid = os.fork()
if pid == 0:
    print("child")
else:
    print("parent", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

# ---- next call
# output: parent 1
pid = os.fork()
if pid == 0:
    raise ValueError("of the child")
print("parent", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

# ---- next call
# output: parent 7
pid = os.fork()
if pid == 0:
    sys.exit(7)
print("parent", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

# ---- next call
# output: held
import atexit

pid = os.fork()  # a child of a child too
if pid == 0:
    atexit.register(print, "the child's exit function")
    if os.fork() == 0:
        sys.exit("grandchild")
    os.wait()
else:
    os.wait()
    print("held")

# ---- next call
# output: still here
print("still here")
