# case 43: pipes, folders, devices and endless files in place of a picture: the host must not hang
# reason: ok
# limits: wall=3
# tiers: ABC
# output: held
# artifacts: good.png,pipe.png,pipe-link.png,folder.png,zero.png,memory.png,stdin.png,loop.png,gone.png -> 1

import cv2, numpy as np, os

cv2.imwrite("good.png", np.zeros((8, 8, 3), np.uint8))
os.mkfifo("pipe.png")
os.symlink("pipe.png", "pipe-link.png")
os.mkdir("folder.png")
os.symlink("/dev/zero", "zero.png")
os.symlink("/proc/self/mem", "memory.png")
os.symlink("/dev/stdin", "stdin.png")
os.symlink("loop.png", "loop.png")
print("held")
