"""A local hub of models: hub_server.py FOLDER PORT-FILE

Serves FOLDER/ORG/NAME/REVISION/... at /ORG/NAME/resolve/REVISION/..., and also at /ORG/NAME/resolve/COMMIT/... if
REVISION/.commit exists. FOLDER/control.json is read for each request:

    "gated"   error code of requests without a token
    "cut"     number of bytes after which weights end, unless a later range is requested
    "crumbs"  maximum number of bytes of weights in one answer
    "etag"    false hash of weights
    "mute"    no header contains the commit
    "away"    weights are redirected to another host name of this machine
    "down"    every answer is 503

FOLDER/log has one line for each request: path, first byte, token. Exits when stdin is closed.
"""
import hashlib
import http.server
import json
import os
import sys
import threading

root = sys.argv[1]


def place(path):
    """Returns the file and the commit of a path, or None with an error code."""
    parts = path.lstrip("/").split("/")
    if parts[0] == "elsewhere":
        parts = parts[1:]
    if len(parts) < 5 or parts[2] != "resolve" or ".." in parts:
        return None, "", "RepoNotFound"
    model = os.path.join(root, parts[0], parts[1])
    if not os.path.isdir(model):
        return None, "", "RepoNotFound"
    for revision in sorted(os.listdir(model)):
        note = os.path.join(model, revision, ".commit")
        commit = open(note, encoding="utf-8").read().strip() if os.path.exists(note) else ""
        if parts[3] in (revision, commit):
            file = os.path.join(model, revision, *parts[4:])
            return (file, commit, "") if os.path.isfile(file) else (None, commit, "EntryNotFound")
    return None, "", "RevisionNotFound"


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def log_message(self, *_):
        pass

    def refuse(self, status, code):
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.end_headers()

    def do_GET(self):
        with open(os.path.join(root, "control.json"), encoding="utf-8") as file:
            control = json.load(file)
        first = int(self.headers.get("Range", "bytes=0-")[6:].rstrip("-"))
        token = self.headers.get("Authorization", "-")
        with open(os.path.join(root, "log"), "a", encoding="utf-8") as log:
            print(self.path, first, token, file=log)
        path, commit, missing = place(self.path)
        if control.get("down"):
            return self.refuse(503, "")
        if control.get("gated") and token == "-" and not self.path.startswith("/elsewhere"):
            return self.refuse(401, control["gated"])
        if missing:
            return self.refuse(404, missing)
        with open(path, "rb") as file:
            body = file.read()
        if first and first >= len(body):
            return self.refuse(416, "")
        weights = path.endswith(".safetensors")
        moved = weights and control.get("away") and not self.path.startswith("/elsewhere")
        self.send_response(302 if moved else 206 if first else 200)
        if commit and not control.get("mute"):
            self.send_header("X-Repo-Commit", commit)
        if weights:
            self.send_header("X-Linked-ETag", f'"{control.get("etag") or hashlib.sha256(body).hexdigest()}"')
        if moved:
            self.send_header("Location", f"http://localhost:{self.server.server_port}/elsewhere{self.path}")
            self.end_headers()
            return None
        self.send_header("Content-Length", str(len(body) - first))
        self.end_headers()
        if weights and control.get("crumbs"):
            body = body[:first + control["crumbs"]]
        last = control["cut"] if weights and first < control.get("cut", 0) else len(body)
        return self.wfile.write(body[first:last])


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
with open(sys.argv[2] + ".new", "w", encoding="utf-8") as out:
    print(server.server_port, file=out)
os.replace(sys.argv[2] + ".new", sys.argv[2])
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
os._exit(0)
