#!/usr/bin/env python3
"""static_server.py FOLDER [--no-range] [--no-etag] [--put] [--port N]: serves a folder like a static file server, and counts bytes.

Prints its address. GET /_stats returns the bytes sent by kind of file, the bytes of the distinct manifests sent, and the
number of requests by status. --no-range ignores Range, --no-etag sends Last-Modified only, --put accepts PUT and DELETE.
"""
import http.server, json, os, sys, threading
from email.utils import formatdate, parsedate_to_datetime

FOLDER = sys.argv[1]
RANGES, ETAGS, PUTS = "--no-range" not in sys.argv, "--no-etag" not in sys.argv, "--put" in sys.argv
LOCK = threading.Lock()
SENT, MANIFESTS, STATUSES = {"manifest": 0, "base": 0, "changes": 0, "file": 0}, {}, {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def path_of(self):
        name = self.path.strip("/")
        return None if "/" in name or name.startswith(".") or not name else os.path.join(FOLDER, name)

    def answer(self, status, body=b"", headers=()):
        with LOCK:
            STATUSES[status] = STATUSES.get(status, 0) + 1
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            return 0
        return len(body)

    def do_GET(self):
        if self.path == "/_stats":
            with LOCK:
                body = {"sent": SENT, "distinct_manifests": sum(MANIFESTS.values()), "statuses": STATUSES}
            return self.answer(200, json.dumps(body).encode())
        path = self.path_of()
        try:
            with open(path, "rb") as file:
                info, body = os.fstat(file.fileno()), file.read()
        except (OSError, TypeError):
            return self.answer(404, b"not found")
        etag = '"%x-%x"' % (info.st_mtime_ns, info.st_size)
        headers = [("ETag", etag)] if ETAGS else [("Last-Modified", formatdate(info.st_mtime, usegmt=True))]
        since = self.headers.get("If-Modified-Since")
        if (ETAGS and self.headers.get("If-None-Match") == etag) or (
                not ETAGS and since and parsedate_to_datetime(since).timestamp() >= int(info.st_mtime)):
            return self.answer(304, b"", headers)
        wanted, status = self.headers.get("Range"), 200
        whole = len(body)
        if RANGES and wanted:
            first, last = wanted.removeprefix("bytes=").split("-")
            if int(first) >= whole:
                return self.answer(416)
            body, status = body[int(first):int(last) + 1], 206
            headers.append(("Content-Range", "bytes %s-%d/%d" % (first, int(first) + len(body) - 1, whole)))
        sent = self.answer(status, body, headers)
        kind = os.path.basename(path).split("-")[0].split(".")[0]
        with LOCK:
            SENT[kind] = SENT.get(kind, 0) + sent
            if kind == "manifest":
                MANIFESTS[etag] = len(body)

    def do_PUT(self):
        path, body = self.path_of(), self.rfile.read(int(self.headers["Content-Length"]))
        if not PUTS or not path:
            return self.answer(405)
        with open(path + ".new", "wb") as file:
            file.write(body)
        os.rename(path + ".new", path)
        return self.answer(201)

    def do_DELETE(self):
        path = self.path_of()
        if not PUTS or not path or not os.path.exists(path):
            return self.answer(404)
        os.remove(path)
        return self.answer(204)


PORT = int(sys.argv[sys.argv.index("--port") + 1]) if "--port" in sys.argv else 0
server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
print("http://127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
