#!/usr/bin/env python3
"""A proxy that applies a segment of usage and loses the writer before its answer arrives.

    python3 cutting_proxy.py WRITER PID

Prints its address, and forwards each POST to the address WRITER. When the writer has answered the first one, the proxy kills
the process PID with SIGKILL, writes the answer to the file `cut`, and closes the connection without an answer. Later
requests go to the address in the file `writer`."""
import http.server
import os
import signal
import sys
import urllib.error
import urllib.request


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        first = not os.path.exists("cut")
        with open("writer", encoding="utf-8") as file:
            address = sys.argv[1] if first else file.read().strip()
        request = urllib.request.Request(address + self.path, body, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request) as reply:
                status, answer = reply.status, reply.read()
        except urllib.error.HTTPError as error:
            status, answer = error.code, error.read()
        except OSError as error:
            status, answer = 503, str(error).encode()
        with open("cut" if first else "passed", "wb") as file:
            file.write(b"%d " % status + answer)
        if first:
            os.kill(int(sys.argv[2]), signal.SIGKILL)
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("http://127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
