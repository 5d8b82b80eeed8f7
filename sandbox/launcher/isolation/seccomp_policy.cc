#include "sandbox/launcher/isolation/seccomp_policy.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <initializer_list>
#include <memory>
#include <utility>

#include "sandbox/launcher/isolation/landlock.h"

namespace agon::sandbox::launcher {
namespace {

constexpr const char* kAllowed[] = {
    // files
    "access", "chdir", "close", "copy_file_range", "creat", "dup", "dup2", "dup3", "faccessat", "faccessat2",
    "fadvise64", "fchdir", "fdatasync", "fstat", "fstatfs", "fsync", "ftruncate", "getcwd", "getdents", "getdents64",
    "link", "linkat", "lseek", "lstat", "mkdir", "mkdirat", "mknod", "mknodat", "newfstatat", "pread64", "preadv",
    "preadv2", "pwrite64", "pwritev", "pwritev2", "read", "readahead", "readlink", "readlinkat", "readv", "rename",
    "renameat", "renameat2", "rmdir", "stat", "statfs", "statx", "symlink", "symlinkat", "sync_file_range", "umask",
    "unlink", "unlinkat", "write", "writev",
    // memory
    "brk", "madvise", "membarrier", "mincore", "mlock", "mlock2", "mlockall", "mprotect", "mremap", "msync", "munlock",
    "munlockall", "munmap",
    // processes, threads, signals
    "arch_prctl", "execve", "execveat", "exit", "exit_group", "fork", "futex", "futex_waitv", "get_robust_list",
    "get_thread_area", "getpgid", "getpgrp", "getpid", "getppid", "getpriority", "getrlimit", "getrusage", "getsid",
    "gettid", "pause", "pidfd_open", "restart_syscall", "rseq", "rt_sigaction", "rt_sigpending", "rt_sigprocmask",
    "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait", "sched_get_priority_max", "sched_get_priority_min",
    "sched_getaffinity", "sched_getattr", "sched_getparam", "sched_getscheduler", "sched_rr_get_interval",
    "sched_yield", "set_robust_list", "set_tid_address", "setpgid", "sigaltstack", "vfork", "wait4", "waitid",
    // who am I
    "capget", "capset", "getegid", "geteuid", "getgid", "getgroups", "getresgid", "getresuid", "getuid", "setfsgid",
    "setfsuid", "setgid", "setgroups", "setregid", "setresgid", "setresuid", "setreuid", "setuid", "sysinfo", "times",
    "uname",
    // time, waiting, pipes
    "alarm", "clock_getres", "clock_gettime", "clock_nanosleep", "epoll_create", "epoll_create1", "epoll_pwait",
    "epoll_pwait2", "epoll_wait", "eventfd", "eventfd2", "getcpu", "getitimer", "getrandom", "gettimeofday",
    "nanosleep", "pipe", "pipe2", "poll", "ppoll", "pselect6", "select", "setitimer", "signalfd", "signalfd4", "time",
    "timer_delete", "timer_getoverrun", "timer_gettime", "timer_settime", "timerfd_create", "timerfd_gettime",
    "timerfd_settime",
    // For socket pairs within the session: they have no names and cannot send descriptors, which would count against
    // everything that the user runs.
    "getpeername", "getsockname", "getsockopt", "recvfrom", "recvmmsg", "recvmsg", "shutdown"};

// A page of a file that is in a pipe or a socket stays there when the file is truncated, and nothing counts it then.
// Programs copy by themselves if these calls fail.
constexpr const char* kWithoutCopy[] = {"sendfile", "splice", "tee", "vmsplice"};

// Programs treat these as features of a newer kernel and do without them.
constexpr const char* kUnknown[] = {"clone3", "memfd_create", "io_uring_setup", "io_uring_enter", "io_uring_register",
                                    "userfaultfd", "shmget", "shmat", "shmctl", "semget", "semop", "semctl", "msgget",
                                    "mq_open",
                                    // watches on the host's files would reveal what the host does with them
                                    "inotify_init", "inotify_init1", "inotify_add_watch", "inotify_rm_watch"};

// Calls on files. kMarks: modes and times. kOwnWorld: what only a session with its own users and files may do.
// kOpening: what opens or shortens files.
constexpr const char* kMarks[] = {"chmod", "fchmod", "fchmodat", "utimensat"};
constexpr const char* kOwnWorld[] = {"rt_sigqueueinfo", "rt_tgsigqueueinfo", "timer_create", "fgetxattr",  "flistxattr",
                                     "getxattr",        "lgetxattr",         "listxattr",    "llistxattr", "chown",
                                     "fchown",          "fchownat",          "lchown",       "futimesat",  "utime",
                                     "utimes"};
constexpr const char* kOpening[] = {"open", "openat", "openat2", "truncate"};

// Refused to guests: the Landlock rules of a process could grow without bound.
constexpr const char* kLandlock[] = {"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"};

class Policy {
 public:
  Policy() : context_(seccomp_init(SCMP_ACT_ERRNO(EPERM)), seccomp_release) {
    if (!context_) throw std::system_error(ENOMEM, std::generic_category(), "seccomp_init");
    require(seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "seccomp: architecture");
    require(seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2), "seccomp: optimise");
  }

