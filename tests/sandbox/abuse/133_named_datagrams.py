# case 133: a datagram socket pair that gets a name, by which another session or an answer of the host could reach it
# reason: ok
# tiers: ABC
# output: held
# use: lib

import socket

left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
for option in (16, 34, 76):  # SO_PASSCRED, SO_PASSSEC, SO_PASSPIDFD
    refuse(f"option {option}", lambda: left.setsockopt(socket.SOL_SOCKET, option, 1))
for send in (lambda: left.sendto(b"", b"\0any"), lambda: left.sendto(b"", "/dev/log"), lambda: left.sendmsg([b""], [], 0, b"\0any")):
    end = attempt(send)
    if end != "refused EPERM":
        print("ESCAPED a datagram to a name:", end)
if left.getsockname() not in ("", b""):
    print("ESCAPED a name", left.getsockname())
left.send(b"x")
assert right.recv(10) == b"x"
print("held")
