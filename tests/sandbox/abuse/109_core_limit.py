# case 109: a crash starts no program of the host, whatever the guest does to its limit of core files
# reason: ok
# tiers: ABC
# output: held
# use: lib

import resource

for wanted in ((0, 1), (1, 1), (0, 0), (2, 2), (resource.RLIM_INFINITY, resource.RLIM_INFINITY)):
    try:
        resource.setrlimit(resource.RLIMIT_CORE, wanted)
    except (OSError, ValueError):
        pass
    if resource.getrlimit(resource.RLIMIT_CORE) != (1, 1):
        print("ESCAPED", resource.getrlimit(resource.RLIMIT_CORE))
both = (ctypes.c_uint64 * 2)(0, 0)
refuse_call("prlimit", 302, 0, resource.RLIMIT_CORE, ctypes.addressof(both), 0)
refuse_call("prlimit with high bits", 302, 0, 1 << 40 | resource.RLIMIT_CORE, ctypes.addressof(both), 0)
refuse_call("setrlimit", 160, resource.RLIMIT_CORE, ctypes.addressof(both))
refuse_call("prlimit of one's own number", 302, os.getpid(), resource.RLIMIT_CORE, ctypes.addressof(both), 0)
refuse_call("the mark of a session", 302, 0, 10, ctypes.addressof(both), 0)
refuse_call("the mark of a session, by setrlimit", 160, 10, ctypes.addressof(both))
pid = os.fork()
if pid == 0:
    os.kill(os.getpid(), signal.SIGSEGV)
if os.WCOREDUMP(os.waitpid(pid, 0)[1]):
    print("ESCAPED there was a core dump")
print("held")

# ---- fork
# output: held
print("held" if resource.getrlimit(resource.RLIMIT_CORE) == (1, 1) else "ESCAPED")
