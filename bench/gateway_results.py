#!/usr/bin/env python3
"""Mutates results of a server behind the gateway, and checks that every call ends and that all output to the client is
valid JSON of the types that MCP requires.

    python3 bench/gateway_results.py WHICHTOOL [--count N] [--seed N]

The script starts `whichtool mcp` with itself as the only server. The server answers each call with a mutated result or
error: bytes, tokens, types, nesting, surrogates, truncation. There is one call at a time. Run it on a build with
sanitizers to find memory errors as well. Exits with 1 if a call fails a check or does not end within 20 s.
"""
import argparse
import json
import os
import pathlib
import random
import re
import select
import subprocess
import sys
import tempfile

WAIT_S = 20
TEXT = {"type": "text", "text": "a line \u00e9\U0001f600", "annotations": {"audience": ["user"], "priority": 0.5}}
SOUND = [
    {"result": {"content": [TEXT]}},
    {"result": {"content": [TEXT, {"type": "image", "data": "aGk=", "mimeType": "image/png"}], "isError": True}},
    {"result": {"content": [{"type": "resource", "resource": {"uri": "a:b", "text": "x"}}], "_meta": {"a": [1, 2.5]}}},
    {"result": {"content": [{"type": "resource_link", "uri": "a:b", "name": "n"}],
                "structuredContent": {"x": [-1, 0, 12345678901234567890, True, None, "y"]}}},
    {"error": {"code": -5, "message": "not today", "data": {"why": [1, "2"]}}},
]
TOKENS = [b'"', b"{", b"}", b"[", b"]", b",", b":", b"null", b"true", b"-0", b"1e400", b"9223372036854775808", b"0.1",
          b"garbage", b'"\\ud800"', b'"\\udc00\\ud800"', b'"\\u0000"', b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\x80", b"\x00",
          b"\x1f", b"\x7f", b"[" * 70, b"]" * 70, b'{"a":' * 70, b"1" * 5000, b"01", b"+1", b"NaN", b"\\", b"[1,2]", b"{}",
          b'"content"', b'"type":"text"', b'"\\u0063ontent":7,', "\u2028".encode()]


def mutate(draw, text):
    """Mutates the text after the id, without line ends, which would only begin another message."""
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        at = draw.randrange(len(text) + 1)
        kind = draw.randrange(6)
        if kind == 0 and at < len(text):
            text = text[:at] + bytes([draw.randrange(256)]) + text[at + 1:]
        elif kind == 1:
            text = text[:at] + draw.choice(TOKENS) + text[at:]
        elif kind == 2:
            text = text[:at] + text[at + draw.randrange(1, 9):]
        elif kind == 3:
            text = text[:at] if draw.random() < .3 else text
        elif kind == 4:
            end = min(len(text), at + draw.randrange(1, 40))
            text = text[:end] + text[at:]
        else:
            values = list(re.finditer(rb'"[^"\\]*"|-?\d+(\.\d+)?|true|null|\{\}|\[[^\[\]]*\]', text))
            if values:
                value = draw.choice(values)
                text = text[:value.start()] + draw.choice(TOKENS) + text[value.end():]
    return text.replace(b"\n", b" ").replace(b"\r", b" ")


def serve(seed):
    draw = random.Random(seed)
    out = sys.stdout.buffer
    for line in sys.stdin:
        request = json.loads(line)
        method, number = request.get("method"), request.get("id")
        if number is None:
            continue
        head = b'{"jsonrpc":"2.0","id":%d,' % number
        if method == "tools/call":
            answer = mutate(draw, json.dumps(draw.choice(SOUND), ensure_ascii=draw.random() < .5).encode()[1:])
        elif method == "initialize":
            answer = (b'"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"m",'
                      b'"version":"1"}}}')
        elif method == "tools/list":
            answer = b'"result":{"tools":[{"name":"t","description":"d","inputSchema":{"type":"object"}}]}}'
        else:
            answer = b'"error":{"code":-32601,"message":"no such method"}}'
        out.write(head + answer + b"\n")
        out.flush()


def refuse_constant(word):
    raise ValueError(word)


