# case 16: one line of 100 MB without a newline, then a normal one
# reason: ok
# limits: wall=20,cpu=20
# tiers: ABC
# output: held
# dropped: yes

import os

line = memoryview(b"x" * (100 << 20))
sent = 0
while sent < len(line):
    sent += os.write(1, line[sent:])
print("\nheld")
