"""chat_server.py FILE [SECONDS]: a server with the OpenAI protocol on a free port of the loopback. Writes its port into FILE, and a line
a completion into FILE.log. Its model answers in three paragraphs with a digit that the seed draws; each answer takes SECONDS."""
import hashlib, json, os, signal, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

signal.signal(signal.SIGINT, lambda *_: os._exit(0))  # which a shell has its background processes ignore
place = sys.argv[1]
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 0
log = open(place + ".log", "a")


def turn_of(messages, seed):
    digit = int(hashlib.sha256(f"{json.dumps(messages)} {seed}".encode()).hexdigest(), 16) % 10
    return f"It is {digit}.\n\nSo it is {digit}.\n\n<answer>{digit}</answer>"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes: the second would wait for a delayed acknowledgement

    def log_message(self, *_):
        pass

    def reply(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(200, {"data": [{"id": "digits", "max_model_len": 100000}]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if body.get("model", "digits") != "digits":
            return self.reply(404, {"error": {"message": f"The model {body['model']} does not exist."}})
        time.sleep(seconds)
        messages, prefix = body["messages"], ""
        if body.get("continue_final_message"):
            prefix, messages = messages[-1]["content"], messages[:-1]
        seed = body.get("seed", 0) if body.get("temperature", 1) > 0 else -1
        text, stop = turn_of(messages, seed), None
        text = text[len(prefix):] if text.startswith(prefix) else text
        for one in body.get("stop", []):
            if one in text:
                text, stop = text[:text.index(one)], one
        tokens = max(1, len(text) // 3)
        print(len(prefix), tokens, file=log, flush=True)
        content = [{"token": c, "bytes": list(c.encode()), "logprob": -0.25, "top_logprobs": []} for c in text]
        self.reply(200, {"model": "digits", "choices": [{
            "index": 0, "finish_reason": "stop", "stop_reason": stop, "message": {"role": "assistant", "content": text},
            "logprobs": {"content": content} if body.get("logprobs") else None}],
            "usage": {"prompt_tokens": 100, "completion_tokens": tokens}})


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(place + ".new", "w") as file:
    file.write(str(server.server_port))
os.rename(place + ".new", place)
server.serve_forever()
