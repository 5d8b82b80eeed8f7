"""The same work in this process and through `agon serve`, in turn: a greedy run of charts, and a guided search whose
solver and critic are both behind servers. Prints the times of every round, whether all texts and trees are equal, and
what a call of the search takes: in all, and of that the servers' share from the last byte of a request to its answer.
The rest is the overhead: the search's own work, the client and the wire. Standard library alone.
   compare_served.py [AGON [TASKS [SEARCH_TASKS [ROUNDS]]]]   run from the repository's folder"""
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

agon = sys.argv[1] if len(sys.argv) > 1 else "./agon"
tasks, search_tasks, rounds = (int(sys.argv[i]) if len(sys.argv) > i else n for i, n in ((2, 500), (3, 50), (4, 5)))
scratch = tempfile.TemporaryDirectory()
os.environ["AGON_CACHE"] = scratch.name + "/cache.sqlite"
servers, urls = [], []


def serve(folder):
    server = subprocess.Popen([agon, "serve", "--policy", folder, "--port", "0"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    servers.append(server)
    urls.append(server.stdout.readline().split(" at ")[1].split(";")[0])
    return urls[-1]


def timed(*arguments):
    folder = pathlib.Path(tempfile.mkdtemp(dir=scratch.name)) / "run"
    start = time.monotonic()
    subprocess.run([agon, *arguments, "--out", folder], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return time.monotonic() - start, sqlite3.connect(folder / "run.sqlite")


def seconds_of_servers():
    total = 0.0
    for url in urls:
        text = urllib.request.urlopen(url.removesuffix("/v1") + "/metrics").read().decode()
        total += float(text.split("\nagon_request_seconds_sum ")[1].split()[0])
    return total


def texts(run):
    return run.execute("SELECT task_index, sample, turn, text FROM turns JOIN episodes ON id = episode_id "
                       "ORDER BY 1, 2, 3").fetchall()


def tree(run):
    steps = run.execute("SELECT task_index, number, node, parent, text FROM search_steps ORDER BY 1, 2, 3").fetchall()
    verdicts = run.execute("SELECT task_index, number, node, judgement, critique FROM search_verdicts "
                           "ORDER BY 1, 2, 3").fetchall()
    return steps, verdicts


def stop_servers():
    urls.clear()
    while servers:
        servers[-1].terminate()
        servers.pop().wait()


def compare(command, flags_of, read):
    """flags_of() starts servers, new ones each round: what they keep of an earlier one would speed them up."""
    rounds_of = []
    for _ in range(rounds):
        local, here = timed(*command)
        flags = flags_of()
        for url in urls:  # what the client finds out of a server before it starts
            subprocess.run([agon, "doctor", "--policy", url], stdout=subprocess.DEVNULL)
        asked = seconds_of_servers()
        remote, there = timed(*command, "--cache", "off", *flags)
        rounds_of.append({"in_process_s": local, "served_s": remote, "servers_s": seconds_of_servers() - 2 * asked,
                          "search_s": there.execute("SELECT seconds FROM run").fetchone()[0],
                          "equal": read(here) == read(there)})
        stop_servers()
    return rounds_of, there


def row_of(name, rounds_of):
    here, there = ([round(one[key], 2) for one in rounds_of] for key in ("in_process_s", "served_s"))
    return {"work": name, "in_process_s": here, "served_s": there,
            "ratio": round(statistics.median(there) / statistics.median(here), 3),
            "equal": all(one["equal"] for one in rounds_of)}


def solver():
    return "--policy", serve("models/agon-tiny")


def solver_and_critic():
    return *solver(), "--critic-policy", serve("models/agon-tiny-critic")


try:
    run = ["run", "--suite", "charts", "--tasks", str(tasks), "--temperature", "0", "--samples", "1"]
    print(json.dumps(row_of("run", compare(run, solver, texts)[0])), flush=True)
    search = ["search", "--suite", "charts", "--tasks", str(search_tasks), "--method", "guided", "--attempts", "1",
              "--no-speculation", "--in-flight", "1"]
    rounds_of, searched = compare(search, solver_and_critic, tree)
    calls = searched.execute("SELECT COUNT(*) FROM journal WHERE kind IN ('write', 'judge')").fetchone()[0]
    of_call = {key: statistics.median(1000 * one[key] / calls for one in rounds_of) for key in ("search_s", "servers_s")}
    print(json.dumps({**row_of("search", rounds_of), "calls": calls, "ms_a_call": round(of_call["search_s"], 3),
                      "ms_in_server": round(of_call["servers_s"], 3),
                      "ms_overhead": round(of_call["search_s"] - of_call["servers_s"], 3)}))
finally:
    stop_servers()
