# case 59: bpf and perf events
# reason: ok
# tiers: ABC
# output: held
# use: lib

import socket, struct

attributes = ctypes.create_string_buffer(128)
for command in (0, 5, 18):  # a map, a program, a BTF
    refuse_call(f"bpf({command})", 321, command, attributes, 128)
event = ctypes.create_string_buffer(struct.pack("IIQ", 1, 128, 0), 128)  # a clock of software
refuse_call("perf_event_open", 298, event, 0, -1, -1, 0)
refuse_call("a filter that asks a listener", 317, 1, 8, attributes)
SO_ATTACH_BPF = 50
pair = socket.socketpair()
refuse("a program on a socket", lambda: pair[0].setsockopt(socket.SOL_SOCKET, SO_ATTACH_BPF, struct.pack("i", 0)))
print("held")
