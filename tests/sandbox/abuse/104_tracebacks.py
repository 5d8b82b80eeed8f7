# case 104: tracebacks show the lines of the script that they belong to, also when two have the same name
# reason: ok
# tiers: ABC
# use: lib

import traceback


def fails():
    raise ValueError("first")  # a line of the first script


def lines():
    try:
        fails()
    except ValueError:
        return traceback.format_exc()


print(lines())

# ---- next call
# output: held
# Other lines stand
# here,
# at
# the
# numbers
# of
# those
# above,
# but for
# this
text = lines()
assert "a line of the first script" in text, text
try:
    raise KeyError("second")  # a line of the second script
except KeyError:
    text = traceback.format_exc()
assert "a line of the second script" in text, text
print("held")
