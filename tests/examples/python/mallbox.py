"""A client of `mallbox fixture`, a whole mall for a test. Copy this file: it needs Python 3.8 or later and nothing else."""

import contextlib
import json
import os
import subprocess
import tempfile
import urllib.error
import urllib.request

# The mall is on this machine: never by way of a proxy.
_open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


class MallboxError(Exception):
    """The fixture did not start, or something was refused that a test counts on."""


class Answer(dict):
    """The whole envelope, `{"success": …, "data": …}` or `{"success": …, "code": …}`, and its HTTP status."""

    def __init__(self, status, envelope):
        super().__init__(envelope)
        self.status = status

    @property
    def data(self):
        """What was asked for; raises what was said instead."""
        if self.get("success") is not True:
            raise MallboxError(f"{self.status} {dict(self)}")
        return self.get("data")


class Mall:
    """One mall: the API that is under test, and the controls that a test holds it by."""

    def __init__(self, line):
        self.operator = line["operatorToken"]
        self._api, self._control = line["api"], line["control"]

    def call(self, method, path, token=None, body=None):
        """A call of the API. A refusal is an answer, too: its `code` says why."""
        return _request(method, self._api + path, token, body)

    def control(self, method, path, **body):
        """A call of the controls: its data. Raises when it is refused."""
        return _request(method, self._control + path, None, body or None).data

    @contextlib.contextmanager
    def another(self, **options):
        """A mall more in the same process, made in milliseconds. It ends with the block."""
        mall = Mall(self.control("POST", "/malls", **options))
        try:
            yield mall
        finally:
            mall.control("DELETE", "")

    def log_in(self, phone):
        return self.control("POST", "/login", phone=phone)["token"]

    def advance(self, by):
        """Moves the clock, `"1h 30m"`. Whatever is due by then has been done when this returns."""
        self.control("POST", "/clock/advance", by=by)


@contextlib.contextmanager
def start(*flags):
    """Runs `mallbox fixture`, by $MALLBOX or from the PATH, and gives its first mall. It ends with the block."""
    command = [os.environ.get("MALLBOX", "mallbox"), "fixture", *flags]
    pipe = subprocess.PIPE
    with tempfile.TemporaryFile() as errors:
        # Leaving `with Popen` closes its standard input, which ends it.
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors) as process:
            line = process.stdout.readline()
            if line:
                yield Mall(json.loads(line))
        if not line:
            errors.seek(0)
            raise MallboxError(f"mallbox fixture did not start:\n{errors.read().decode()}")


def _request(method, url, token, body):
    headers = {"content-type": "application/json", **({"authorization": token} if token else {})}
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, content, headers, method=method)
    try:
        with _open(request, timeout=30) as reply:
            return Answer(reply.status, json.load(reply))
    except urllib.error.HTTPError as refusal:
        with refusal:
            return Answer(refusal.code, json.load(refusal))
