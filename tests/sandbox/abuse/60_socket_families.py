# case 60: sockets of every family and type: AF_ALG, AF_PACKET, AF_NETLINK, AF_VSOCK, raw ICMP and others
# reason: ok
# tiers: ABC
# output: held
# use: lib

import socket

STREAM, DGRAM, RAW, SEQPACKET, PACKET = 1, 2, 3, 5, 10
ICMP = 1


def made(number, *rest):
    """The families of which a socket could be made."""
    worked = []
    for family in range(64):
        for kind in (STREAM, DGRAM, RAW, SEQPACKET, PACKET):
            for protocol in (0, ICMP):
                try:
                    call(number, family, kind, protocol, *rest)
                    worked.append((family, kind, protocol))
                except OSError:
                    pass
    if worked:
        return worked
    raise OSError(errno.EPERM, "none")


refuse("socket", lambda: made(41))
refuse("socket with high bits", lambda: call(41, 2 | 1 << 32, STREAM, 0))
ends = (ctypes.c_int * 2)()
AF_UNIX, AF_TIPC = 1, 30
for family in range(64):
    if family != AF_UNIX:
        refuse(f"socketpair of family {family}", lambda: call(53, family, SEQPACKET, 0, ends))
left, right = socket.socketpair()  # the one way that there is
left.send(b"x")
assert right.recv(1) == b"x"
print("held")
