# case benign: files and folders that their owner may not read are copied into a fork, with their modes
# reason: ok
# tiers: ABC

import os


def modes():
    return sorted((name, oct(os.lstat(name).st_mode)) for name in os.listdir("."))


open("zero", "w").write("data")
os.chmod("zero", 0)
open("writable", "w").write("data")
os.chmod("writable", 0o200)
os.mkdir("closed")
open("closed/inner", "w").write("data")
os.chmod("closed", 0)
os.mkdir("unlisted")
open("unlisted/inner", "w").write("data")
os.chmod("unlisted", 0o311)
before = modes()

# ---- fork
# output: held
assert modes() == before, modes()
os.chmod("zero", 0o600)
os.chmod("closed", 0o700)
assert open("zero").read() == "data" and os.listdir("closed") == ["inner"]
print("held")

# ---- back
# output: held
assert modes() == before, modes()
print("held")
