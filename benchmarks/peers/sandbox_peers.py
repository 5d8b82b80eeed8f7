"""The measurements of sandbox_bench for other programs: a fresh Python, a Jupyter kernel, bwrap with Python.
Usage: sandbox_peers.py [ROUNDS]    prints one JSON object; times in milliseconds.
Needs numpy and cv2, jupyter_client 8.6.3 and ipykernel 6.29.5, and bubblewrap (compare_sandbox installs them)."""
import json
import subprocess
import sys
import time

from jupyter_client.manager import start_new_kernel

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 15
PYTHON = "/usr/bin/python3"


def percentiles(work, rounds=ROUNDS):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(1e3 * (time.perf_counter() - start))
    times.sort()
    return {"p50": times[len(times) // 2], "p99": times[len(times) * 99 // 100], "rounds": rounds}


def execute(client, code):
    reply = client.execute_interactive(code, timeout=60, output_hook=lambda message: None)
    assert reply["content"]["status"] == "ok", reply


def kernel_ready():
    manager, client = start_new_kernel(kernel_name="python3")
    execute(client, "import numpy, cv2")
    return manager, client


def start_kernel():
    manager, client = kernel_ready()
    client.stop_channels()
    manager.shutdown_kernel(now=True)


BWRAP = ["bwrap", "--ro-bind", "/usr", "/usr", "--ro-bind", "/etc/alternatives", "/etc/alternatives",
         "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/bin", "/bin",
         "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--unshare-all", "--die-with-parent"]


def bwrap_jobs(code, jobs):
    """Jobs per second, two at a time."""
    start, running = time.perf_counter(), []
    for _ in range(jobs):
        if len(running) == 2:
            assert running.pop(0).wait() == 0
        running.append(subprocess.Popen(BWRAP + [PYTHON, "-c", code], stdout=subprocess.DEVNULL))
    assert all(job.wait() == 0 for job in running)
    return jobs / (time.perf_counter() - start)


def idle_megabytes():
    """PSS of one Python with the imports of a session, without other such processes."""
    process = subprocess.Popen([PYTHON, "-c", "import numpy, cv2; print(flush=True); input()"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    process.stdout.readline()
    with open(f"/proc/{process.pid}/smaps_rollup") as rollup:
        kilobytes = next(int(line.split()[1]) for line in rollup if line.startswith("Pss:"))
    process.kill()
    process.wait()
    return kilobytes * 1024 / 1e6


figures = {"python_start_ms": percentiles(lambda: subprocess.run([PYTHON, "-c", "import numpy, cv2"], check=True)),
           "jupyter_start_ms": percentiles(start_kernel, max(3, ROUNDS // 3))}
manager, client = kernel_ready()
figures["jupyter_call_ms"] = percentiles(lambda: execute(client, "1+1"), 10 * ROUNDS)
client.stop_channels()
manager.shutdown_kernel(now=True)
figures["bwrap_plain_jobs_per_second"] = bwrap_jobs("print(sum(range(100)))", 4 * ROUNDS)
figures["bwrap_jobs_per_second"] = bwrap_jobs("import numpy, cv2; print(sum(range(100)))", 2 * ROUNDS)
figures["python_idle_mb"] = idle_megabytes()
print(json.dumps(figures, indent=2))
