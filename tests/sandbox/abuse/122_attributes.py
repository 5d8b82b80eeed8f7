# case 122: extended attributes of files of the host
# reason: ok
# tiers: ABC
# output: held
# use: lib
refuse("listxattr", lambda: os.listxattr("@HOST@/file"))
refuse("getxattr", lambda: os.getxattr("@HOST@/file", "user.x"))
print("held")
