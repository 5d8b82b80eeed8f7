# case benign: multiprocessing.Pool, with its semaphores and pipes
# reason: ok
# limits: wall=20,cpu=20
# tiers: AB
# output: held

# Not on C, where semaphores have no place: /dev/shm is the host's.

import multiprocessing


def square(number):
    return number * number


with multiprocessing.Pool(4) as pool:
    assert pool.map(square, range(1000)) == [number * number for number in range(1000)]
    assert sorted(pool.imap_unordered(square, range(10))) == [number * number for number in range(10)]
queue = multiprocessing.Queue()
child = multiprocessing.Process(target=lambda: queue.put("from a child"))
child.start()
assert queue.get(timeout=5) == "from a child"
child.join()
assert child.exitcode == 0
print("held")
