# case 95: descriptors sent and never received, which count against everything the user runs
# reason: ok
# tiers: ABC
# output: held

import array, os, socket, time

flying, pairs = 0, []
message = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 200))]
for _ in range(200):
    pairs.append(socket.socketpair())
    pairs[-1][0].setblocking(False)
    try:
        while True:
            pairs[-1][0].sendmsg([b"x"], message)
            flying += 200
    except OSError:
        pass
if flying > 1000:
    print("ESCAPED", flying, "descriptors are in flight")
print("held")

# ---- other launcher
# output: held
print("held")
