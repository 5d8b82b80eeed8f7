# case 33: reads and writes of the parent's memory
# reason: ok
# tiers: ABC
# output: held
# use: lib

import struct

buffer = ctypes.create_string_buffer(64)
piece = struct.pack("QQ", ctypes.addressof(buffer), 64)
for pid in (os.getppid(), 1, os.getpid()):
    refuse_call(f"process_vm_readv of {pid}", 310, pid, piece, 1, piece, 1, 0)
    refuse_call(f"process_vm_writev of {pid}", 311, pid, piece, 1, piece, 1, 0)
print("held")
