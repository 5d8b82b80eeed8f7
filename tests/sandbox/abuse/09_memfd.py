# case 09: files in memory and in no folder (memfd), outside the disk limit
# reason: ok
# tiers: ABC
# output: held
# use: lib

refuse("os.memfd_create", lambda: os.memfd_create("fill"))
refuse_call("memfd_create", 319, b"fill", 0)
refuse_call("memfd_create with huge pages", 319, b"fill", 4)
refuse_call("memfd_secret", 447, 0)
print("held")
