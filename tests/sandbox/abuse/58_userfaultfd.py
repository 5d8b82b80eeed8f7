# case 58: userfaultfd, which stops the kernel in the middle of a copy
# reason: ok
# tiers: ABC
# output: held
# use: lib

O_CLOEXEC, UFFD_USER_MODE_ONLY = 0o2000000, 1
refuse_call("userfaultfd", 323, O_CLOEXEC)
refuse_call("userfaultfd of user mode", 323, O_CLOEXEC | UFFD_USER_MODE_ONLY)
refuse("its device", lambda: os.open("/dev/userfaultfd", os.O_RDWR))
print("held")
