#!/usr/bin/env python3
"""Servers with one fault each, behind the gateway: a fault in an item costs that item, a fault of a server costs nothing
else, and what works directly works through the gateway.

    python3 bench/gateway_faults.py WHICHTOOL [--only NAME ...] [--group GROUP] [--quick] [--jobs N]

The servers are the rows of bench/mcp/faults.jsonl, run by bench/mcp/faulty_server.py. Each is placed beside a good server
behind a gateway of its own, and tested in two faces with a legacy and a modern client:

    every list is valid by the protocol's schema of the client's era (bench/mcp/strict_lists.py), and names are unique
    the good server's tools are listed, and callable while the faulty server is busy
    `left` and `right` of the faulty server are listed and callable; `odd` is listed and callable, or left out, as `odd` of
    the row says ("offered", "left out", "either")
    a call of `fails` ends with an error, and the server goes on

A plain client without the gateway opens the same servers, for comparison. --quick: rows without long waits, all
behind one gateway, most over HTTP. Exit status 1 if a row fails.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "mcp"))
from faulty_server import LISTS, NAMES, read_rows  # noqa: E402
from sdk_matrix import Client, Failed  # noqa: E402
from strict_lists import check_result  # noqa: E402

SERVER = pathlib.Path(__file__).resolve().parent / "mcp" / "faulty_server.py"
GOOD = "good"
SETTLE_S = 120  # until a server is listed
ANSWER_S = 120
SILENCE = "nothing is answered"
PAUSE_S = 0.2
PAGES_MAX = 20  # read by the plain client
CELLS = [(face, era) for face in ("direct", "search") for era in ("legacy", "modern")]


# ---------------------------------------------------------------- clients


class ManyCalls(Client):
    """A client with several parallel requests; early answers are kept."""

    def __init__(self, command, era):
        self.kept = {}
        super().__init__(command, era)

    def finish(self, number, limit_s=ANSWER_S):
        until = time.monotonic() + limit_s
        while number not in self.kept:
            try:
                line = self.lines.get(timeout=max(0.01, until - time.monotonic()))
            except queue.Empty:
                raise Failed(SILENCE) from None
            if line is None:
                self.lines.put(None)
                raise Failed("it ended")
            with contextlib.suppress(ValueError):  # a program that prints text before its messages
                message = json.loads(line)
                if isinstance(message, dict) and "method" not in message:
                    self.kept[message.get("id")] = message
        message = self.kept.pop(number)
        if "error" in message:
            raise Failed(str(message["error"]))
        return message["result"]


class PlainHttp:
    """A minimal legacy client over HTTP."""

    def __init__(self, port, path):
        self.port, self.path, self.session, self.last = port, path, None, 0
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                    "clientInfo": {"name": "plain", "version": "1"}})

    def post(self, path, body):
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=SETTLE_S)) as connection:
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        if answer.status in (307, 308):
            return self.post(answer.headers["Location"], body)
        self.session = answer.headers.get("Mcp-Session-Id") or self.session
        if answer.status != 200:
            raise Failed(f"HTTP status {answer.status}")
        return text

    def request(self, method, params):
        self.last += 1
        text = self.post(self.path, json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}))
        lines = [line[5:] for line in text.splitlines() if line.startswith("data:")] or [text]
        for message in map(json.loads, lines):
            if message.get("id") == self.last and "result" in message:
                return message["result"]
        raise Failed(text[:100])

    def close(self):
        pass


def open_gateway(options, folder, entries, face, era, name="t"):
    configuration = folder / f"{name}.json"
    configuration.write_text(json.dumps({"mcpServers": entries}))
    return ManyCalls([options.whichtool, "-q", "-s", str(folder / f"{name}.wt"), "mcp", "--model", "", "--face", face,
                      "--list-wait", "3", "--servers", str(configuration)], era)


def text_of(result):
    return "".join(part.get("text", "") for part in result["content"])


class View:
    """A client's view of the servers: through a face of the gateway, or of one server directly ("plain")."""

    def __init__(self, client, face, era):
        self.client, self.face, self.era = client, face, era
        self.items, self.complaints, self.servers, self.good = {}, [], [], {}
        self.settled_at = time.monotonic() + SETTLE_S

    def read_lists(self):
        """Reads all lists, and keeps what a strict client refuses in them as (item, complaint)."""
        self.items, self.complaints = {}, []
        for method, member in LISTS.items():
            self.items[member], cursor = [], None
            for _ in range(PAGES_MAX):
                result = self.client.request(method, {"cursor": cursor} if cursor else {})
                self.complaints += check_result(result, member, self.era)
                self.items[member] += result[member]
                cursor = result.get("nextCursor")
                if not cursor:
                    break
        key = collections.Counter(tool.get("name") for tool in self.items["tools"])
        self.complaints += [({"name": name}, "two tools have this name") for name, count in key.items() if count > 1]

    def tools_of(self, server):
        """Returns tools by the end of their names, "left", "right" or another one: (name, tool to call them by)."""
        if self.face == "plain":
            return {tool["name"]: (tool["name"], None) for tool in self.items["tools"]
                    if isinstance(tool, dict) and isinstance(tool.get("name"), str)}
        if self.face == "direct":
            found = [(tool["name"], None) for tool in self.items["tools"]]
        else:
            hits = []
            for query in ("left right", f"the odd tool of {server}"):
                asked = {"query": query, "provider": server, "k": 10, "detail": "brief"}
                result = self.client.request("tools/call", {"name": "search_tools", "arguments": asked})
                hits += result.get("structuredContent", {}).get("tools", [])
            hits += [copy for hit in hits for copy in hit.get("also", [])]
            found = [(hit["name"], hit["call_with"]) for hit in hits]
        return {name[len(server) + 2:]: (name, by) for name, by in found if name.startswith(server + "__")}

    def call(self, tool, arguments=None, meanwhile=lambda: None):
        name, by = tool
        params = {"name": name, "arguments": arguments or {}}
        if by:
            params = {"name": by, "arguments": params}
        if isinstance(self.client, PlainHttp):
            result = self.client.request("tools/call", params)
        else:
            number = self.client.begin("tools/call", params)
            meanwhile()
            result = self.client.finish(number)
        if result.get("isError"):
            raise Failed(text_of(result))
        return text_of(result)

    def cancel(self, tool, meanwhile):
        name, by = tool
        params = {"name": name, "arguments": {}}
        number = self.client.begin("tools/call", {"name": by, "arguments": params} if by else params)
        meanwhile()
        self.client.cancel(number)


