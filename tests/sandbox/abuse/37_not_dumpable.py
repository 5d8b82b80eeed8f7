# case 37: processes that hide from inspection and survive their parent's end: the memory limit still counts them
# reason: memory_limit
# limits: memory=256M
# tiers: ABC
# use: lib

def hide():
    mark()
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0)


for _ in range(2):
    if os.fork() == 0:
        try:
            hide()
            pages = b"\1" * (150 << 20)
            time.sleep(60)
        finally:
            os._exit(1)
hide()
while True:
    time.sleep(60)

# ---- other session
# output: held
print("held")
