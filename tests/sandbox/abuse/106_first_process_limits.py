# case 106: limits and niceness of the session's init process, of the supervisor and of others, which no guest may change
# reason: ok
# tiers: ABC
# output: held
# use: lib

PRLIMIT, SETPRIORITY, IOPRIO_SET, SETAFFINITY, SETSCHEDULER = 302, 141, 251, 203, 144
low = (ctypes.c_uint64 * 2)(0, 0)
mask = (ctypes.c_uint64 * 1)(1)
for target in (1, os.getppid(), os.getpid() + 1):
    if target == 0:
        continue
    for resource in range(16):
        refuse_call(f"prlimit of {target}", PRLIMIT, target, resource, ctypes.addressof(low), 0)
    refuse_call(f"setpriority of {target}", SETPRIORITY, 0, target, 19)
    refuse_call(f"ioprio_set of {target}", IOPRIO_SET, 1, target, 3 << 13)
    refuse_call(f"sched_setaffinity of {target}", SETAFFINITY, target, 8, ctypes.addressof(mask))
    refuse_call(f"sched_setscheduler of {target}", SETSCHEDULER, target, 3, ctypes.addressof(low))
refuse_call("setpriority of the user", SETPRIORITY, 2, 0, 19)
refuse_call("setpriority of another group", SETPRIORITY, 1, 1, 19)
print("held")