# ---------------------------------------------------------------- checks


def expected_tools(row):
    """Returns the tools that must be there, and those that may be."""
    must = set(row.get("sees", NAMES))
    if row.get("kind", "tools") == "tools" and "odd" in row and row["odd"] != "offered":
        must.discard("odd")
    return must, must | ({"odd"} if row.get("odd") == "either" else set())


def concerns(item, server):
    """True if an item of a list is of the server."""
    item = item if isinstance(item, dict) else {"name": str(item)}
    return any(text.startswith((f"{server}__", f"{server}-", f"faults://{server}/"))
               for text in (str(item.get(key, "")) for key in ("name", "uri", "uriTemplate")))


def count_items(row, view):
    """Returns the number of items of the row's kind that are listed, and the numbers that are right."""
    kind = row.get("kind", "tools")
    if kind == "tools" or "odd" not in row:
        return 0, (0,)
    right = {"offered": (3,), "left out": (2,), "either": (2, 3)}[row["odd"]]
    return sum(concerns(item, row["name"]) for item in view.items[kind]), right


def settle(view, row):
    """Reads the lists until the expected items are there, or the gateway had SETTLE_S seconds. Returns the tools by their
    own names."""
    while True:
        if not view.items:
            view.read_lists()
        tools = view.tools_of(row["name"])
        tools = {name if name in ("left", "right") else "odd": tool for name, tool in tools.items()}
        must, _ = expected_tools(row)
        count, right = count_items(row, view)
        if (must <= tools.keys() and count in right) or time.monotonic() > view.settled_at:
            return tools
        time.sleep(PAUSE_S)
        view.items = {}


def check_lists(row, view, tools):
    must, may = expected_tools(row)
    for item, complaint in view.complaints:
        if item is None or concerns(item, row["name"]) or not any(concerns(item, other) for other in view.servers):
            yield f"not valid: {complaint}"
    yield from (f"{name} is not listed" for name in sorted(must - tools.keys()))
    yield from (f"{name} is listed" for name in sorted(tools.keys() - may))
    count, right = count_items(row, view)
    if count not in right:
        yield f"{count} of its {row['kind']} are listed"


def check_call(row, view, tools, name, meanwhile):
    """Calls a tool, a second time where a lost session leaves open whether the first call was executed."""
    why = None
    for _ in range(2 if "lost" in row.get("session", {}) else 1):
        try:
            text = view.call(tools[name], row.get("arguments"), meanwhile)
        except Failed as error:
            why = f"{name}: {error}"
            continue
        if name in row.get("fails", []):
            return f"{name} succeeds: {text[:80]}"
        return None if text == f"{row['name']}: {name}" else f"{name} gives {text[:80]!r}"
    return None if name in row.get("fails", []) and SILENCE not in why and "it ended" not in why else why


def check_calls(row, view, tools):
    def call_good():
        if view.face != "plain":
            view.call(view.good["left"])

    order = [name for name in ("left", "right", "odd") if name in tools]
    for name in order + (["left"] if row.get("fails") and "left" in tools else []):
        if name in row.get("cancels", []):
            view.cancel(tools[name], call_good)
            continue
        complaint = check_call(row, view, tools, name, call_good)
        if complaint:
            yield complaint
    try:
        call_good()
    except Failed as error:
        yield f"the good server's tool: {error}"


def check_row(row, view):
    """Returns what is wrong with a row as this client sees it."""
    try:
        tools = settle(view, row)
        return [*check_lists(row, view, tools), *check_calls(row, view, tools)]
    except (Failed, KeyError, OSError, TypeError, ValueError) as error:
        return [f"{type(error).__name__}: {error}"]


