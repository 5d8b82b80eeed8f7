# case benign: eight threads, started by hand and in a pool
# reason: ok
# limits: wall=10,cpu=10
# tiers: ABC
# output: held

import concurrent.futures, threading, numpy as np

results = [None] * 8


def work(number):
    matrix = np.full((64, 64), float(number))
    results[number] = (matrix @ matrix).sum()


threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert results == [64.0**3 * number**2 for number in range(8)]
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    assert list(pool.map(lambda number: number + 1, range(100))) == list(range(1, 101))
print("held")

# ---- fork
# output: held
thread = threading.Thread(target=work, args=(3,))
thread.start()
thread.join()
assert results[3] == 64.0**3 * 9
print("held")
