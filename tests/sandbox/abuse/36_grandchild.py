# case 36: a grandchild that only SIGKILL ends, and a main program that ignores the interrupt
# reason: wall_timeout
# limits: wall=1
# tiers: ABC
# use: lib

# The runner looks for processes with the name agon-abuse once the session is closed: there must be none.

pid = os.fork()
if pid == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    mark()
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(0.05)
os.waitpid(pid, 0)
while True:
    try:
        while True:
            time.sleep(60)
    except KeyboardInterrupt:
        pass

# ---- other session
# output: held
print("held")
