# case 141: modes changed through 38 symbolic links of 4,000 bytes each, by 28 processes
# reason: ok
# limits: cpu=20
# tiers: ABC
# use: lib
# neighbour: 20

os.mkdir("a")
open("file", "w").close()
name = "file"
for number in range(38):
    os.symlink("a/../" * 800 + name, f"link{number}")
    name = f"link{number}"
end = time.monotonic() + 2.5
for _ in range(28):
    if os.fork() == 0:
        mark()
        while time.monotonic() < end:
            os.chmod(name, 0o644)
        os._exit(0)
for _ in range(28):
    os.wait()