def nesting(value):
    deepest, level = 0, [value]
    while level:
        deepest += 1
        level = [inner for outer in level if isinstance(outer, (dict, list))
                 for inner in (outer.values() if isinstance(outer, dict) else outer)]
    return deepest


BLOCKS = {"text": ("text",), "image": ("data", "mimeType"), "audio": ("data", "mimeType"), "resource_link": ("uri", "name"),
          "resource": ()}


def why_unsound(line, number):
    """Returns the part of the answer that a strict client would reject; None if it is valid."""
    try:
        text = line.decode("utf-8")
        message = json.loads(text, parse_constant=refuse_constant)
        json.dumps(message, ensure_ascii=False).encode("utf-8")
    except ValueError as error:
        return str(error)
    if nesting(message) > 70:
        return "nested too deep"
    if message.get("jsonrpc") != "2.0" or message.get("id") != number:
        return "another message"
    error = message.get("error")
    if error is not None:
        sound = isinstance(error, dict) and type(error.get("code")) is int and isinstance(error.get("message"), str)
        return None if sound else "an error of another type"
    result = message.get("result")
    if not isinstance(result, dict) or not isinstance(result.get("content"), list):
        return "a result without content"
    for block in result["content"]:
        members = BLOCKS.get(block.get("type")) if isinstance(block, dict) and isinstance(block.get("type"), str) else None
        if members is None or not all(isinstance(block.get(member), str) for member in members):
            return "a block of another type"
        if block["type"] == "resource":
            inside = block.get("resource")
            if not isinstance(inside, dict) or not isinstance(inside.get("uri"), str) or not (
                    isinstance(inside.get("text"), str) or isinstance(inside.get("blob"), str)):
                return "a resource of another type"
    if not isinstance(result.get("isError", False), (bool, type(None))):
        return "isError of another type"
    if not isinstance(result.get("structuredContent", {}), dict):
        return "structured content of another type"
    return None


class Client:
    def __init__(self, command, environment):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self.rest = b""
        self.last = 0

    def tell(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def read_line(self):
        while b"\n" not in self.rest:
            if not select.select([self.process.stdout], [], [], WAIT_S)[0]:
                return None
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            if not piece:
                return None
            self.rest += piece
        line, self.rest = self.rest.split(b"\n", 1)
        return line

    def ask(self, method, params):
        """Reads the line of the answer, skipping notifications of the gateway."""
        self.last += 1
        self.tell({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        while True:
            line = self.read_line()
            if line is None or not line.startswith(b'{"jsonrpc":"2.0","method":'):
                return line


def play(options, folder):
    (folder / "servers.json").write_text(json.dumps({"mcpServers": {"m": {
        "command": sys.executable, "args": [os.path.abspath(__file__), "--serve", str(options.seed)]}}}))
    client = Client([options.whichtool, "-s", str(folder / "store.wt"), "-q", "mcp", "--model", "", "--face", "direct",
                     "--servers", str(folder / "servers.json")], {**os.environ, "HOME": str(folder)})
    client.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                              "clientInfo": {"name": "bench", "version": "1"}})
    client.tell({"jsonrpc": "2.0", "method": "notifications/initialized"})
    for _ in range(100):
        if b'"m__t"' in client.ask("tools/list", {}):
            break
        select.select([], [], [], .1)
    passed = refused = 0
    failures = []
    for _ in range(options.count):
        line = client.ask("tools/call", {"name": "m__t", "arguments": {}})
        why = "no answer" if line is None else why_unsound(line, client.last)
        if why:
            failures.append((client.last, why, (line or b"")[:300]))
        if line is None:
            break
        ours = b"the server m sent" in line
        refused += ours
        passed += not ours
    client.process.stdin.close()
    status = client.process.wait(60)
    for failure in failures[:20]:
        print("failure:", *failure)
    print(f"{passed + refused} mutated results, seed {options.seed}: {passed} forwarded, {refused} ended their call, "
          f"{len(failures)} failures, exit status {status}")
    return 1 if failures or status != 0 or passed + refused < options.count else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("whichtool", nargs="?")
    parser.add_argument("--count", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve)
        return 0
    if not options.whichtool:
        parser.error("WHICHTOOL is missing")
    with tempfile.TemporaryDirectory() as folder:
        return play(options, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
