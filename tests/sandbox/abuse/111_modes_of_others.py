# case 111: modes, owners and times of the host's files, which belong to the user that runs the sandbox
# reason: ok
# tiers: ABC
# output: held
# use: lib

file, folder = "@HOST@/file", "@HOST@/numbered/1"
for path in (file, folder):
    for what, change in (
        ("chmod", lambda: os.chmod(path, 0o700)),
        ("chmod in a folder", lambda: call(268, os.open(os.path.dirname(path), os.O_PATH), os.path.basename(path).encode(), 0o700)),
        ("chmod by a link", lambda: (os.symlink(path, "link"), os.chmod("link", 0o700))),
        ("chmod from its folder", lambda: (os.chdir(os.path.dirname(path)), os.chmod(os.path.basename(path), 0o700))),
        ("chmod of what is open", lambda: os.fchmod(os.open(path, os.O_PATH), 0o700)),
        ("chmod by its descriptor's name", lambda: os.chmod(f"/proc/self/fd/{os.open(path, os.O_PATH)}", 0o700)),
        ("fchmodat2", lambda: call(452, -100, path.encode(), 0o700, 0)),
        ("chown", lambda: os.chown(path, os.getuid(), os.getgid())),
        ("lchown", lambda: os.lchown(path, os.getuid(), os.getgid())),
        ("utime", lambda: os.utime(path, (1, 1))),
        ("utimes", lambda: call(235, path.encode(), 0)),
        ("utime, the old one", lambda: call(132, path.encode(), 0)),
        ("futimesat", lambda: call(261, -100, path.encode(), 0)),
        ("setxattr", lambda: os.setxattr(path, "user.owned", b"1")),
        ("truncate", lambda: os.truncate(path, 1)),
        ("remove", lambda: os.remove(path)),
        ("link", lambda: os.link(path, "hard")),
    ):
        refuse(f"{what} of {path}", change)
os.mkdir("own")
open("own/file", "w").close()
os.chmod("own/file", 0o640)
os.utime("own/file", (5, 5))
assert os.stat("own/file").st_mode & 0o777 == 0o640 and os.stat("own/file").st_mtime == 5
print("held")
