# case 22: loops in C code that no KeyboardInterrupt reaches
# reason: wall_timeout
# limits: wall=1,cpu=20
# tiers: ABC

import itertools

sum(itertools.repeat(0))

# ---- other session
# reason: wall_timeout
import cv2, numpy as np

cv2.bilateralFilter(np.zeros((4000, 4000), np.uint8), 101, 50, 50)
