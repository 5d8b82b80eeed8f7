# case 103: scripts with a byte-order mark, with an encoding line, and with other line endings
# reason: ok
# tiers: ABC

pass

# ---- next call
﻿assert __name__ == "__main__"

# ---- next call
# coding=utf-7
assert ascii("+AOk-") == r"'\xe9'", ascii("+AOk-")

# ---- next call
# reason: exception
# coding=no-such-encoding
pass
