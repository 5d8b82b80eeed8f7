# case 102: a pipe and a socket pair made before a fork do not connect the two
# reason: ok
# tiers: ABC

import os, socket

reading, writing = os.pipe()
os.set_blocking(reading, False)
pair = socket.socketpair()
for side in pair:
    side.setblocking(False)

# ---- fork
for send in (lambda: os.write(writing, b"from the fork"), lambda: pair[0].send(b"from the fork"), lambda: pair[1].send(b"from the fork")):
    try:
        send()
    except OSError:
        pass
try:
    print("its own:", os.read(reading, 100))
except OSError:
    pass

# ---- back
# output: held
for receive in (lambda: os.read(reading, 100), lambda: pair[1].recv(100), lambda: pair[0].recv(100)):
    try:
        data = receive()
        print("ESCAPED from a fork:" if data else "at its end", data)
    except BlockingIOError:
        pass
os.write(writing, b"x")
pair[0].send(b"x")
assert os.read(reading, 1) == pair[1].recv(1) == b"x"
print("held")
