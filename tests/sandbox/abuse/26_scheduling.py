# case 26: requests for real-time scheduling, a better nice value, other CPUs, other I/O classes
# reason: ok
# tiers: ABC
# output: held
# use: lib

import struct

for policy in (os.SCHED_FIFO, os.SCHED_RR):
    refuse(f"policy {policy}", lambda: os.sched_setscheduler(0, policy, os.sched_param(1)))
refuse("nice -20", lambda: os.nice(-20))
refuse("nice -1", lambda: os.nice(-1))
refuse("setpriority", lambda: os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) - 1))
refuse_call("sched_setaffinity", 203, 0, 8, struct.pack("Q", 1))
deadline = struct.pack("IIQiIQQQ", 48, 6, 0, 0, 0, 10**6, 10**7, 10**7)
refuse_call("sched_setattr", 314, 0, deadline, 0)
refuse_call("sched_setparam", 142, 0, struct.pack("i", 1))
refuse_call("ioprio_set", 251, 1, 0, 1 << 13)
print("held")
