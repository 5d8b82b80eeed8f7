# case 66: the network: the host's own services, cloud metadata, DNS, the internet
# reason: ok
# limits: wall=15,cpu=10
# tiers: ABC
# output: held
# use: lib

import shutil, socket, subprocess, urllib.request

for address in (("127.0.0.1", 38571), ("localhost", 38571), ("0.0.0.0", 38571), ("::1", 38571), ("127.0.0.1", 8000),
                ("169.254.169.254", 80), ("1.1.1.1", 53), ("10.0.0.1", 22)):
    refuse(f"TCP to {address}", lambda: socket.create_connection(address, timeout=1))


def send_datagram():
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 53))


refuse("UDP", send_datagram)
refuse("ICMP", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP))
refuse("raw ICMP", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
refuse("a listener", lambda: socket.create_server(("127.0.0.1", 0)))
refuse("a name", lambda: socket.getaddrinfo("example.com", 80))
refuse("a page", lambda: urllib.request.urlopen("http://127.0.0.1:38571/", timeout=1))
for command in (["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/38571"], ["curl", "-sm1", "telnet://127.0.0.1:38571"],
                ["curl", "-sm1", "http://169.254.169.254/"]):
    if shutil.which(command[0]) and subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL).returncode == 0:
        print("ESCAPED", command)
print("held")
