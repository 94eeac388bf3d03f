"""What the stub programs share: settings, the record of how they were called, the gate.

Settings are STUB_* variables; a JSON file named by STUB_CONFIG ({"STUB_START_DELAY": 1}) wins.

STUB_RECORD  a file, or an existing folder in which PROGRAM-HOST-PID.json is written: argv
             (without the interpreter), env, cwd, open file descriptors. Text that is not UTF-8
             is {"base64": "..."}.
STUB_GATE    a folder: the program writes arrived-PID there and goes on once `open` exists.
"""

import base64
import json
import os
import socket
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def setting(name, default=None):
    """The value of STUB_<name> as text, or the default."""
    path = os.environ.get("STUB_CONFIG")
    if path:
        with open(path, encoding="utf-8") as file:
            config = json.load(file)
        if f"STUB_{name}" in config:
            return str(config[f"STUB_{name}"])
    return os.environ.get(f"STUB_{name}", default)


def _text(raw):
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode("ascii")}


def _words(name):
    # From the kernel, not from Python, which changes LC_CTYPE at its start.
    with open(f"/proc/self/{name}", "rb") as file:
        return file.read().split(b"\0")[:-1]


def _descriptors():
    found = {}
    for fd in os.listdir("/proc/self/fd"):
        try:
            found[fd] = os.readlink(f"/proc/self/fd/{fd}")
        except FileNotFoundError:
            pass  # the listing's own
    return found


def record(target):
    """Writes how this program was called to a file, or into a folder; complete once it is there."""
    program, host = os.path.basename(sys.argv[0]), socket.gethostname()
    words = _words("cmdline")
    variables = [word.partition(b"=") for word in _words("environ")]
    seen = {
        "program": program,
        "argv": [program, *(_text(word) for word in words[len(words) - len(sys.argv) + 1 :])],
        "env": {os.fsdecode(name): _text(value) for name, _, value in variables},
        "cwd": os.getcwd(),
        "host": host,
        "pid": os.getpid(),
        "fds": _descriptors(),
    }
    if os.path.isdir(target):
        target = os.path.join(target, f"{program}-{host}-{os.getpid()}.json")
    part = f"{target}.{host}.{os.getpid()}"
    with open(part, "w", encoding="utf-8") as file:
        json.dump(seen, file, indent=1)
    os.replace(part, target)


def pass_gate():
    """Says that this process is here, then waits for the gate to open."""
    gate = setting("GATE")
    if not gate:
        return
    with open(os.path.join(gate, f"arrived-{os.getpid()}"), "w", encoding="ascii"):
        pass
    while not os.path.exists(os.path.join(gate, "open")):
        time.sleep(0.05)


def begin():
    """Every stub's first act."""
    target = setting("RECORD")
    if target:
        record(target)


def serve_health(port, is_healthy=lambda: True):
    """Listens on all addresses; each GET is answered with 200 while `is_healthy`, else with 503. Never returns."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if is_healthy() else 503)
            self.send_header("Content-Length", "0")
            self.end_headers()

    ThreadingHTTPServer(("0.0.0.0", port), Handler).serve_forever()
