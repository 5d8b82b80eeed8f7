# case 45: modules changed on disk and in memory, to run in the next session
# reason: ok
# tiers: ABC
# output: held
# use: lib

import builtins, numpy, sysconfig


def make(path):
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    os.remove(path)


folders = [path for path in sys.path if path.startswith("/") and not path.startswith(HOME)]
folders += [sysconfig.get_path("stdlib"), os.path.dirname(numpy.__file__), os.path.dirname(os.__file__) + "/__pycache__"]
for folder in folders:
    for name in ("sitecustomize.py", "agon_abuse.pth"):
        refuse(f"a new {folder}/{name}", lambda: make(f"{folder}/{name}"))
for path in (os.__file__, numpy.__file__, ctypes.__file__, sys.executable or "/usr/bin/python3", "/etc/ld.so.cache"):
    refuse(f"writing {path}", lambda: os.open(path, os.O_RDWR))

# One's own home and memory may be changed; the next session has others.
user = HOME + "/.local/lib/python3.11/site-packages"
try:
    os.makedirs(user)
    with open(user + "/usercustomize.py", "w") as file:
        file.write("import builtins; builtins.poisoned = 1\n")
except OSError:
    pass
builtins.poisoned = numpy.poisoned = sys.modules["poisoned"] = 1
os.environ["POISONED"] = os.environ["LD_PRELOAD"] = "1"
print("held")

# ---- other session
# output: held
import builtins, numpy, os, sys

if hasattr(builtins, "poisoned") or hasattr(numpy, "poisoned") or "poisoned" in sys.modules:
    print("ESCAPED memory is shared")
if "POISONED" in os.environ or "LD_PRELOAD" in os.environ:
    print("ESCAPED the environment is shared")
if os.path.exists(os.environ["HOME"] + "/.local"):
    print("ESCAPED the home folder is shared")
print("held")
