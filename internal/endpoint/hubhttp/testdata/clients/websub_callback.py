"""A WebSub subscriber that uses only Python's standard library.

Usage: websub_callback.py TOPIC SECRET

It prints the URL of its callback, then a line for each request, and ends with
its input. It consents to requests about its topic.
"""

import hashlib
import hmac
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

TOPIC, SECRET = sys.argv[1], sys.argv[2].encode()


class Callback(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        q = {name: values[-1] for name, values in parse_qs(urlsplit(self.path).query).items()}
        if q.get("hub.topic") != TOPIC:
            return self.answer(404)
        print(q["hub.mode"], q.get("own"), q.get("hub.lease_seconds"), q.get("hub.reason"), flush=True)
        self.answer(200, q.get("hub.challenge", "").encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        method, _, digest = self.headers.get("X-Hub-Signature", "none=").partition("=")
        right = method != "none" and hmac.compare_digest(digest, hmac.new(SECRET, body, method).hexdigest())
        links = {rel: url for url, rel in re.findall('<([^>]*)>; rel="([^"]*)"', self.headers["Link"])}
        print("content", method, right, self.headers["Content-Type"], len(body), links["hub"], links["self"] == TOPIC, flush=True)
        self.answer(204)

    def log_message(self, *args):
        pass


server = HTTPServer(("127.0.0.1", 0), Callback)
print("http://127.0.0.1:%d/cb?own=1" % server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
