# The interpreter's side of agon-sandbox: imports what sessions start with, then serves its channel. A fork of it is a
# session; a fork of a session is another one. It shares a process with hostile code: what it says about a call is
# that code's word, and nothing else depends on it (sandbox/launcher/session/guest_protocol.h has the messages).
import _thread, array, ast, atexit, builtins, ctypes, errno, gc, io, linecache, os, random, signal, socket, struct, sys, time, tokenize
import traceback, types

sys.path[:] = [folder for folder in sys.path if folder]
CHANNEL, LIBRARY, GATHERED = 3, 5, 6
OK, EXCEPTION, MEMORY, PROCESS, DISK, INTERRUPTED = range(6)


def preload(modules):
    for name in modules:
        try:
            module = __import__(name)
        except ImportError as error:
            sys.exit(f"{error}. Install it for {sys.executable}, or leave {name} out of the sandbox's modules")
        if name == "cv2":
            module.setNumThreads(0)  # a thread of its own would not outlive a fork


def mappings():
    with open("/proc/self/maps") as file:
        for line in file.read().splitlines():
            fields = line.split(None, 5)
            begin, end = (int(field, 16) for field in fields[0].split("-"))
            yield begin, end, fields[1], fields[5] if len(fields) > 5 else ""


OWN_FILES = {name for _, _, _, name in mappings()}


