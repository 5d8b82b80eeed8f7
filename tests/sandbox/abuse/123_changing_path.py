# case 123: modes and times by a path that is exchanged for a link to the host's meanwhile
# reason: ok
# tiers: ABC
# output: held
# use: lib

os.mkdir("d"); open("d/file", "w").close()
os.symlink("@HOST@", "l")
if os.fork() == 0:
    mark()
    e = time.monotonic() + 2
    while time.monotonic() < e: libc.renameat2(-100, b"d", -100, b"l", 2)
    os._exit(0)

e = time.monotonic() + 2
n = 0
while time.monotonic() < e:
    libc.chmod(b"d/file", 0o711); libc.utimensat(-100, b"d/file", None, 0); n += 1
print(n, "held")
