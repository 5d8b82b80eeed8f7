# case 63: another kernel, modules, loop devices, and other calls for administrators
# reason: ok
# tiers: ABC
# output: held
# use: lib

# The arguments are such that a kernel which took the call would do nothing.

calls = {"kexec_load": (246, 0, 99, 0, 0), "kexec_file_load": (320, -1, -1, 0, 0, 0), "init_module": (175, 0, 0, b""),
         "finit_module": (313, -1, b"", 0), "delete_module": (176, b"agon_no_such_module", 0), "reboot": (169, 0, 0, 0, 0),
         "swapon": (167, b"/agon-none", 0), "swapoff": (168, b"/agon-none"), "acct": (163, b"/agon-none"),
         "settimeofday": (164, 0, 0), "clock_settime": (227, 99, 0), "adjtimex": (159, 0), "clock_adjtime": (305, 99, 0),
         "sethostname": (170, 0, 1 << 20), "setdomainname": (171, 0, 1 << 20), "iopl": (172, 99), "ioperm": (173, 1 << 20, 1, 1),
         "quotactl": (179, -1, 0, 0, 0), "modify_ldt": (154, 99, 0, 0), "uselib": (134, b"/agon-none"),
         "fanotify_init": (300, 0, 0), "lookup_dcookie": (212, 0, 0, 0), "sysfs": (139, 99, 0, 0), "ustat": (136, 0, 0)}
for name, arguments in calls.items():
    refuse_call(name, *arguments)
for path in ("/dev/loop-control", "/dev/loop0", "/dev/mapper/control", "/dev/fuse", "/dev/kvm", "/dev/net/tun", "/dev/sda", "/dev/vda",
             "/dev/nvidiactl", "/dev/vhost-net", "/dev/uinput"):
    refuse(path, lambda: os.open(path, os.O_RDWR))
print("held")
