# case 54: gold answers and keys of the host: in the environment, arguments, files and memory
# reason: ok
# limits: wall=10,cpu=10
# tiers: ABC
# output: held
# use: lib

for name, value in os.environ.items():
    if GOLD.search(f"{name}={value}".encode()) or re.search("TOKEN|API_KEY|SECRET|PASSWORD|CREDENTIAL", name):
        print("ESCAPED the variable", name)
if any(GOLD.search(argument.encode()) for argument in sys.argv + sys.orig_argv):
    print("ESCAPED an argument")
for name in listed("/proc"):
    for file in ("environ", "cmdline") if name.isdigit() else ():
        if GOLD.search(read_some(f"/proc/{name}/{file}")):
            print("ESCAPED", file, "of process", name)
if GOLD.search(read_some(SECRET)):
    print("ESCAPED the canary")

# Files, as far as they can be read.
places = [HOME, os.getcwd(), "/tmp", "/var", "/run", "/root", "/home", "/mnt", "/srv", "/media", "/data", "/workspace"]
seen = 0
for place in places:
    for folder, folders, files in os.walk(place):
        folders[:] = [name for name in folders if not os.path.ismount(os.path.join(folder, name))]
        if ".git" in folders or "huggingface" in folders:
            print("ESCAPED", folder, "is in sight")
        for name in files[:1000]:
            seen += 1
            if seen < 20_000 and GOLD.search(read_some(os.path.join(folder, name), 1 << 16)):
                print("ESCAPED", os.path.join(folder, name))

# Memory that came from the process which this one is a fork of.
maps = read_some("/proc/self/maps").decode(errors="replace").splitlines()
try:
    memory = os.open("/proc/self/mem", os.O_RDONLY)
except OSError:
    maps = []
for line in maps:
    parts = line.split()
    if parts[1][0] != "r" or parts[1][3] != "p" or (len(parts) > 5 and parts[5].startswith("/")):
        continue
    begin, end = (int(word, 16) for word in parts[0].split("-"))
    try:
        if GOLD.search(os.pread(memory, min(end - begin, 32 << 20), begin)):
            print("ESCAPED in memory at", line)
    except (OSError, OverflowError):
        pass
print("held")
