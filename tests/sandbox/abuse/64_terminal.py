# case 64: keystrokes injected into the terminal of the supervisor (CVE-2017-5226; CVE-2019-10063, with high bits)
# reason: ok
# tiers: ABC
# output: held
# use: lib

TIOCSTI, TIOCLINUX, TIOCSETD, TIOCSCTTY, TIOCCONS = 0x5412, 0x541C, 0x5423, 0x540E, 0x541D
for request in (TIOCSTI, TIOCLINUX, TIOCSETD, TIOCSCTTY, TIOCCONS):
    for fd in (0, 1, 2):
        refuse_call(f"ioctl {request:#x} of {fd}", 16, fd, request, b"x")
        refuse_call(f"ioctl {request:#x} of {fd} with high bits", 16, fd, request | 1 << 32, b"x")
for path in ("/dev/tty", "/dev/console", "/dev/tty0", "/dev/tty1", "/dev/vcs", "/dev/pts/0"):
    refuse(path, lambda: os.open(path, os.O_RDWR | os.O_NOCTTY))
for fd in (0, 1, 2):
    if os.isatty(fd):
        print("ESCAPED descriptor", fd, "is a terminal")
print("held")