def entry_of(row, port):
    entry = row.get("entry", {})
    if row.get("over") == "http":
        return entry | {"type": "http", "url": f"http://127.0.0.1:{port}/{row['name']}"}
    return entry | {"command": sys.executable, "args": [str(SERVER), row["name"]]}


def works_directly(row, port):
    """True if a plain client can call every tool that the row says is there."""
    client = None
    try:
        if row.get("over") == "http":
            client = PlainHttp(port, f"/{row['name']}")
        else:
            client = ManyCalls([sys.executable, str(SERVER), row["name"]], "legacy")
        view = View(client, "plain", "legacy")
        view.read_lists()
        tools = {name if name in ("left", "right") else "odd": tool for name, tool in view.tools_of(row["name"]).items()}
        must, _ = expected_tools(row)
        called = [name for name in sorted(must) if name not in row.get("fails", []) + row.get("cancels", [])]
        return bool(called) and all(view.call(tools[name], row.get("arguments")) == f"{row['name']}: {name}" for name in called)
    except (Failed, KeyError, OSError, TypeError, ValueError, AttributeError):
        return False
    finally:
        if client:
            client.close()


def check_cell(options, rows, face, era, port):
    """Checks rows behind one gateway. Returns a list of complaints for each."""
    entries = {GOOD: entry_of({"name": GOOD}, port)}
    for row in rows:
        entries[row["name"]] = entry_of(row, port)
    with tempfile.TemporaryDirectory() as folder:
        try:
            client = open_gateway(options, pathlib.Path(folder), entries, face, era)
        except (Failed, OSError) as error:
            return [[f"the gateway does not open: {error}"] for _ in rows]
        try:
            view = View(client, face, era)
            view.servers = list(entries)
            view.good = settle(view, {"name": GOOD})
            missing = set(NAMES) - view.good.keys()
            return [[f"the good server's {sorted(missing)}"] if missing else check_row(row, view) for row in rows]
        except (Failed, KeyError, OSError, TypeError, ValueError) as error:
            return [[f"{type(error).__name__}: {error}"] for _ in rows]
        finally:
            client.close()


# ---------------------------------------------------------------- runs


@contextlib.contextmanager
def http_servers(folder):
    port_file = pathlib.Path(folder) / "port"
    command = [sys.executable, str(SERVER), "--http", str(port_file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        while not port_file.exists() and process.poll() is None:
            time.sleep(0.02)
        yield int(port_file.read_text())


def run_quick(options, rows, port):
    """Checks all rows in one face, and those over HTTP, which need no process each, in the other one, too."""
    rows = [row | {"over": "http"} if row["group"] in ("definitions", "cursors") else row for row in rows]
    rows = [row for row in rows if not row.get("slow") and row["name"] != GOOD]
    over_http = [row for row in rows if row.get("over") == "http"]
    failed = set()
    for face, era, shown in (("direct", "legacy", rows), ("search", "modern", over_http)):
        for row, complaints in zip(shown, check_cell(options, shown, face, era, port)):
            for complaint in complaints:
                failed.add(row["name"])
                print(f"{row['group']} {row['name']}, {face}, {era}: {complaint}", file=sys.stderr)
    print(f"{len(rows) - len(failed)} of {len(rows)}")
    return not failed


def measure_row(options, row, port):
    """Returns whether it works directly, and whether each cell is good."""
    direct, cells = works_directly(row, port), []
    for face, era in CELLS:
        complaints = check_cell(options, [row], face, era, port)[0]
        for complaint in complaints:
            print(f"{row['group']} {row['name']}, {face}, {era}: {complaint}", file=sys.stderr)
        cells.append(not complaints)
    return direct, cells


def run_table(options, rows, port):
    rows = [row for row in rows if row["name"] != GOOD]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        measured = list(pool.map(lambda row: measure_row(options, row, port), rows))
    heads = [f"{face}, {era} client" for face, era in CELLS]
    print("| faults in | servers | work directly | " + " | ".join(heads) + " |\n|" + "---|" * (3 + len(CELLS)))
    for group in dict.fromkeys(row["group"] for row in rows):
        of_group = [result for row, result in zip(rows, measured) if row["group"] == group]
        counts = [sum(cells[i] for _, cells in of_group) for i in range(len(CELLS))]
        directly = sum(direct for direct, _ in of_group)
        print(f"| {group} | {len(of_group)} | {directly} | " + " | ".join(str(count) for count in counts) + " |")
    good = sum(all(cells) for _, cells in measured)
    print(f"\n{good} of {len(rows)}")
    return good == len(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("whichtool", type=os.path.abspath)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--group")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    rows = [row for row in read_rows() if not options.group or row["group"] == options.group]
    rows = [row for row in rows if not options.only or row["name"] in options.only]
    with tempfile.TemporaryDirectory() as folder, http_servers(folder) as port:
        good = (run_quick if options.quick else run_table)(options, rows, port)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
