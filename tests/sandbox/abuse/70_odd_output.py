# case 70: bytes that are not text, text that is not JSON, terminal commands, and errors with such texts
# reason: ok
# limits: wall=3
# tiers: ABC
# output: held

import os

odd = [b"\xff\xfe\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80", b"\xe2\x82", b"\0\0", b"\x1b[2J\x1b]0;title\x07", "\u202eevil\u2066".encode(),
       b'{"reason": NaN, "x": Infinity}', b"[" * 100_000, b'{"a":' * 10_000, b'"\\ud800"', b"\r\n\r", b"\xf0\x9f\x98" * 1000]
for data in odd:
    os.write(1, data + b"\n")
    os.write(2, data + b"\n")
try:
    print("\ud800")
except UnicodeEncodeError:
    pass
print("held")

# ---- next call
# reason: exception
raise ValueError("\ud800\0\x1b[2J\u202e" * 200_000)

# ---- next call
# reason: exception
class Broken(Exception):
    def __str__(self):
        raise self

    __repr__ = __str__


raise Broken

# ---- next call
# reason: exception
raise type("\ud800", (Exception,), {})("a type without a printable name")

# ---- next call
# output: held
print("held")

# ---- next call
# reason: wall_timeout,exception
class Endless(Exception):
    def __str__(self):
        while True:
            pass


raise Endless
