# case benign: exit codes of programs
# reason: ok
# limits: wall=10,cpu=10
# tiers: ABC
# output: held

import os, signal, subprocess


def code(script):
    return subprocess.run(["sh", "-c", script], stderr=subprocess.DEVNULL).returncode


assert [code(f"exit {number}") for number in (0, 1, 3, 255)] == [0, 1, 3, 255]
assert code("no-such-program-at-all") == 127
assert code("touch plain; ./plain") == 126
for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGPIPE):
    assert code(f"kill -{int(number)} $$") == -number
    assert code(f"sh -c 'kill -{int(number)} $$'; exit $?") == 128 + number, number  # as a shell tells it
pid = os.fork()
if pid == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
piped = subprocess.run("yes | head -n 1", shell=True, capture_output=True, text=True)
assert piped.stdout == "y\n"
print("held")

# ---- next call
# reason: exception
raise SystemExit(3)

# ---- next call
# output: held
print("held")
