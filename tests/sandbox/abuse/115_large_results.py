# case 115: 128 MB of pictures come out, within all limits, while another session works
# reason: ok
# limits: disk=200M,wall=10
# artifacts: p0.png, p1.png, p2.png, p3.png, p4.png, p5.png, p6.png, p7.png, p8.png, p9.png, p10.png, p11.png, p12.png, p13.png, p14.png, p15.png -> 16
# tiers: ABC
# neighbour: 20
# times: 4

import os

for i in range(16):
    with open(f"p{i}.png", "wb") as file:
        file.write(os.urandom(1 << 20) * 8)
