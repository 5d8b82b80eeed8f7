# case 101: random numbers repeat from launch to launch, and differ between a session and its forks
# reason: ok
# tiers: ABC

import random, numpy

print(random.random(), numpy.random.rand(), hash("a word"), list({"one", "two", "three", "four", "five"}))

# ---- other launcher
# same_as: 1
import random, numpy

print(random.random(), numpy.random.rand(), hash("a word"), list({"one", "two", "three", "four", "five"}))

# ---- fork
# unlike: 1
print(random.random(), numpy.random.rand())

# ---- back
# unlike: 3
print(random.random(), numpy.random.rand())

# ---- fork
# unlike: 3
print(random.random(), numpy.random.rand())

# ---- back
import os

for _ in range(2):  # children that the script itself forks repeat as well
    if os.fork() == 0:
        print(random.random())
        os._exit(0)
    os.wait()
