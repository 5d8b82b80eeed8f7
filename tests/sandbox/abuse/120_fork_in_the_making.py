# case 120: a fork that takes memory before it reports that it is ready
# reason: ok
# limits: memory=128M,wall=30
# tiers: ABC
# use: lib

done = []


class Hook(dict):  # what the interpreter calls before it is ready
    def __setitem__(self, key, value):
        if not done:
            done.append(1)
            for _ in range(20):
                if os.fork() == 0:
                    mark()
                    data = b"\1" * (90 << 20)
                    time.sleep(6)
                    os._exit(0)
            time.sleep(5)
        dict.__setitem__(self, key, value)


os.environ = Hook(os.environ)

# ---- refused fork
# text: of memory
