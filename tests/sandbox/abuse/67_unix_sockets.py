# case 67: sockets of the host by abstract name or path, and inherited sockets
# reason: ok
# tiers: ABC
# output: held
# use: lib

import socket

canary = b"\0agon-abuse-canary"
address = b"\1\0" + canary
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    refuse("a socket of the host's kind", lambda: socket.socket(socket.AF_UNIX, kind).connect(canary))
    left, right = socket.socketpair(socket.AF_UNIX, kind)
    refuse_call("connect", 42, left.fileno(), address, len(address))
    refuse_call("bind", 49, left.fileno(), b"\1\0\0agon-abuse-own", 17)
    refuse_call("listen", 50, left.fileno(), 1)
    refuse_call("accept", 43, left.fileno(), 0, 0)
    refuse_call("accept4", 288, left.fileno(), 0, 0, 0)

# One end of a pair of datagram sockets could send to any name. The datagrams are empty.
try:
    left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
except OSError:
    left = None
paths = ("/run/systemd/journal/socket", "/run/systemd/journal/dev-log", "/dev/log", "/run/systemd/notify", "/run/dbus/system_bus_socket",
         "/var/run/docker.sock", "/run/containerd/containerd.sock", "/tmp/.X11-unix/X0", "/run/nscd/socket")
for name in (canary, *paths) if left else ():
    for send in (lambda: left.sendto(b"", name), lambda: left.sendmsg([b""], [], 0, name)):
        end = attempt(send)
        if end != "refused EPERM":
            print("ESCAPED a datagram to", name, end)

for fd in range(4, 1024):
    if left and fd in (left.fileno(), right.fileno()):
        continue
    try:
        other = socket.socket(fileno=os.dup(fd))
        print("ESCAPED descriptor", fd, "is an inherited socket", other)
    except OSError:
        pass
print("held")
