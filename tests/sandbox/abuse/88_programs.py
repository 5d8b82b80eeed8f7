# case 88: programs that share nothing with the interpreter, each below the limit
# reason: memory_limit
# limits: memory=64M
# in_memory: 400M
# tiers: ABC
# use: lib

# Named as by mark(): the runner looks for what is left of them.
code = "import time; data = b'1' * (40 << 20); time.sleep(60); '''agon-abuse'''"
for _ in range(25):
    if os.fork() == 0:
        os.execv("/usr/bin/python3", ["agon-abuse", "-I", "-S", "-c", code])
time.sleep(60)
print("ESCAPED 1 GB")

# ---- other session
# output: held
print("held")
