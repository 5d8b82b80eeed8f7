# case 135: a folder of the session put in place of its fork's, which the fork takes along when it is closed
# reason: ok
# limits: disk=64M,file=64M
# on_disk: 130M
# tiers: C
# use: lib

import shutil

FORKS = os.path.dirname(HOME) + "/forks"


def exchange():
    for fork in listed(FORKS):
        os.rename(f"{FORKS}/{fork}", f"{FORKS}/old")
        os.mkdir(f"{FORKS}/{fork}")
        with open(f"{FORKS}/{fork}/data", "wb") as file:
            for _ in range(40):
                file.write(b"a" * (1 << 20))
        shutil.rmtree(f"{FORKS}/old", ignore_errors=True)

# ---- fork
# reason: ok,exception
pass

# ---- back
# reason: ok,disk_limit
exchange()

# ---- close

# ---- fork
# reason: ok,exception
pass

# ---- back
# reason: ok,disk_limit
exchange()

# ---- close

# ---- fork
# reason: ok,exception
pass

# ---- back
# reason: ok,disk_limit
exchange()

# ---- close

# ---- fork
# reason: ok,exception
pass

# ---- back
# reason: ok,disk_limit
exchange()

# ---- close