  // A name that this libseccomp does not know is a call of a newer kernel: there is nothing to allow.
  void rule(std::uint32_t action, const char* name, std::initializer_list<scmp_arg_cmp> conditions = {}) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR) return;
    require(seccomp_rule_add_array(context_.get(), action, number, conditions.size(), conditions.begin()), name);
  }

  std::string program() const {
    const Descriptor file(checked(static_cast<int>(syscall(SYS_memfd_create, "seccomp", MFD_CLOEXEC)), "memfd_create"));
    require(seccomp_export_bpf(context_.get(), file.get()), "seccomp_export_bpf");
    std::string bytes(static_cast<std::size_t>(lseek(file.get(), 0, SEEK_END)), '\0');
    if (pread(file.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
      throw std::system_error(EIO, std::generic_category(), "seccomp: reading the program");
    return bytes;
  }

 private:
  static void require(int result, const char* what) {
    if (result < 0) throw std::system_error(-result, std::generic_category(), what);
  }
  std::unique_ptr<void, void (*)(scmp_filter_ctx)> context_;
};

void allow_values(Policy& policy, const char* name, unsigned argument, std::initializer_list<std::uint64_t> values) {
  // The kernel reads these arguments as 32 bits.
  for (const std::uint64_t value : values)
    policy.rule(SCMP_ACT_ALLOW, name, {SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, 0xffffffff, value)});
}

// The first argument names the caller itself.
scmp_arg_cmp of_oneself() { return SCMP_CMP64(0, SCMP_CMP_MASKED_EQ, 0xffffffff, 0); }

void allow_some_arguments(Policy& policy) {
  constexpr std::uint64_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                        CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWTIME;
  // The low byte of clone's flags is the signal at exit, which CLONE_NEWTIME overlaps. With CLONE_PARENT a child would
  // belong to the supervisor. A thread with its own descriptors would hide them.
  constexpr std::uint64_t kRefused = (kNamespaces & ~0xffull) | CLONE_PARENT;
  policy.rule(SCMP_ACT_ALLOW, "clone", {SCMP_CMP64(0, SCMP_CMP_MASKED_EQ, kRefused | CLONE_THREAD, 0)});
  policy.rule(SCMP_ACT_ALLOW, "clone",
              {SCMP_CMP64(0, SCMP_CMP_MASKED_EQ, kRefused | CLONE_THREAD | CLONE_FILES, CLONE_THREAD | CLONE_FILES)});
  policy.rule(SCMP_ACT_ALLOW, "close_range", {SCMP_CMP64(2, SCMP_CMP_MASKED_EQ, CLOSE_RANGE_UNSHARE, 0)});
  allow_values(policy, "socketpair", 0, {AF_UNIX});
  policy.rule(SCMP_ACT_ALLOW, "sendto", {SCMP_CMP64(4, SCMP_CMP_EQ, 0)});  // only to the other end
  allow_values(policy, "ioctl", 1, {TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX});
  policy.rule(SCMP_ACT_ERRNO(EAFNOSUPPORT), "socket");
  allow_values(policy, "prctl", 0,
               {PR_SET_NAME, PR_GET_NAME, PR_SET_PDEATHSIG, PR_GET_PDEATHSIG, PR_GET_DUMPABLE, PR_GET_SECCOMP,
                PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS, PR_CAPBSET_READ, PR_CAPBSET_DROP, PR_GET_CHILD_SUBREAPER,
                PR_GET_TID_ADDRESS, PR_SET_TIMERSLACK, PR_GET_TIMERSLACK, 0x53564d41 /* PR_SET_VMA */});
  allow_values(policy, "personality", 0, {0, 0xffffffff});
  policy.rule(SCMP_ACT_ALLOW, "sched_setscheduler", {of_oneself(), SCMP_CMP64(1, SCMP_CMP_MASKED_EQ, 0xffffffff, 0)});
  // Not buffer sizes. Not credentials either: a datagram socket that asks for them gets a name.
  for (const std::uint64_t option : {SO_REUSEADDR, SO_KEEPALIVE, SO_LINGER, SO_RCVTIMEO, SO_SNDTIMEO, SO_RCVLOWAT})
    policy.rule(SCMP_ACT_ALLOW, "setsockopt",
                {SCMP_CMP64(1, SCMP_CMP_MASKED_EQ, 0xffffffff, SOL_SOCKET),
                 SCMP_CMP64(2, SCMP_CMP_MASKED_EQ, 0xffffffff, option)});
}

