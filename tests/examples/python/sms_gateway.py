"""An SMS gateway that accepts login codes signed by a mall a moment ago, and prints them.

    MALLBOX_SMS_SECRET=… python3 sms_gateway.py      prints its port first
    MALLBOX_SMS_SECRET=… mallbox serve --data DIR --sms http://127.0.0.1:PORT/
"""

import hashlib
import hmac
import os
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET = os.environ["MALLBOX_SMS_SECRET"].encode()
MAX_AGE_SECONDS = 300


def is_from_the_mall(headers, body):
    sent = headers.get("x-mallbox-timestamp", "")
    want = "sha256=" + hmac.new(SECRET, sent.encode() + b"." + body, hashlib.sha256).hexdigest()
    is_signed = hmac.compare_digest(want, headers.get("x-mallbox-signature", ""))
    return is_signed and abs(time.time() - int(sent)) <= MAX_AGE_SECONDS


class Gateway(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        is_accepted = is_from_the_mall(self.headers, body)
        if is_accepted:
            print(body.decode(), flush=True)
        self.send_response(204 if is_accepted else 401)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = HTTPServer(("127.0.0.1", 0), Gateway)
    print(server.server_port, flush=True)
    server.serve_forever()
