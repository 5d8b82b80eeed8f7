# case benign: three programs at a time in their own kernel sessions, as subprocess starts them; further ones wait
# reason: ok
# tiers: ABC
# output: ok

import os
import subprocess

for _ in range(5):
    programs = [subprocess.Popen(["sleep", "0.05"], start_new_session=True) for _ in range(3)]
    assert [os.getsid(program.pid) for program in programs] == [program.pid for program in programs]
    assert [program.wait() for program in programs] == [0] * 3
many = [subprocess.Popen(["sleep", "0.01"], start_new_session=True) for _ in range(10)]
assert [program.wait() for program in many] == [0] * 10
pid = os.fork()
if pid == 0:
    os.setsid()
    while True:
        pass
os.killpg(os.getpgid(pid), 0)
while os.getpgid(pid) != pid:
    pass
os.killpg(pid, 9)
assert os.waitpid(pid, 0)[1] == 9
print("ok")
