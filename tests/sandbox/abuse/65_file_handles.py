# case 65: files opened by their handle, which bypasses folders
# reason: ok
# tiers: ABC
# output: held
# use: lib

import struct

handle = ctypes.create_string_buffer(struct.pack("Ii", 8, 1) + struct.pack("II", 2, 0), 136)  # inode 2: the root of ext4
identity = ctypes.c_int()
home = os.open(HOME, os.O_RDONLY | os.O_DIRECTORY)
refuse_call("open_by_handle_at", 304, home, handle, os.O_RDONLY)
refuse_call("open_by_handle_at of the working folder", 304, -100, handle, os.O_RDONLY)
refuse_call("name_to_handle_at", 303, -100, b"/", handle, ctypes.byref(identity), 0)
print("held")