// A process may change only its own limits and priorities, because the init process of a session runs as the session's
// user too. Nobody may change two limits. RLIMIT_LOCKS, which kernels no longer enforce, tells the supervisor whose a
// process is (census.h). RLIMIT_CORE keeps the host's crash handler out.
void own_limits(Policy& policy) {
  for (int resource = 0; resource < RLIM_NLIMITS; ++resource) {
    const auto which = [resource](unsigned argument) {
      return SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, 0xffffffff, static_cast<std::uint64_t>(resource));
    };
    const bool fixed = resource == RLIMIT_LOCKS || resource == RLIMIT_CORE;
    if (!fixed) policy.rule(SCMP_ACT_ALLOW, "setrlimit", {which(0)});
    if (fixed)
      policy.rule(SCMP_ACT_ALLOW, "prlimit64", {of_oneself(), which(1), SCMP_CMP64(2, SCMP_CMP_EQ, 0)});
    else
      policy.rule(SCMP_ACT_ALLOW, "prlimit64", {of_oneself(), which(1)});
  }
  for (const std::uint64_t which : {PRIO_PROCESS, PRIO_PGRP})
    policy.rule(
        SCMP_ACT_ALLOW, "setpriority",
        {SCMP_CMP64(0, SCMP_CMP_MASKED_EQ, 0xffffffff, which), SCMP_CMP64(1, SCMP_CMP_MASKED_EQ, 0xffffffff, 0)});
}

// Shared memory without a file is counted only by a cgroup once it is unmapped; files of /dev/shm are counted. Nothing
// counts huge pages from the host's reserve.
void mappings(Policy& policy) {
  constexpr std::uint64_t kSharing = MAP_TYPE | MAP_ANONYMOUS | MAP_HUGETLB;
  for (const int flags : {MAP_PRIVATE, MAP_PRIVATE | MAP_ANONYMOUS, MAP_SHARED, MAP_SHARED_VALIDATE})
    policy.rule(SCMP_ACT_ALLOW, "mmap",
                {SCMP_CMP64(3, SCMP_CMP_MASKED_EQ, kSharing, static_cast<std::uint64_t>(flags))});
}

void file_locks(Policy& policy) {
  policy.rule(SCMP_ACT_NOTIFY, "flock");
  for (const int command : {F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW})
    policy.rule(SCMP_ACT_NOTIFY, "fcntl",
                {SCMP_CMP64(1, SCMP_CMP_MASKED_EQ, 0xffffffff, static_cast<std::uint64_t>(command))});
  for (const int command : {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_OFD_GETLK,
                            F_GETPIPE_SZ, F_GETOWN, F_ADD_SEALS, F_GET_SEALS, F_GETLEASE})
    policy.rule(SCMP_ACT_ALLOW, "fcntl",
                {SCMP_CMP64(1, SCMP_CMP_MASKED_EQ, 0xffffffff, static_cast<std::uint64_t>(command))});
}

