# case 35: an orphan that keeps stdout open after the call, which has to end all the same
# reason: ok
# limits: wall=3
# tiers: ABC
# output: held
# use: lib

if os.fork() == 0:
    os.setsid()
    mark()
    time.sleep(60)
    os._exit(0)
print("held")

# ---- next call
# output: held
print("held")