def make_forks_cheap(guest):
    # A fork costs as much as there are mappings and pages to copy. cv2 brings some 400 libraries of five mappings each: the
    # read-only ones of a library become one, and so do its writable ones; small libraries become one mapping with their
    # neighbours. Small pages become large ones. Who can run code here needs no writable page of a library to do so.
    libc = ctypes.PyDLL(None)
    libc.mprotect.argtypes = libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    PROT_READ, PROT_WRITE, PROT_EXEC, MADV_COLLAPSE, LARGE = 1, 2, 4, 25, 2 << 20

    before = list(mappings())
    for (begin, end, access, name), (after, _, access_after, name_after) in zip(before, before[1:]):
        if access == "r--p" and name.startswith("/"):
            belongs_to_data = after == end and name_after == name and access_after.startswith("rw")
            libc.mprotect(begin, end - begin, PROT_READ | (PROT_WRITE if belongs_to_data else PROT_EXEC))
    places = runs_of_small_libraries()
    guest.agon_gather(GATHERED, (ctypes.c_ulong * len(places))(*places), len(places) // 2)
    os.close(GATHERED)
    for begin, end, access, name in list(mappings()):
        begin, end = -(-begin // LARGE) * LARGE, end // LARGE * LARGE
        if access == "rw-p" and name in ("", "[heap]") and end > begin:
            libc.madvise(begin, end - begin, MADV_COLLAPSE)


def runs_of_small_libraries():
    # Where small libraries that the modules brought lie side by side: begins and ends, in turns.
    SMALL = 1 << 20
    parts, owner, last = {}, "", 0  # by library, with the memory behind it that begins as zeros
    for begin, end, access, name in mappings():
        if name or begin != last or access != "rw-p":
            owner = name
        if owner.startswith("/") and owner not in OWN_FILES and access.endswith("p") and access != "---p":
            parts.setdefault(owner, []).append((begin, end))
        last = end
    small = [of_one for of_one in parts.values() if sum(end - begin for begin, end in of_one) <= SMALL]
    places = []
    for begin, end in sorted(sum(small, [])):
        if places and places[-1] == begin:
            places[-1] = end
        else:
            places += [begin, end]
    return places


def serve_sandbox(home, readable):
    # home: the folder of this process's files; that of each session has the same name where there are namespaces. readable:
    # where there are none, the folders besides its home that a session may read (Landlock); else empty.
    libc = ctypes.PyDLL(None, use_errno=True)
    # What guest code may replace is kept here, out of its reach.
    posix = types.SimpleNamespace(**vars(os))
    pack, unpack, socket_of, exit_now, write = struct.pack, struct.unpack, socket.socket, os._exit, os.write
    fork, waitpid, dup2, close, chdir, setsid, getpid = os.fork, os.waitpid, os.dup2, os.close, os.chdir, os.setsid, os.getpid
    told_exception, compile_code, exec_code, eval_code, fds_of = traceback.TracebackException, compile, exec, eval, array.array
    recursion_limit, set_recursion_limit = sys.getrecursionlimit, sys.setrecursionlimit
    set_trace, set_profile = sys.settrace, sys.setprofile
    run_exit_functions, detect_encoding, bytes_file, text_file = atexit._run_exitfuncs, tokenize.detect_encoding, io.BytesIO, io.TextIOWrapper
    set_mask, SIG_BLOCK, SIG_SETMASK, ALL_SIGNALS = signal.pthread_sigmask, signal.SIG_BLOCK, signal.SIG_SETMASK, signal.valid_signals()
    SCM_RIGHTS, SOL_SOCKET, CMSG_CLOEXEC = socket.SCM_RIGHTS, socket.SOL_SOCKET, socket.MSG_CMSG_CLOEXEC
    PR_GET_TID_ADDRESS, ASKING = 40, struct.pack("<I", 1) + b"i"
    guest = ctypes.PyDLL(f"/proc/self/fd/{LIBRARY}")
    os.close(LIBRARY)
    tid_address = ctypes.c_void_p()
    libc.prctl(PR_GET_TID_ADDRESS, ctypes.byref(tid_address), 0, 0, 0)
    before_fork, after_fork_child = ctypes.pythonapi.PyOS_BeforeFork, ctypes.pythonapi.PyOS_AfterFork_Child
    after_fork_parent = ctypes.pythonapi.PyOS_AfterFork_Parent
    scope = types.ModuleType("__main__")
    scope.__builtins__, scope.__annotations__ = builtins, {}
    state = {"channel": socket_of(fileno=CHANNEL), "home": home, "template": True, "names": {}, "seed": 0, "forks": 0, "forks_session": False, "mask": set()}

    def receive(count, fds=None):
        held = b""
        while len(held) < count:
            try:
                data, ancillary, _, _ = state["channel"].recvmsg(count - len(held), 256, CMSG_CLOEXEC)
            except BaseException as error:
                if isinstance(error, OSError) and error.__traceback__.tb_next is None:
                    raise
                continue  # a handler raised it: of a signal that a thread of the script got
            if not data:
                exit_now(0)
            held += data
            for level, kind, payload in ancillary:
                if level == SOL_SOCKET and kind == SCM_RIGHTS and fds is not None:
                    got = fds_of("i")
                    got.frombytes(payload[: len(payload) - len(payload) % 4])
                    fds.extend(got)
        return held

    def reply(kind, body=b""):
        state["channel"].sendall(pack("<I", 1 + len(body)) + kind + body)

    # EAGAIN is what a full pipe says too.
    def forks_in(error):
        trace = error.__traceback__
        while trace.tb_next is not None:
            trace = trace.tb_next
        names = trace.tb_frame.f_code.co_names
        return any("fork" in name or "spawn" in name for name in names)

    def outcome_of(error):
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
            return MEMORY
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
            return DISK
        if isinstance(error, BlockingIOError) and forks_in(error) or isinstance(error, RuntimeError) and "start new thread" in str(error):
            return PROCESS
        if isinstance(error, KeyboardInterrupt):
            return INTERRUPTED
        return EXCEPTION

    def print_error(error, name):
        # Frames of the harness do not help the author of the code.
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != name:
            trace = trace.tb_next
        told = told_exception(type(error), error, trace or None, compact=True)
        say("".join(told.format()))
        # Its type and message, between the place of a wrong syntax and what notes add.
        lines = list(told.format_exception_only())
        return next((line for line in lines if not line.startswith(" ")), lines[-1]).strip()

    def say(text):
        try:
            write(2, text.encode("utf-8", "backslashreplace"))
        except OSError:
            pass

    def leaving(error):
        # What SystemExit means to an interpreter: whether it is one, the last line of the call, the code of the process.
        code = error.code
        if code is None:
            return OK, "", 0
        if isinstance(code, int):
            code = int(code) if -(1 << 63) <= code < 1 << 63 else -1
            return EXCEPTION if code else OK, f"SystemExit: {code}" if code else "", code & 255
        text = str(code)
        say(text + "\n")
        return EXCEPTION, "SystemExit: " + text, 1

    def report(error, name):
        # The outcome, the last line, and the code of a process that ends by it.
        try:
            if isinstance(error, SystemExit):
                return leaving(error)
            return outcome_of(error), print_error(error, name), 1
        except BaseException as second:
            text = type(error).__name__ + " (its text could not be made: " + type(second).__name__ + ")"
            return EXCEPTION, text, 1

    def hold_signals():
        # From a script's end to the next one's begin: what its handlers raise would be taken for the harness's own.
        before = None
        while True:
            try:
                before = before or [set_mask(SIG_BLOCK, ())]
                set_mask(SIG_BLOCK, ALL_SIGNALS)
                break
            except BaseException:
                pass
        (state["mask"],) = before

    def let_signals():
        # Handlers of signals that came in between run here, and what they raise is nobody's.
        for _ in range(64):
            try:
                set_mask(SIG_SETMASK, state["mask"])
                return
            except BaseException:
                pass

    def flush():
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            try:
                stream.flush()
            except BaseException:
                pass

    def lines_of(code):
        if code.startswith(b"\xef\xbb\xbf") or b"coding" in code[:200]:
            try:
                return text_file(bytes_file(code), detect_encoding(bytes_file(code).readline)[0], "replace").readlines()
            except (SyntaxError, LookupError):
                pass
        return text_file(bytes_file(code), "utf-8", "replace").readlines()

    def name_for(name, code):
        # Tracebacks show the lines of the script that they belong to: another script of the same name gets a number.
        scripts = state["names"].setdefault(name, [])
        if code not in scripts:
            scripts.append(code)
        number = scripts.index(code) + 1
        return name if number == 1 else f"{name} ({number})"

    def execute(code, name, shows_bools):
        # As an interpreter does, which prints the value of an expression: here of the last one.
        lines = lines_of(code)
        linecache.cache[name] = (len(code), None, lines, name)
        try:
            body, end, kind = compiled(code, name, shows_bools)
        except SyntaxError as error:
            # The compiler takes its line from a file of that name, if there is one.
            if error.filename == name and error.lineno and error.lineno <= len(lines):
                error.text = lines[error.lineno - 1]
            raise
        try:
            exec_code(body, scope.__dict__)
            if kind == "single":
                exec_code(end, scope.__dict__)
            elif kind == "eval":
                value = eval_code(end, scope.__dict__)
                if not isinstance(value, bool):
                    sys.displayhook(value)
        finally:
            set_trace(None)
            set_profile(None)

    def compiled(code, name, shows_bools):
        # The script's body, and the code of a last expression with its kind.
        tree = parsed(code, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        kind = "" if last is None else "single" if shows_bools else "eval"
        limit = recursion_limit()
        set_recursion_limit(min(3 * limit, 1 << 30))  # a tree counts three times what the parser counts
        try:
            body = compile_code(tree, name, "exec", 0, True)
            if kind == "":
                return body, None, kind
            end = ast.Interactive([last]) if shows_bools else ast.Expression(last.value)
            return body, compile_code(end, name, kind, 0, True), kind
        finally:
            set_recursion_limit(limit)

    def parsed(code, name):
        # The parser's stack has its own bound: where there is room for the tree, it was that.
        try:
            return compile_code(code, name, "exec", ast.PyCF_ONLY_AST, True)
        except MemoryError:
            pass
        bytearray(200 * len(code))
        raise SyntaxError("nested too deep for Python's parser")

    def leave(code):
        # A child that the script forked has come to the script's end.
        try:
            run_exit_functions()
        finally:
            flush()
            exit_now(code)

    def run(body, shows_bools):
        (length,) = unpack("<I", body[:4])
        code, own = body[4 + length :], getpid()
        name = name_for(body[4 : 4 + length].decode("utf-8", "backslashreplace"), code)
        outcome, text, left = OK, "", 0
        let_signals()
        try:
            execute(code, name, shows_bools)
        except BaseException as error:
            outcome, text, left = report(error, name)
        if getpid() != own:
            leave(left)
        flush()
        hold_signals()
        # The wall limit of the next script comes as this one, whatever this script made of it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        reply(b"d", bytes([outcome]) + text.encode("utf-8", "backslashreplace")[:4096])

    def seed_streams(seed):
        # The generators that Python and numpy draw from by default; of numpy, where the session has imported it.
        state["seed"], state["forks"] = seed, 0
        random.seed(seed)
        numbers = getattr(sys.modules.get("numpy"), "random", None)
        if numbers is not None:
            numbers.seed(seed & 0xFFFFFFFF)

    def seed_child():
        # random draws another stream in a child that a script forked, and the same one each time. A session gets a seed of
        # its own.
        if not state["forks_session"]:
            random.seed(f"{state['seed']} {state['forks']}")

    def count_fork():
        if not state["forks_session"]:
            state["forks"] += 1

    def confine(home):
        folders = (ctypes.c_char_p * (len(readable) + 1))(*[folder.encode() for folder in readable], None)
        forks = os.path.dirname(home) + "/forks"  # next to it (home_folder.h)
        if guest.agon_confine(home.encode(), forks.encode(), folders) != 0:
            raise OSError("Landlock refused: sessions can be forked some ten times in a row")

    def become_interpreter(home):
        signal.signal(signal.SIGINT, signal.default_int_handler)
        setsid()
        if readable:
            confine(home)
        before, state["home"] = state["home"], home
        if state["template"]:
            state["template"] = False
            sys.path.insert(0, "")
            chdir(home + "/workspace")
        else:
            move_files(before, home)
            part_pipes()
        os.environ["HOME"], os.environ["TMPDIR"] = home, home + "/tmp"
        reply(b"h")

    def move_files(before, home):
        # The working folder and the files that were open: the same places in the copy.
        try:
            chdir(state["here"].replace(before, home, 1))
        except OSError:
            chdir(home + "/workspace")
        for fd in open_files():
            try:
                path = posix.readlink(f"/proc/self/fd/{fd}")
                if fd <= CHANNEL or not path.startswith(before + "/"):
                    continue
                flags = libc.fcntl(fd, 3, 0)  # F_GETFL
                place = None if posix.path.isdir(path) else posix.lseek(fd, 0, posix.SEEK_CUR)
                fresh = posix.open(path.replace(before, home, 1), flags & ~(posix.O_CREAT | posix.O_EXCL | posix.O_TRUNC))
                if place is not None:
                    posix.lseek(fresh, place, posix.SEEK_SET)
                dup2(fresh, fd, posix.get_inheritable(fd))
                close(fresh)
            except OSError:
                pass  # deleted, or of a kind that cannot be opened again: stays shared

    def part_pipes():
        # What was made before the fork would join the two: a pipe whose both ends are here, an epoll and an eventfd are made
        # again; other sockets, pipes and handles come to an end.
        ends = {}
        for fd in open_files():
            try:
                kind = posix.readlink(f"/proc/self/fd/{fd}")
                if fd > CHANNEL and kind.startswith(("pipe:", "socket:", "anon_inode:")):
                    key = kind if kind.startswith("pipe:") else (kind, fd)
                    ends.setdefault(key, []).append((fd, libc.fcntl(fd, 3, 0)))  # F_GETFL
            except OSError:
                pass
        for key, places in ends.items():
            fresh = fresh_ends(key, {flags & 3 for _, flags in places})
            for fd, flags in places:
                inheritable = posix.get_inheritable(fd)
                dup2(fresh[flags & 3 == posix.O_WRONLY], fd, inheritable)
                posix.set_blocking(fd, not flags & posix.O_NONBLOCK)
            for fd in set(fresh):
                close(fd)

    def fresh_ends(key, accesses):
        if isinstance(key, str) and {posix.O_RDONLY, posix.O_WRONLY} <= accesses:
            return posix.pipe()
        if key[0] == "anon_inode:[eventfd]":
            return (posix.eventfd(0),) * 2
        if key[0] == "anon_inode:[eventpoll]":
            return (libc.epoll_create1(posix.O_CLOEXEC),) * 2
        return (posix.open("/dev/null", posix.O_RDWR),) * 2

    def open_files():
        return range(512) if readable else [int(name) for name in posix.listdir("/proc/self/fd")]

    def forget_signal_handlers():
        for number in signal.valid_signals():
            if callable(signal.getsignal(number)):
                signal.signal(number, signal.SIG_DFL)

    def become_session(fds):
        for fd, place in zip(fds, (CHANNEL, 1, 2)):
            dup2(fd, place, place != CHANNEL)
        for fd in fds:
            close(fd)
        state["channel"].detach()
        state["channel"] = socket_of(fileno=CHANNEL)
        if not state["template"]:
            forget_signal_handlers()
        guest.agon_drop_capabilities()
        reply(b"s")
        (length,) = unpack("<I", receive(4))
        become_interpreter(receive(length)[1:].decode())

    def fork_into(channel, namespaces):
        # As os.fork. A process between goes into the namespaces: there is no way back from them.
        if os.stat("/proc/self/task").st_nlink == 3:  # one thread
            before_fork()
            spaces = (ctypes.c_int * len(namespaces))(*namespaces)
            result = guest.agon_fork(spaces, len(namespaces), channel, ASKING, len(ASKING), tid_address)
            (after_fork_child if result == 0 else after_fork_parent)()
            if result < 0:
                raise OSError(errno.EAGAIN, "the process could not be made")
            return result
        # With other threads, only the C library's own fork knows how to leave their locks behind.
        middle = fork()
        if middle != 0:
            return 1 if waitpid(middle, 0)[1] == 0 else -1
        try:
            socket_of(fileno=os.dup(channel)).sendall(ASKING)
            for fd in namespaces:
                if libc.setns(fd, 0) != 0:
                    exit_now(1)
            own = os.getpid()
            if fork() == 0:
                while readable and os.getppid() == own:
                    time.sleep(0.0001)
                return 0
        except BaseException:
            exit_now(1)
        exit_now(0)

    def fork_session(fds):
        text = ""
        try:
            if len(fds) != (3 if readable else 6):
                raise OSError(errno.EBADF, "descriptors missing")
            # Entering a mount namespace forgets the working folder.
            try:
                state["here"] = os.getcwd()
            except OSError:
                state["here"] = state["home"] + "/workspace"
            state["forks_session"] = True
            try:
                forked = fork_into(fds[0], fds[3:])
            finally:
                state["forks_session"] = False
            if forked == 0:
                try:
                    return become_session(fds)
                except BaseException as error:
                    reply(b"e", (type(error).__name__ + ": " + str(error)).encode("utf-8", "backslashreplace"))
                    exit_now(1)
        except OSError as error:
            text = str(error)
        for fd in fds:
            close(fd)
        reply(b"f", text.encode())

    def serve():
        fds = []
        (length,) = unpack("<I", receive(4, fds))
        body = receive(length)
        if body[:1] in (b"r", b"q"):
            run(body[1:], body[:1] == b"r")
        elif body[:1] == b"f":
            fork_session(fds)
        elif body[:1] == b"z":
            seed_streams(unpack("<Q", body[1:])[0])

    # In place of random's own, which would draw from the system.
    os.register_at_fork(before=count_fork, after_in_child=seed_child)
    _thread.stack_size(2 << 20)  # bytes: stacks count as data, touched or not (RLIMIT_DATA)
    sys.modules["__main__"] = scope
    sys.argv = [""]
    gc.collect()
    gc.freeze()
    make_forks_cheap(guest)
    hold_signals()
    reply(b"h")
    while True:
        try:
            serve()
        except OSError:
            exit_now(1)
