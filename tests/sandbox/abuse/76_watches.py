# case 76: watches on the host's files, which reveal what the host runs
# reason: ok
# tiers: ABC
# output: held
# use: lib

for number, arguments in ((253, ()), (294, (0,)), (300, (0, 0))):  # inotify_init, inotify_init1, fanotify_init
    try:
        call(number, *arguments)
        print("ESCAPED a watch by call", number)
    except OSError:
        pass
print("held")
