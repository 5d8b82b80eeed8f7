# case 50: what /proc and /sys reveal about the kernel, the host and other processes
# reason: ok
# tiers: ABC
# output: held
# use: lib

for path in ("/proc/kcore", "/proc/kmsg", "/proc/kpageflags", "/proc/kpagecount", "/dev/mem", "/dev/kmem", "/dev/kmsg",
             "/dev/port", "/sys/kernel/debug/tracing", "/sys/kernel/security", "/sys/firmware/dmi", "/etc/shadow",
             "/root/.bash_history", "/var/log/syslog"):
    refuse(f"reading {path}", lambda: os.open(path, os.O_RDONLY))
refuse_call("syslog", 103, 3, ctypes.create_string_buffer(4096), 4096)

for line in read_some("/proc/kallsyms", 1 << 16).splitlines()[:-1]:
    if int(line.split()[0], 16) != 0:
        print("ESCAPED the kernel's addresses are readable", line)
        break

for name in listed("/proc"):
    if not name.isdigit():
        continue
    for file in ("environ", "cmdline", "maps", "mountinfo", "root" + SECRET, "cwd/secret"):
        if GOLD.search(read_some(f"/proc/{name}/{file}")):
            print("ESCAPED a secret of the host in", f"/proc/{name}/{file}")
    if NAMESPACES and int(name) not in (1, os.getpid()):
        print("ESCAPED process", name, "is another's, and visible")
if GOLD.search(read_some(SECRET)):
    print("ESCAPED the secret is readable")
print("held")
