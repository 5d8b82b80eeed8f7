# case 125: a chain of processes that outlives its session, whose namespaces a fork keeps
# reason: ok
# limits: cpu=2
# tiers: ABC
# use: lib

import mmap
# loop: fork; parent exits; child spins a little and goes on
asm = (b"\xb8\x39\x00\x00\x00\x0f\x05"      # fork
       b"\x85\xc0\x74\x09"                  # child: +9
       b"\xb8\xe7\x00\x00\x00\x31\xff\x0f\x05"  # exit_group(0)
       b"\xb9\x00\x00\x10\x00\xff\xc9\x75\xfc"  # spin
       b"\xeb\xe1")
m = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
m.write(asm)
f = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(m)))

# ---- fork
pass

# ---- back
# reason: ok,exception,protocol_error
for _ in range(3):
    if os.fork() == 0:
        mark()
        f()
time.sleep(0.05)
os._exit(0)

# ---- rest
