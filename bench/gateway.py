#!/usr/bin/env python3
"""Measures the gateway: added time of a call, time to the first answer, latency of a cancel, processes left after a kill,
and tokens saved in a prompt.

    python3 bench/gateway.py PART WHICHTOOL FIXTURE_SERVER [OPTION...]

    calls     a call through the gateway to a server on stdio, compared with a direct call: added time, processor time of
              the gateway; with --fastmcp PYTHON (which has fastmcp 4.1) also FastMCP's proxy
    http      the same over HTTP on both sides of the gateway; FastMCP's proxy opens a session for each call
    start     from the start of the process to the first answer, with a known catalogue and servers that do not answer yet
    cancel    from the closing of a response stream to the cancel at the server
    kills     kills the gateway or its server with SIGKILL during calls, --count times (1000), and counts leftover processes
    prompt    bytes and tokens (bytes / 4) of its tools in a prompt, compared with the whole list of --tools tools (300) of
              ten servers drawn from the catalogues of --data; and how often a scripted agent gets the tool it needs, when
              the request is the first sentence of the tool's description

Times depend on this machine and its load. A part exits with 1 on failures that timing does not explain.
"""
import argparse
import contextlib
import http.client
import json
import os
import pathlib
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

LIMIT_S = 60


class Legacy:
    """A legacy client; subclasses define the transport by `ask` and `tell`. `process` is the server."""

    def open(self):
        self.last = 0
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                "clientInfo": {"name": "bench", "version": "1"}})
        self.tell("notifications/initialized")

    def tell(self, method, params=None):
        self.put({"jsonrpc": "2.0", "method": method, "params": params or {}})

    def call(self, name, arguments):
        return self.ask("tools/call", {"name": name, "arguments": arguments})

    def wait_for(self, name):
        until = time.monotonic() + LIMIT_S
        while time.monotonic() < until:
            if any(tool["name"] == name for tool in self.ask("tools/list", {})["result"]["tools"]):
                return
            time.sleep(0.02)
        sys.exit(f"no tool {name} within {LIMIT_S} s")


