# case 02: daemons started by a double fork, each in its own session
# reason: process_limit
# tiers: ABC
# use: lib

def daemon():
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        first = os.fork() != 0
    except OSError:
        first = False  # no room for the second one: this one stays
    if first:
        os._exit(0)
    mark()
    while True:
        time.sleep(60)


while True:
    if os.fork() == 0:
        daemon()
    time.sleep(0.002)
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass

# ---- other session
# output: held
import subprocess

assert subprocess.run(["true"]).returncode == 0
print("held")
