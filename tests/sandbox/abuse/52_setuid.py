# case 52: setuid programs, and attempts to become another user
# reason: ok
# tiers: ABC
# output: held
# use: lib

import shutil, subprocess

if libc.prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1:
    print("ESCAPED no_new_privs is not set")


def check_capabilities():
    sets = ctypes.create_string_buffer(24)
    call(125, ctypes.create_string_buffer((0x20080522).to_bytes(4, "little") + bytes(4)), sets)
    if any(sets.raw):
        print("ESCAPED there are capabilities:", sets.raw.hex())


check_capabilities()
for path in ("/", "/usr", HOME) if NAMESPACES else ():
    if not os.statvfs(path).f_flag & os.ST_NOSUID:
        print("ESCAPED", path, "honours setuid")

refuse("setuid", lambda: os.setuid(0))
refuse("setresuid", lambda: os.setresuid(-1, 0, -1))
refuse("setgid", lambda: os.setgid(0))
refuse("setgroups", lambda: os.setgroups([0]))
refuse_call("capset", 126, (0x20080522).to_bytes(4, "little") + bytes(4), b"\xff" * 24)

shutil.copy("/usr/bin/id", "id")
os.chmod("id", 0o6755)
try:
    user = subprocess.run(["./id", "-u"], capture_output=True, text=True).stdout.strip()
except OSError:
    user = str(os.getuid())
if user != str(os.getuid()) or user == "0":
    print("ESCAPED a setuid program runs as", user)
print("held")

# ---- next call
# What a new session calls while it still has the capabilities of its own namespace.
import struct

struct.pack = lambda *arguments: bytes(8)
ctypes.get_errno = lambda: 0

# ---- fork
# output: held
check_capabilities()
print("held")
