# case 40: a folder and a link to the host swapped endlessly while the host reads
# reason: ok
# tiers: ABC
# output: held
# artifacts: swap/secret,swap/passwd -> 0
# use: lib

# Neither name is in the real folder: whatever comes out came through the link.

AT_FDCWD, RENAME_EXCHANGE = -100, 2
os.mkdir("swap")
os.symlink("/tmp/agon-abuse-canary", "link")
call(316, AT_FDCWD, b"swap", AT_FDCWD, b"link", RENAME_EXCHANGE)
if os.fork() == 0:
    mark()
    end = time.monotonic() + 4
    try:
        while time.monotonic() < end:
            for _ in range(1000):
                call(316, AT_FDCWD, b"swap", AT_FDCWD, b"link", RENAME_EXCHANGE)
    finally:
        os._exit(0)
if GOLD.search(read_some("swap/secret") + read_some("link/secret")):
    print("ESCAPED the secret is readable")
print("held")
