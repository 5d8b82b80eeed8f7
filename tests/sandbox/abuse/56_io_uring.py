# case 56: io_uring, which makes system calls that no filter sees
# reason: ok
# tiers: ABC
# output: held
# use: lib

parameters = ctypes.create_string_buffer(120)
refuse_call("io_uring_setup", 425, 8, parameters)
refuse_call("io_uring_enter", 426, -1, 1, 0, 0, 0, 0)
refuse_call("io_uring_register", 427, -1, 0, 0, 0)
AF_VSOCK = 40
refuse("a vsock", lambda: call(41, AF_VSOCK, 1, 0))
refuse_call("io_setup", 206, 8, parameters)  # the older way
print("held")
