# case 39: pictures that are links to files of the host, when the host collects them
# reason: ok
# tiers: ABC
# output: held
# artifacts: good.png,out.png,passwd.png,chain.png,folder/secret,up/passwd -> 1
# use: lib

import cv2, numpy as np

cv2.imwrite("good.png", np.zeros((8, 8, 3), np.uint8))
os.symlink(SECRET, "out.png")
os.symlink("/etc/passwd", "passwd.png")
os.symlink("out.png", "chain.png")
os.symlink("/tmp/agon-abuse-canary", "folder")
os.symlink("../../../../../../../../etc", "up")
for name in ("out.png", "chain.png", "folder/secret"):
    if GOLD.search(read_some(name)):
        print("ESCAPED the secret is readable as", name)
print("held")
