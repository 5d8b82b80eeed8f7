# case 17: a little more on stdout than a pipe holds, then a clean exit: no failure at all
# reason: ok
# tiers: ABC
# output: held
# dropped: yes

import sys

print("x" * 135_000)
print("held")
sys.exit(0)
