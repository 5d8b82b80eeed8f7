"""What idle keep-alive connections cost `agon serve`, and how fast a request among them is answered. Prints one line of
JSON. Standard library alone.   idle_connections.py [AGON [CONNECTIONS]]"""
import json
import resource
import select
import socket
import statistics
import subprocess
import sys
import time

agon = sys.argv[1] if len(sys.argv) > 1 else "./agon"
count = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
server = subprocess.Popen([agon, "serve", "--port", "0", "--connections", str(count)], stdout=subprocess.PIPE, text=True)
HEALTH = b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"


def megabytes():
    fields = dict(line.split(":", 1) for line in open(f"/proc/{server.pid}/status"))
    return int(fields["VmRSS"].split()[0]) / 1024


def connect(port):
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(HEALTH)
    assert connection.recv(4096).startswith(b"HTTP/1.1 200")
    return connection


def chat_ms(connection):
    body = b'{"messages":[{"role":"user","content":"hi"}],"max_tokens":1}'
    start = time.monotonic()
    connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s"
                       % (len(body), body))
    assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200")
    return (time.monotonic() - start) * 1000


def closed(connections):
    poll = select.poll()
    for one in connections:
        poll.register(one, select.POLLIN)
    return len(poll.poll(0))


try:
    port = int(server.stdout.readline().split("127.0.0.1:")[1].split("/")[0])
    alone = [chat_ms(connect(port)) for _ in range(20)]
    before = megabytes()
    idle = [connect(port) for _ in range(count)]
    after = megabytes()
    among = [chat_ms(one) for one in idle[::max(1, count // 20)]]
    print(json.dumps({"connections": count, "closed": closed(idle), "megabytes_before": round(before, 1),
                      "megabytes": round(after, 1), "chat_ms_alone": round(statistics.median(alone), 2),
                      "chat_ms_among_them": round(statistics.median(among), 2),
                      "chat_ms_slowest": round(max(among), 2)}))
finally:
    server.terminate()
    server.wait()
