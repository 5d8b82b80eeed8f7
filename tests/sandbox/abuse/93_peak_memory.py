# case 93: the reported memory of calls that end at once
# reason: ok
# peak_memory: 4K..30M
# tiers: ABC

pass

# ---- next call
# peak_memory: 50M..60M
data = b"1" * (50 << 20)
del data

# ---- next call
# peak_memory: 4K..30M
pass

# ---- next call
# peak_memory: 100M..115M
import numpy

data = numpy.ones(100 << 20, numpy.uint8)

# ---- fork
# peak_memory: 100M..115M
data = None
