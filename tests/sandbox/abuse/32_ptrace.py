# case 32: ptrace of the parent, the init process and a child
# reason: ok
# tiers: ABC
# output: held
# use: lib

PTRACE_TRACEME, PTRACE_ATTACH, PTRACE_SEIZE = 0, 16, 0x4206
parent = os.getppid()
refuse_call("PTRACE_TRACEME", 101, PTRACE_TRACEME, 0, 0, 0)
for request in (PTRACE_ATTACH, PTRACE_SEIZE):
    for pid in (parent, 1, os.getpid()):
        refuse_call(f"ptrace({request}, {pid})", 101, request, pid, 0, 0)
refuse_call("kcmp", 312, parent, 1, 0, 0, 0)
print("held")
