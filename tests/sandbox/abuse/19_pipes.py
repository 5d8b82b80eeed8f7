# case 19: 100,000 pipes and socket pairs, with descriptors in flight in them
# reason: ok
# tiers: ABC
# output: held

import array, errno, os, socket

kept = []
try:
    while len(kept) < 100_000:
        ends = os.pipe()
        kept += ends
        os.write(ends[1], bytes(4096))
        pair = socket.socketpair()
        kept += [side.detach() for side in pair]
        os.write(kept[-1], bytes(4096))
    print("ESCAPED", len(kept), "descriptors are open")
except OSError as error:
    if error.errno != errno.EMFILE:
        raise
for fd in kept:
    os.close(fd)

# A descriptor that was sent and not yet received is open no more, but held by the kernel.
flying, pairs = 0, []
message = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 200))]
for _ in range(10):
    pairs.append(socket.socketpair())
    pairs[-1][0].setblocking(False)
    try:
        while flying < 100_000:
            pairs[-1][0].sendmsg([b"x"], message)
            flying += 200
    except OSError:
        pass
if flying >= 100_000:
    print("ESCAPED", flying, "descriptors are in flight")
for pair in pairs:
    for side in pair:
        side.close()
print("held")
