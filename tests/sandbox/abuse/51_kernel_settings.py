# case 51: changes to settings of the kernel and of cgroups
# reason: ok
# tiers: ABC
# output: held
# use: lib

import glob

# They are opened, never written: where one opens, the case has failed.
paths = ["/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hotplug",
         "/proc/sys/kernel/ns_last_pid", "/proc/sys/kernel/randomize_va_space", "/proc/sys/kernel/yama/ptrace_scope",
         "/proc/sys/vm/overcommit_memory", "/proc/sys/vm/drop_caches", "/proc/sys/fs/file-max", "/proc/sys/net/ipv4/ip_forward",
         "/proc/sys/user/max_user_namespaces", "/proc/irq/default_smp_affinity", "/sys/kernel/uevent_helper", "/sys/power/state"]
own = ["/sys/fs/cgroup" + line.rsplit(":", 1)[1] for line in read_some("/proc/self/cgroup").decode().splitlines()]
for group in {"/sys/fs/cgroup", *own}:
    paths += [f"{group}/{name}" for name in ("release_agent", "cgroup.procs", "cgroup.subtree_control", "memory.max", "pids.max")]
paths += glob.glob("/sys/fs/cgroup/*/release_agent")
for path in paths:
    refuse(f"writing {path}", lambda: os.open(path, os.O_WRONLY))
refuse("a new cgroup", lambda: os.mkdir("/sys/fs/cgroup/agon-abuse"))


def last_to_be_killed():
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")


refuse("a lower oom_score_adj", last_to_be_killed)
if not NAMESPACES:
    refuse("oom_score_adj of process 1", lambda: os.open("/proc/1/oom_score_adj", os.O_WRONLY))
print("held")
