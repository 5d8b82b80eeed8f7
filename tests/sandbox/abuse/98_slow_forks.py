# case 98: slow forks, of a session with many files and of a stopped one, while another session works
# reason: ok
# limits: disk=320M,wall=10
# tiers: ABC
# output: held
# use: lib

for i in range(5):
    with open(f"file-{i}", "wb") as file:
        for _ in range(59):
            file.write(os.urandom(1 << 20))
print("held")

# ---- tried fork
# neighbour: 20
print(len(os.listdir(".")))

# ---- back
# output: held
for i in range(5):
    os.unlink(f"file-{i}")
interpreter = os.getpid()
if os.fork() == 0:
    mark()
    time.sleep(0.2)
    os.kill(interpreter, signal.SIGSTOP)
    time.sleep(2.5)
    os.kill(interpreter, signal.SIGCONT)
    os._exit(0)
print("held")

# ---- tried fork
# neighbour: 20
time.sleep(0.5)
