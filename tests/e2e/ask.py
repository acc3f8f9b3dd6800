"""ask.py: sends one HTTP request, with the standard library only.

    ask.py URL METHOD PATH [BODY] [FIELD: VALUE ...]      URL: http://HOST:PORT or unix:PATH; BODY: "" for none, @FILE for a file

Prints the status, then the body. Fields are sent unchanged; Host may be one of them."""
import http.client
import socket
import sys

url, method, path, *rest = sys.argv[1:]
body = rest[0] if rest else ""
if body.startswith("@"):
    with open(body[1:], "rb") as file:
        body = file.read()
fields = dict(field.split(": ", 1) for field in rest[1:])


class Unix(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(url[len("unix:"):])


if url.startswith("unix:"):
    connection = Unix("localhost", timeout=60)
else:
    connection = http.client.HTTPConnection(url.split("//")[1], timeout=60)
connection.request(method, path, body or None, fields)
answer = connection.getresponse()
sys.stdout.write(f"{answer.status}\n{answer.read().decode()}\n")
