# case 68: places that two sessions could share: /dev/shm, /tmp, the home folder, IPC of System V and POSIX
# reason: ok
# tiers: ABC
# output: held
# use: lib

for folder in ("/dev/shm", "/tmp", "/var/tmp", "/run", "/dev/mqueue", HOME, HOME + "/tmp", "."):
    try:
        with open(folder + "/agon-abuse-68", "w") as file:
            file.write("left by a session")
    except OSError:
        pass
key, create = 0x61676F6E, 0o1666
refuse_call("shmget", 29, key, 4096, create)
refuse_call("semget", 64, key, 1, create)
refuse_call("msgget", 68, key, create)
refuse_call("mq_open", 240, b"agon-abuse-68", 0o102, 0o666, 0)
print("held")

# ---- other session
# output: held
import ctypes, os

home = os.environ["HOME"]
for folder in ("/dev/shm", "/tmp", "/var/tmp", "/run", "/dev/mqueue", home, home + "/tmp", "."):
    if os.path.exists(folder + "/agon-abuse-68"):
        print("ESCAPED", folder, "is shared")
libc = ctypes.CDLL(None)
if libc.shmget(0x61676F6E, 4096, 0) != -1 or libc.semget(0x61676F6E, 1, 0) != -1 or libc.msgget(0x61676F6E, 0) != -1:
    print("ESCAPED IPC is shared")
print("held")
