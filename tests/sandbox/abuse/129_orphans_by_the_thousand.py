# case 129: thousands of orphans, each reaped by a process of agon, while another session works
# reason: ok,process_limit
# limits: cpu=20
# tiers: ABC
# use: lib
# neighbour: 20

end = time.monotonic() + 2.5
for _ in range(6):
    if os.fork() == 0:
        mark()
        while time.monotonic() < end:
            if os.fork() == 0:
                os.fork()
                os._exit(0)
            os.wait()
        os._exit(0)
time.sleep(2.7)
