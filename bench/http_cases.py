"""Reads the requests of tests/http/requests/; tests/http/cases.h documents the format."""
import glob
import os
import re

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "http", "requests")


def unescape(text):
    out = b""
    at = 0
    while at < len(text):
        if text[at] != "\\":
            out += text[at].encode("latin-1", "strict") if ord(text[at]) < 256 else text[at].encode()
            at += 1
        elif text[at + 1] == "x":
            out += bytes([int(text[at + 2:at + 4], 16)])
            at += 4
        elif text[at + 1] == "{":
            times, what = re.match(r"\\\{(\d+):([^}]*)\}", text[at:]).groups()
            out += int(times) * unescape(what)
            at = text.index("}", at) + 1
        else:
            out += {"r": b"\r", "n": b"\n", "t": b"\t", "0": b"\0"}.get(text[at + 1], text[at + 1].encode())
            at += 2
    return out


def cases(kind):
    """Yields (name, bytes) of each case of a kind: accepted, refused."""
    for path in sorted(glob.glob(os.path.join(FOLDER, kind, "*.txt"))):
        name = None
        with open(path, encoding="latin-1") as file:
            for line in [*file.read().split("\n"), ""]:
                if line.startswith("== "):
                    name, sent = line[3:], b""
                elif not line and name:
                    yield name, sent
                    name = None
                elif name and not line.startswith(">"):
                    sent += unescape(line)
