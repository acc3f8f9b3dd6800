"""Tests that one client cannot affect another: two clients with keys of their own before two servers, one of which never
answers.

    python3 shares.py URL KEY-A KEY-B CALLS SESSIONS

A starts CALLS calls of the server `mute` and SESSIONS sessions; B has a session, a waiting call, and calls of the server
`home`. The file `called` has a line for each call of `mute`, and the file `cancelled` a line for each cancelled call.
Prints a line for each figure, and finally `N crossed`, the number of B's operations that A disturbed.
"""
import http.client
import json
import select
import sys
import time
from urllib.parse import urlsplit

url, key_a, key_b, calls, sessions = sys.argv[1:]
calls, sessions = int(calls), int(sessions)
place = urlsplit(url)
fields = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
crossed = []


def check(what, holds):
    if not holds:
        crossed.append(what)
        print("crossed:", what)


def message(method, params=None, identity=1):
    return json.dumps({"jsonrpc": "2.0", "id": identity, "method": method, "params": params or {}})


class Client:
    """One connection of a legacy client."""

    def __init__(self, key):
        self.connection = http.client.HTTPConnection(place.hostname, place.port, timeout=120)
        self.fields = {**fields, "Authorization": f"Bearer {key}"}

    def initialize(self):
        self.fields.pop("Mcp-Session-Id", None)
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        status, answer, head = self.ask(message("initialize", params))
        if status == 200:
            self.fields["Mcp-Session-Id"] = head["Mcp-Session-Id"]
        return status

    def ask(self, body):
        self.connection.request("POST", "/mcp/all", body, self.fields)
        answer = self.connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers

    def begin(self, body):
        """Sends a request without waiting for the answer."""
        self.connection.request("POST", "/mcp/all", body, self.fields)


def call(name):
    return message("tools/call", {"name": name, "arguments": {"title": "x"}})


def modern_call(key, name):
    """Opens a connection with a modern call, without waiting for the answer."""
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    body = message("tools/call", {"name": name, "arguments": {"title": "x"}, "_meta": meta})
    own = http.client.HTTPConnection(place.hostname, place.port, timeout=120)
    own.request("POST", "/mcp/all", body, {**fields, "Authorization": f"Bearer {key}", "Mcp-Method": "tools/call",
                                           "MCP-Protocol-Version": "2026-07-28", "Mcp-Name": name})
    return own


def is_waiting(connection):
    return not select.select([connection.sock], [], [], 0)[0]


def latencies(client, count=20):
    """Returns the sorted milliseconds of calls of `home`."""
    out = []
    for _ in range(count):
        began = time.monotonic()
        status, answer, _ = client.ask(call("home__read_note"))
        out.append((time.monotonic() - began) * 1000)
        check("a call of the other server", status == 200 and "home: read_note x" in answer)
    return sorted(out)


def lines_of(path):
    try:
        return len(open(path, encoding="utf-8").readlines())
    except FileNotFoundError:
        return 0


def wait_for_refusals(flood):
    """Waits until each call of the flood is refused or has reached `mute`. Returns the number of calls that wait.

    A waiting call either has reached `mute` or will be refused. Once as many calls wait as have reached `mute`, no
    refusal is still to come, and both numbers stay as they are."""
    while (reached := lines_of("called") - 1) != (count := sum(map(is_waiting, flood))):  # the first call is B's
        assert reached < count
        time.sleep(0.01)
    return count


b, waiting_b, a = Client(key_b), Client(key_b), Client(key_a)
check("the session begins", b.initialize() == 200)
waiting_b.fields["Mcp-Session-Id"] = b.fields["Mcp-Session-Id"]
for _ in range(1000):  # until both servers have listed their tools
    if "mute__read_note" in (listed := b.ask(message("tools/list"))[1]) and "home__read_note" in listed:
        break
    time.sleep(0.1)
before = latencies(b)
waiting_b.begin(call("mute__read_note"))
while lines_of("called") < 1:
    time.sleep(0.01)

check("A's session begins", a.initialize() == 200)
flood = []
for i in range(calls):
    if i % 2:
        flood.append(modern_call(key_a, "mute__read_note"))
    else:
        one = Client(key_a)
        one.fields["Mcp-Session-Id"] = a.fields["Mcp-Session-Id"]
        one.begin(call("mute__read_note"))
        flood.append(one.connection)
during = latencies(b)
check("B's call that waits, during A's calls", is_waiting(waiting_b.connection))
running = wait_for_refusals(flood)
check("A's calls are refused beyond its share", calls < 200 or running < calls)

began = time.monotonic()
statuses = [a.initialize() for _ in range(sessions)]
print(f"{sessions} sessions in {time.monotonic() - began:.1f} s")
check("A's sessions begin", set(statuses) <= {200})
check("B's session", b.ask(message("tools/list"))[0] == 200)
check("B's call that waits, after A's sessions", is_waiting(waiting_b.connection))
after = latencies(b)

check("A's calls wait, after its sessions", sum(map(is_waiting, flood)) == running)
print(f"{running} of {calls} calls of A wait")
cancelled = lines_of("cancelled")
for one in flood:
    one.close()
while lines_of("cancelled") - cancelled < running:
    time.sleep(0.01)
check("each call of A is cancelled when A goes", lines_of("cancelled") - cancelled == running)
check("B's call that waits, after A has gone", is_waiting(waiting_b.connection))
for name, times in ("before", before), ("during A's calls", during), ("after A's sessions", after):
    print(f"B's calls {name}: median {times[len(times) // 2]:.1f} ms, at most {times[-1]:.1f} ms")
print(len(crossed), "crossed")
