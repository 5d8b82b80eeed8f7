# case 61: system calls of 32-bit programs and of x32, which have other numbers
# reason: ok
# tiers: ABC
# output: held
# use: lib

import mmap


def machine(code):
    """What the code leaves in eax."""
    page = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()


INT80, SYSCALL, RETURN = b"\xcd\x80", b"\x0f\x05", b"\xc3"
eax = lambda number: b"\xb8" + number.to_bytes(4, "little")
X32 = 0x40000000
codes = {"getpid of 32 bits": eax(20) + INT80 + RETURN, "getuid of 32 bits": eax(24) + INT80 + RETURN,
         "getpid of x32": eax(X32 | 39) + SYSCALL + RETURN, "getuid of x32": eax(X32 | 102) + SYSCALL + RETURN}
for name, code in codes.items():
    end = attempt(lambda: machine(code))
    # Killed by the filter (SIGSYS), unknown to the kernel (SIGSEGV), or an errno.
    if end not in ("signal 31", "signal 11") and not end.startswith("worked -"):
        print("ESCAPED", name, end)
if not re.fullmatch(r"worked \d+", attempt(lambda: machine(eax(39) + SYSCALL + RETURN))):
    raise RuntimeError("the machine code does not run as it should")
print("held")