// The kernel counts watches per user, and keeps a watch whose descriptor is closed while its file is open.
void watches(Policy& policy) {
  allow_values(policy, "epoll_ctl", 1, {EPOLL_CTL_DEL, EPOLL_CTL_MOD});
  policy.rule(SCMP_ACT_NOTIFY, "epoll_ctl", {SCMP_CMP64(1, SCMP_CMP_MASKED_EQ, 0xffffffff, EPOLL_CTL_ADD)});
}

// If the kernel shares the processor between kernel sessions (sched(7), autogroup), each further one is a further
// share.
void shares(Policy& policy) { policy.rule(SCMP_ACT_NOTIFY, "setsid"); }

void open_files(Policy& policy) {
  if (landlock_version() >= 3) {
    for (const char* name : kOpening) policy.rule(SCMP_ACT_ALLOW, name);
    return;
  }
  policy.rule(SCMP_ACT_ERRNO(ENOSYS), "openat2");  // its flags are in memory
  const auto flags_at = [](unsigned argument, std::uint64_t mask, std::uint64_t value) {
    return SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, mask, value);
  };
  for (const auto& [name, argument] : {std::pair("open", 1u), std::pair("openat", 2u)}) {
    policy.rule(SCMP_ACT_ALLOW, name, {flags_at(argument, O_TRUNC, 0)});
    for (const std::uint64_t access : {O_WRONLY, O_RDWR})
      policy.rule(SCMP_ACT_ALLOW, name, {flags_at(argument, O_TRUNC | O_ACCMODE, O_TRUNC | access)});
  }
}

// Calls that reach another process by its number, hide from the supervisor, or take space on the host's disk.
void shared_things(Policy& policy, bool own_processes) {
  for (const char* name : {"kill", "tgkill", "tkill"})
    policy.rule(own_processes ? SCMP_ACT_ALLOW : SCMP_ACT_NOTIFY, name);
  if (own_processes) {
    for (const char* name : kMarks) policy.rule(SCMP_ACT_ALLOW, name);
    for (const char* name : kOwnWorld) policy.rule(SCMP_ACT_ALLOW, name);
    for (const char* name : kOpening) policy.rule(SCMP_ACT_ALLOW, name);
    policy.rule(SCMP_ACT_ALLOW, "pidfd_send_signal");
    allow_values(policy, "prctl", 0, {PR_SET_DUMPABLE});
    allow_values(policy, "fcntl", 1, {F_SETOWN});
    policy.rule(SCMP_ACT_ALLOW, "fallocate");
    policy.rule(SCMP_ACT_NOTIFY, "setns");
    for (const char* name : kLandlock) policy.rule(SCMP_ACT_ERRNO(ENOSYS), name);
    return;
  }
  // Landlock does not restrict modes and times, nor, before version 3, lengths: this rule protects files of the same
  // user outside the session.
  for (const char* name : kMarks) policy.rule(SCMP_ACT_NOTIFY, name);
  open_files(policy);
  // A session confines itself while it is made, and not afterwards.
  for (const char* name : kLandlock) policy.rule(SCMP_ACT_NOTIFY, name);
  policy.rule(SCMP_ACT_ERRNO(ENOSYS), "pidfd_send_signal");
  allow_values(policy, "fallocate", 1, {0});  // other modes allocate space beyond the maximum size of a file
}

}  // namespace

std::string seccomp_program(bool own_processes) {
  Policy policy;
  for (const char* name : kAllowed) policy.rule(SCMP_ACT_ALLOW, name);
  for (const char* name : kUnknown) policy.rule(SCMP_ACT_ERRNO(ENOSYS), name);
  for (const char* name : kWithoutCopy) policy.rule(SCMP_ACT_ERRNO(EINVAL), name);
  allow_some_arguments(policy);
  mappings(policy);
  file_locks(policy);
  watches(policy);
  own_limits(policy);
  shares(policy);
  shared_things(policy, own_processes);
  return policy.program();
}

int install_seccomp(const std::string& program) {
  sock_fprog filter{static_cast<unsigned short>(program.size() / sizeof(sock_filter)),
                    reinterpret_cast<sock_filter*>(const_cast<char*>(program.data()))};
  return static_cast<int>(
      checked(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter), "seccomp"));
}

}  // namespace agon::sandbox::launcher
