# case 55: new namespaces, which lead to mounts and nftables
# reason: ok
# tiers: ABC
# output: held
# use: lib

NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = (
    0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
SESSION = NEWUSER | NEWNS | NEWPID  # what the sandbox itself asks for when it makes a session
SIGCHLD = 17


def clone(flags):
    pid = call(56, flags | SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid


for flags in (NEWUSER, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWPID, NEWNET, NEWTIME, SESSION, SESSION | NEWNET,
              SESSION | 1 << 32, NEWUSER | NEWNET):
    refuse_call(f"unshare({flags:#x})", 272, flags)
for flags in (NEWUSER, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWPID, NEWNET, SESSION, SESSION | NEWNET):
    refuse(f"clone({flags:#x})", lambda: clone(flags))
refuse_call("setns", 308, -1, 0)
NETLINK_NETFILTER = 12
refuse("nftables", lambda: call(41, 16, 3, NETLINK_NETFILTER))
assert clone(0) > 0  # a child like any other
print("held")

# ---- fork
# output: held
refuse_call("unshare in a fork", 272, SESSION)
print("held")
