# case 18: 100,000 open descriptors
# reason: ok
# tiers: ABC
# output: held

import errno, os, resource

fds = []
try:
    while len(fds) < 100_000:
        fds.append(os.open("/dev/null", os.O_RDONLY))
    print("ESCAPED", len(fds), "descriptors are open")
except OSError as error:
    if error.errno != errno.EMFILE:
        raise
for fd in fds:
    os.close(fd)

hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
for limit in (hard + 1, 1 << 20):
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        if limit > hard:
            print("ESCAPED the limit went from", hard, "to", limit)
    except (ValueError, OSError):
        pass
print("held")
