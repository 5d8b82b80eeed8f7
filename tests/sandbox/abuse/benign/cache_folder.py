# case benign: a cache folder named by MPLCONFIGDIR, as matplotlib and others use
# reason: ok
# limits: wall=60,cpu=60
# tiers: ABC
# output: held

import os, tempfile

folder = os.environ.setdefault("MPLCONFIGDIR", os.environ["HOME"] + "/.config/matplotlib")
os.makedirs(folder, exist_ok=True)
with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:  # written aside, then put in place
    file.write(b"{}")
os.replace(file.name, folder + "/fontlist-agon.json")
lock = os.open(folder + "/lock", os.O_CREAT | os.O_EXCL | os.O_RDWR)
os.close(lock)
os.remove(folder + "/lock")
with open(folder + "/fontlist-agon.json") as file:
    assert file.read() == "{}"
try:
    import matplotlib
except ImportError:
    matplotlib = None
if matplotlib:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.plot([1, 2, 3])
    plt.savefig("plot.png")
    assert os.path.getsize("plot.png") > 1000
print("held")
