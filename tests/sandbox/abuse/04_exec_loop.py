# case 04: processes that start a successor and end, each time with a new pid
# reason: wall_timeout,process_limit
# limits: wall=2,cpu=20
# tiers: ABC

import subprocess, time

# The name stands in every command line, for the runner to look for once the session is closed.
with open("agon-abuse-churn.sh", "w") as file:
    file.write("sh agon-abuse-churn.sh &\n")
for _ in range(4):
    subprocess.Popen(["sh", "agon-abuse-churn.sh"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                     stderr=subprocess.DEVNULL, start_new_session=True)
while True:
    time.sleep(60)

# ---- other session
# output: held
print("held")
