# What several cases share. The runner puts it before the first part of a file that says "# use: lib".
# Numbers of system calls are those of x86_64.
import ctypes, errno, os, re, signal, sys, time

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
HOME = os.environ["HOME"]
NAMESPACES = HOME == "/home/agent"  # tiers A and B
SECRET = "/tmp/agon-abuse-canary/secret"
GOLD = re.compile(rb"gold-answer-[0-9]{4}|AGON_ABUSE_SEC[R]ET")  # what only the host has; does not match its own text
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NAME, PR_GET_NO_NEW_PRIVS = 1, 4, 15, 39


def mark():
    """Names this process, so that the runner can look for it once the session is closed."""
    libc.prctl(PR_SET_NAME, b"agon-abuse", 0, 0, 0)


def call(number, *arguments):
    """A system call; OSError where it fails."""
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def map_singly(pages):
    """A mapping for each of so many pages, none of which is touched."""
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    area = libc.mmap(None, pages * 4096, 0, 0x4022, -1, 0)  # private, without a reserve; nothing may be read
    for page in range(0, pages, 2):
        libc.mprotect(area + page * 4096, 4096, 1)


def start_programs(processes):
    """That many children, each a copy of this process that starts one program after another, without end."""
    for _ in range(processes):
        if os.fork() == 0:
            while True:
                child = os.fork()
                if child == 0:
                    os.execv("/bin/true", ["true"])
                os.waitpid(child, 0)


def attempt(action, seconds=2):
    """Runs action in a child: "worked VALUE", "refused ERRNO", or "signal NUMBER" where the child was killed."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        try:
            text = f"worked {action()!r}"
        except OSError as error:
            text = f"refused {errno.errorcode.get(error.errno, error.errno)}"
        except BaseException as error:
            text = f"broken {type(error).__name__}: {error}"
        os.write(write, text.encode("utf-8", "backslashreplace")[:4000])
        os._exit(0)
    os.close(write)
    status = os.waitpid(pid, 0)[1]
    os.set_blocking(read, False)
    try:
        text = os.read(read, 4096).decode("utf-8", "replace")
    except BlockingIOError:
        text = ""
    os.close(read)
    if text.startswith("broken"):
        raise RuntimeError(text)  # a fault of the script
    return text or f"signal {os.WTERMSIG(status)}"


def refuse(what, action):
    """What must end in an OSError or in SIGSYS."""
    end = attempt(action)
    if not end.startswith("refused") and end != "signal 31":
        print("ESCAPED", what, end)


def refuse_call(what, number, *arguments):
    """What must not even reach the kernel's own checks: these would give another errno."""
    end = attempt(lambda: call(number, *arguments))
    if end not in ("refused EPERM", "refused ENOSYS", "refused EACCES", "signal 31"):
        print("ESCAPED", what, end)


def listed(folder):
    """The names in a folder; none where it may not be read."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def read_some(path, most=1 << 20):
    """The head of a file, or nothing."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(fd, most)
    except OSError:
        return b""
    finally:
        os.close(fd)
