# case 119: huge pages of the host's reserve, which no counter includes
# reason: ok
# tiers: ABC
# output: held
# use: lib

refuse_call("mmap with MAP_HUGETLB", 9, 0, 2 << 20, 3, 0x40022, -1, 0)
print("held")
