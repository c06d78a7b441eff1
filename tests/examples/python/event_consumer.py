"""A consumer of a mall's events: checks each signature, and acts on each event once.

    MALLBOX_EVENT_SECRET=… python3 event_consumer.py seen.sqlite      prints its port, then each event once

The mall delivers at least once. The consumer stores an event's id in the transaction of whatever the event
causes, and answers after the commit: a repetition finds the id and changes nothing, before and after a crash.
"""

import hashlib
import hmac
import json
import os
import sqlite3
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET = os.environ["MALLBOX_EVENT_SECRET"].encode()
MAX_AGE_SECONDS = 300


def is_from_the_mall(headers, body):
    sent = headers.get("x-mallbox-timestamp", "")
    want = "sha256=" + hmac.new(SECRET, sent.encode() + b"." + body, hashlib.sha256).hexdigest()
    is_signed = hmac.compare_digest(want, headers.get("x-mallbox-signature", ""))
    return is_signed and abs(time.time() - int(sent)) <= MAX_AGE_SECONDS


def act_once(database, event):
    with database:  # one transaction
        new = database.execute("INSERT OR IGNORE INTO seen (id) VALUES (?)", (event["id"],)).rowcount
        if new:
            database.execute("INSERT INTO done (kind, key) VALUES (?, ?)", (event["kind"], event["key"]))
    return bool(new)


class Consumer(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        status = 401
        if is_from_the_mall(self.headers, body):
            event = json.loads(body)
            if act_once(self.server.database, event):
                print(event["kind"], event["key"], flush=True)
            status = 204
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "0"))), Consumer)
    server.database = sqlite3.connect(sys.argv[1])
    server.database.execute("CREATE TABLE IF NOT EXISTS seen (id TEXT PRIMARY KEY)")
    server.database.execute("CREATE TABLE IF NOT EXISTS done (kind TEXT, key TEXT)")
    print(server.server_port, flush=True)
    server.serve_forever()