class Client(Legacy):
    """A client of a program on standard input and output."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        self.open()

    def put(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.last += 1
        self.put({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise EOFError(f"the program ended before it answered {method}")
            message = json.loads(line)
            if message.get("id") == self.last and "method" not in message:
                return message

    def close(self):
        self.process.stdin.close()
        return self.process.wait(timeout=LIMIT_S)


class HttpClient(Legacy):
    """A client of a server at an address, over one connection, in one session."""

    def __init__(self, process, address):
        self.process, (host, self.path) = process, address.removeprefix("http://").split("/", 1)
        self.connection = http.client.HTTPConnection(host, timeout=LIMIT_S)
        self.headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        self.open()

    def put(self, message):
        self.connection.request("POST", "/" + self.path, json.dumps(message), self.headers)
        answer = self.connection.getresponse()
        text = answer.read().decode()
        if answer.getheader("Mcp-Session-Id"):
            self.headers |= {"Mcp-Session-Id": answer.getheader("Mcp-Session-Id"), "MCP-Protocol-Version": "2025-11-25"}
        return [line[5:] for line in text.splitlines() if line.startswith("data:") and line[5:].strip()] or [text]

    def ask(self, method, params):
        self.last += 1
        return json.loads(self.put({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})[-1])

    def close(self):
        self.connection.close()
        self.process.terminate()
        return self.process.wait(timeout=LIMIT_S)


def processor_ms(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def gateway_command(options, folder, servers, *more):
    configuration = folder / "servers.json"
    configuration.write_text(json.dumps({"mcpServers": servers}))
    return [options.whichtool, "-q", "-s", str(folder / "tools.wt"), "mcp", "--model", "", "--servers", str(configuration),
            "--face", "direct", *more]


def share(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


# ---------------------------------------------------------------- calls

FASTMCP = """
import sys
from fastmcp.server import create_proxy
create_proxy({"mcpServers": {"fixture": {"command": sys.argv[1]}}}).run(show_banner=False)
"""


def measure_calls(options, clients):
    """Calls with each client in turn, so that the load of the machine affects all of them."""
    times, before = {name: [] for name in clients}, {}
    for name, (client, tool) in clients.items():
        client.wait_for(tool)
        for _ in range(50):
            client.call(tool, {})
        before[name] = processor_ms(client.process.pid)
    for _ in range(options.count):
        for name, (client, tool) in clients.items():
            began = time.perf_counter()
            answer = client.call(tool, {})
            times[name].append((time.perf_counter() - began) * 1000)
            if "simple text response" not in json.dumps(answer):
                sys.exit(f"{name}: {answer}")
    return times, {name: (processor_ms(client.process.pid) - before[name]) / options.count
                   for name, (client, _) in clients.items()}


def tell_calls(options, clients):
    times, processor = measure_calls(options, clients)
    print("| | p50, ms | p99, ms | added p50 | added p99 | processor time a call, ms |")
    print("|---|---|---|---|---|---|")
    for name in clients:
        p50, p99 = share(times[name], .5), share(times[name], .99)
        added = ("", "") if name == "direct" else (f"{p50 - share(times['direct'], .5):.3f}",
                                                   f"{p99 - share(times['direct'], .99):.3f}")
        print(f"| {name} | {p50:.3f} | {p99:.3f} | {added[0]} | {added[1]} | {processor[name]:.3f} |")
    for client, _ in clients.values():
        client.close()


def calls(options):
    with tempfile.TemporaryDirectory() as name:
        clients = {
            "direct": (Client([options.fixture_server]), "test_simple_text"),
            "gateway": (Client(gateway_command(options, pathlib.Path(name), {"fixture": {"command": options.fixture_server}})),
                        "fixture__test_simple_text"),
        }
        if options.fastmcp:
            script = pathlib.Path(name) / "proxy.py"
            script.write_text(FASTMCP)
            clients["FastMCP"] = (Client([options.fastmcp, str(script), options.fixture_server],
                                         stderr=subprocess.DEVNULL), "test_simple_text")
        tell_calls(options, clients)


FASTMCP_HTTP = """
import sys
from fastmcp.server import create_proxy
create_proxy(sys.argv[1]).run(transport="http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False)
"""


def start_fastmcp(options, folder, url):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    script = folder / "proxy.py"
    script.write_text(FASTMCP_HTTP)
    process = subprocess.Popen([options.fastmcp, str(script), url, str(port)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            return HttpClient(process, f"http://127.0.0.1:{port}/mcp")
        time.sleep(0.1)
    sys.exit(f"FastMCP does not answer within {LIMIT_S} s")


def calls_over_http(options):
    import gateway_conformance
    server, url = gateway_conformance.conformance.start(options.fixture_server)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        gateway, address = gateway_conformance.start_gateway(options.whichtool, folder, {"url": url}, "legacy")
        clients = {"direct": (HttpClient(server, url), "test_simple_text"),
                   "gateway": (HttpClient(gateway, address + "/mcp/all"), "test_simple_text")}
        if options.fastmcp:
            clients["FastMCP"] = (start_fastmcp(options, folder, url), "test_simple_text")
        tell_calls(options, clients)


# ---------------------------------------------------------------- start

def start(options):
    """Fills the catalogue once, then replaces the servers by programs that never answer."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        filled = Client(gateway_command(options, folder, {"fixture": {"command": options.fixture_server}}))
        filled.wait_for("fixture__test_simple_text")
        filled.close()
        mute = {"command": "sleep", "args": ["600"]}
        command = gateway_command(options, folder, {"fixture": mute})
        first, listed = [], []
        for _ in range(options.count):
            began = time.perf_counter()
            client = Client(command)
            first.append((time.perf_counter() - began) * 1000)
            client.wait_for("fixture__test_simple_text")
            listed.append((time.perf_counter() - began) * 1000)
            client.close()
    print(f"start to the first answer: p50 {statistics.median(first):.1f} ms, worst {max(first):.1f}; to a list with the "
          f"known tools: p50 {statistics.median(listed):.1f}, worst {max(listed):.1f} ({options.count} starts)")


# ---------------------------------------------------------------- cancel

def cancel(options):
    import gateway_conformance

    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}

    def post(address, tool, read=True):
        connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=LIMIT_S)
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                           "params": {"name": tool, "arguments": {}, "_meta": meta}})
        connection.request("POST", "/mcp/all", body, {
            "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool})
        if not read:
            return connection
        text = connection.getresponse().read().decode()
        data = [line[5:] for line in text.splitlines() if line.startswith("data:")]
        return json.loads(data[-1] if data else text)

    def cancelled(address):
        return int(post(address, "count_cancels")["result"]["content"][0]["text"])

    print("| upstream | its era | p50, ms | worst, ms |")
    print("|---|---|---|---|")
    for transport, era in gateway_conformance.CELLS:
        with tempfile.TemporaryDirectory() as name:
            upstream, server = None, {"command": options.fixture_server}
            if transport == "http":
                upstream, url = gateway_conformance.conformance.start(options.fixture_server)
                server = {"url": url}
            gateway, address = gateway_conformance.start_gateway(options.whichtool, pathlib.Path(name), server, era)
            times = []
            for _ in range(options.count):
                before = cancelled(address)
                connection = post(address, "wait", read=False)
                time.sleep(0.1)
                began = time.perf_counter()
                connection.close()
                while cancelled(address) == before:
                    if time.perf_counter() - began > LIMIT_S:
                        sys.exit(f"{transport} {era}: the cancel did not arrive")
                times.append((time.perf_counter() - began) * 1000)
            gateway.terminate()
            gateway.wait(timeout=LIMIT_S)
            if upstream:
                gateway_conformance.conformance.stop(upstream)
        print(f"| {transport} | {era} | {statistics.median(times):.1f} | {max(times):.1f} |", flush=True)


# ---------------------------------------------------------------- kills

def children_of(pid):
    done = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in done.stdout.split()]


def command_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def kills(options):
    """Half of the kills hit the server: the next call may fail, because it is not sent twice, and the one after it must
    work. Half hit the gateway: no process may be left."""
    dice, left, failed, lost, seen = random.Random(options.seed), 0, 0, 0, set()
    with tempfile.TemporaryDirectory() as name:
        command = gateway_command(options, pathlib.Path(name), {"fixture": {"command": options.fixture_server}})
        client = None
        for round_ in range(options.count):
            if not client:
                client = Client(command, stderr=subprocess.DEVNULL)
                client.wait_for("fixture__test_simple_text")
            client.call("fixture__test_simple_text", {})
            children = set(children_of(client.process.pid))
            seen |= children
            if dice.random() < .5:
                victims = [pid for pid in children if b"fixture_server" in command_of(pid)]
                for pid in victims:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                answers = [json.dumps(client.call("fixture__test_simple_text", {})) for _ in range(2)]
                lost += "simple text response" not in answers[0]
                if "simple text response" not in answers[1]:
                    failed += 1
                    print(answers, file=sys.stderr)
            else:
                client.put({"jsonrpc": "2.0", "id": 10**6, "method": "tools/call",
                            "params": {"name": "fixture__wait", "arguments": {}}})
                client.process.kill()
                client.process.wait()
                client = None
                until = time.monotonic() + 5
                while any(is_running(pid) for pid in children) and time.monotonic() < until:
                    time.sleep(0.005)
                left += sum(is_running(pid) for pid in children)
            if (round_ + 1) % 100 == 0:
                print(f"{round_ + 1} kills, {failed} calls not answered after them, {left} processes left", file=sys.stderr)
        if client:
            client.close()
    until = time.monotonic() + 5
    while any(is_running(pid) for pid in seen) and time.monotonic() < until:
        time.sleep(0.05)
    left += sum(is_running(pid) for pid in seen)
    print(f"{options.count} kills: {lost} calls right after failed, {failed} of those that followed; {left} of {len(seen)} "
          "processes left")
    sys.exit(1 if left or failed else 0)


# ---------------------------------------------------------------- prompt

def definition_of(row):
    """Returns the tool as a server would list it, with the parameters in the catalogue. These are mostly the required ones,
    by name, so that a real server's list is longer."""
    parameters, properties = row["metadata"].get("parameters", {}), {}
    for kind in ("required", "optional"):
        for parameter in parameters.get(kind, []):
            properties[parameter["name"]] = {key: parameter[key] for key in ("type", "description") if parameter.get(key)}
    return {"name": row["title"], "description": row["text"],
            "inputSchema": {"type": "object", "properties": properties,
                            "required": [parameter["name"] for parameter in parameters.get("required", [])]}}


def draw_tools(options):
    """Draws ten providers with enough tools, and the same number of tools of each."""
    dice, providers, each = random.Random(options.seed), {}, options.tools // 10
    for folder in options.data:
        for line in (pathlib.Path(folder) / "corpus.jsonl").read_text().splitlines():
            row = json.loads(line)
            if row["text"]:
                providers.setdefault(row["metadata"]["provider"], {})[row["title"]] = definition_of(row)
    wide = [name for name in sorted(providers) if len(providers[name]) >= each]
    if len(wide) < 10:
        sys.exit(f"--data has {len(wide)} providers with {each} tools; ten are needed")
    return {name: dice.sample(list(providers[name].values()), each) for name in dice.sample(wide, 10)}


def prompt_bytes(tools):
    """Returns the part of a list that a client shows to a model: names, descriptions and schemas."""
    shown = ("name", "description", "inputSchema")
    return sum(len(json.dumps({key: tool[key] for key in shown if key in tool})) for tool in tools)


def letters(name):
    return "".join(c for c in name.lower() if c.isalnum())


def prompt(options):
    servers = draw_tools(options)
    with tempfile.TemporaryDirectory() as name:
        folder, configured = pathlib.Path(name), {}
        script = folder / "server.py"
        script.write_text(LISTING_SERVER)
        for index, (provider, tools) in enumerate(servers.items()):
            listing = folder / f"{index}.json"
            listing.write_text(json.dumps({"tools": tools}))
            configured[f"s{index}"] = {"command": sys.executable, "args": [str(script), str(listing)]}
        command = gateway_command(options, folder, configured, "--face", "search")
        command = [word for word in command if word not in ("--model", "")] if options.model else command
        client = Client(command + (["--model", options.model] if options.model else []))
        state = folder / "tools.wt-servers.json"
        until = time.monotonic() + LIMIT_S
        while not state.exists() or sum(server["tools"] for server in json.loads(state.read_text())["servers"]) < options.tools:
            if time.monotonic() > until:
                sys.exit("the servers are not ready")
            time.sleep(0.1)
        listed = client.ask("tools/list", {})["result"]["tools"]
        direct, small = sum(prompt_bytes(tools) for tools in servers.values()), prompt_bytes(listed)
        found, answers, count = 0, 0, 0
        for index, tools in enumerate(servers.values()):
            for tool in tools:
                request = tool["description"].split(". ")[0][:300]
                answer = client.call("search_tools", {"query": request, "k": 5})["result"]
                names = [hit["name"] for hit in answer.get("structuredContent", {}).get("tools", [])]
                found += letters(f"s{index}__{tool['name']}") in [letters(hit) for hit in names]
                answers += len(answer["content"][0]["text"])
                count += 1
        client.close()
    print(f"{count} tools of {len(servers)} servers: the whole list {direct} bytes (~{direct // 4} tokens), the gateway's "
          f"{small} (~{small // 4}): {100 * small / direct:.1f} %; with the answer to one search "
          f"{100 * (small + answers / count) / direct:.1f} %. The tool that was wanted was among the first five of "
          f"{100 * found / count:.1f} % of searches")


# A server with the listing of a file; it answers each call with its own name and the tool's.
LISTING_SERVER = """
import json, sys
listing = json.load(open(sys.argv[1]))
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    answer = {"error": {"code": -32601, "message": "no such method"}}
    if message["method"] == "initialize":
        answer = {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                             "serverInfo": {"name": "listing", "version": "1"}}}
    elif message["method"] == "tools/list":
        answer = {"result": listing}
    elif message["method"] == "tools/call":
        answer = {"result": {"content": [{"type": "text", "text": sys.argv[2] + "/" + message["params"]["name"]}]}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {"calls": (calls, 2000), "http": (calls_over_http, 500), "start": (start, 30), "cancel": (cancel, 20), "kills": (kills, 1000),
             "prompt": (prompt, 0)}
    parser.add_argument("part", choices=parts)
    parser.add_argument("whichtool", type=os.path.abspath)
    parser.add_argument("fixture_server", type=os.path.abspath)
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fastmcp")
    parser.add_argument("--tools", type=int, default=300)
    parser.add_argument("--model")
    parser.add_argument("--data", nargs="*", default=[])
    options = parser.parse_args()
    run, usual = parts[options.part]
    options.count = options.count or usual
    run(options)


if __name__ == "__main__":
    main()
