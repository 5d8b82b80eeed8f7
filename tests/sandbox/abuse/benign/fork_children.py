# case benign: 100 forked children, each with findContours, resize and a matrix product
# reason: ok
# limits: wall=60,cpu=60
# tiers: ABC
# output: held

import cv2, hashlib, numpy as np, os

random = np.random.default_rng(0)
picture = np.zeros((256, 256), np.uint8)
for x, y in random.integers(20, 236, (30, 2)):
    cv2.circle(picture, (int(x), int(y)), 10, 255, -1)
matrix = random.integers(-9, 9, (256, 256)).astype(np.float64)  # whole numbers: the product is exact


def work():
    contours, _ = cv2.findContours(picture, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    large = cv2.resize(picture, (1024, 1024), interpolation=cv2.INTER_LINEAR)
    parts = [large, matrix @ matrix, *contours]
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).digest()


def start():
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(write, work())
        finally:
            os._exit(0)
    os.close(write)
    return pid, read


def finish(pid, read):
    with os.fdopen(read, "rb") as file:
        digest = file.read()
    assert os.waitpid(pid, 0)[1] == 0
    return digest


digests = set()
for _ in range(25):
    digests |= {finish(*child) for child in [start() for _ in range(4)]}
assert digests == {work()}, len(digests)
print("held")
