# case benign: programs and processes started while the session holds much memory
# reason: ok
# limits: memory=300M,cpu=20,wall=20
# tiers: ABC
# output: held

import subprocess, os
data = b"1" * (180 << 20)
for _ in range(30): subprocess.run(["/usr/bin/true"], check=True)
for _ in range(20):
    if os.fork() == 0: os._exit(len(data) and 0)
    os.wait()
import multiprocessing
ps = [multiprocessing.Process(target=sum, args=(range(100000),)) for _ in range(8)]
[p.start() for p in ps]; [p.join() for p in ps]
print("held")
