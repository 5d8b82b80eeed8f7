# case 42: picture names with .. and NUL bytes, absolute names and empty names
# reason: ok
# tiers: ABC
# output: held
# artifacts: good.png,../x,./../tmp/x,a/../../x,../../etc/passwd,/etc/passwd,/home/agent/x,..,.,a,good.png\0.txt -> 1

# \0 stands for a NUL byte. Where the host cut the name there, it would take good.png a second time.

import cv2, numpy as np, os

picture = np.zeros((8, 8, 3), np.uint8)
cv2.imwrite("good.png", picture)
os.mkdir("a")
data = cv2.imencode(".png", picture)[1].tobytes()
for name in (os.environ["HOME"] + "/x", os.environ["HOME"] + "/tmp/x"):
    try:
        with open(name, "wb") as file:
            file.write(data)
    except OSError:
        pass
print("held")
