# case 17: slightly more on stdout than a pipe holds, then a clean exit: not a failure
# reason: ok
# tiers: ABC
# output: held
# dropped: yes

import sys

print("x" * 135_000)
print("held")
sys.exit(0)
