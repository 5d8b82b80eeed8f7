# case 127: every process stopped, the interpreter too
# reason: wall_timeout
# limits: wall=1
# tiers: ABC
# use: lib

mark()
for _ in range(5):
    if os.fork() == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
os.kill(os.getpid(), signal.SIGSTOP)

# ---- next call
# reason: wall_timeout
# text: the session had ended
pass
