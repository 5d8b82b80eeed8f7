# case benign: a picture of 10 MB, written, read and collected
# reason: ok
# limits: wall=20,cpu=20
# tiers: ABC
# output: held
# artifacts: big.png -> 1

import cv2, numpy as np, os

picture = np.random.default_rng(0).integers(0, 256, (1900, 1900, 3), np.uint8)  # noise, which does not shrink
assert cv2.imwrite("big.png", picture)
assert os.path.getsize("big.png") > 10_000_000
assert (cv2.imread("big.png") == picture).all()
print("held")
