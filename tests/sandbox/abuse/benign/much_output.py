# case benign: 32 MB on stdout, cut in the middle and reported as cut
# reason: ok
# limits: wall=20,cpu=20
# tiers: ABC
# output: held
# dropped: yes

print("first line")
for number in range(1 << 15):
    print(f"{number:08d}" + "x" * 1015)
print("held")
