# case 78: children attached to the parent's parent (CLONE_PARENT), so that nobody counts them
# reason: ok
# tiers: ABC
# output: held
# use: lib

CLONE, CLONE_VM, CLONE_VFORK, CLONE_PARENT = 56, 0x100, 0x4000, 0x8000
refuse_call("clone with CLONE_PARENT", CLONE, CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
refuse_call("clone with CLONE_PARENT and no signal", CLONE, CLONE_PARENT, 0, 0, 0, 0)
refuse_call("clone with CLONE_PARENT and CLONE_FILES", CLONE, CLONE_PARENT | 0x400 | signal.SIGCHLD, 0, 0, 0, 0)
refuse_call("clone with CLONE_PARENT and high bits", CLONE, 1 << 40 | CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
print("held")

# ---- fork
# output: held
refuse_call("in a fork: clone with CLONE_PARENT", CLONE, CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
print("held")
