# case 134: hundreds of thousands of epoll watches, which the kernel counts per user and keeps without a descriptor
# reason: ok
# limits: wall=60,cpu=60
# tiers: ABC
# output: held
# use: lib

import select

ADD = 1
event = ctypes.create_string_buffer(b"\1\0\0\0" + bytes(8))
epolls = [select.epoll() for _ in range(20)]
files = [os.eventfd(0) for _ in range(20)]
added = 0
try:
    for place in range(100, 450):
        for file in files:
            os.dup2(file, place)
            for epoll in epolls:
                call(233, epoll.fileno(), ADD, place, event)
                added += 1
        os.close(place)
except OSError as error:
    assert error.errno == errno.ENOSPC, error
if added > 70000:
    print("ESCAPED", added, "watches")
print("held")

# ---- other session
# output: held
import asyncio, select, socket

left, right = socket.socketpair()
epoll = select.epoll()
epoll.register(right, select.EPOLLIN)
left.send(b"x")
assert epoll.poll(1) == [(right.fileno(), select.EPOLLIN)]
asyncio.run(asyncio.sleep(0.01))
print("held")
