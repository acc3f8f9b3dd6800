#!/usr/bin/env python3
"""Runs the MCP conformance suite against its fixture behind the gateway, for each client era, upstream era and upstream
transport.

    python3 bench/gateway_conformance.py WHICHTOOL FIXTURE_SERVER NODE_MODULES [--only TRANSPORT-ERA] [--json]

NODE_MODULES and the rules for passing are those of bench/conformance.py. The gateway shows all tools by their own names
(`serve --servers FILE --bare-names`, at /mcp/all). The entry's "protocol" pins the era of the upstream. Exits with 1 if a
scenario does not pass.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import conformance

CELLS = [(transport, era) for transport in ("stdio", "http") for era in ("legacy", "modern")]
LIMIT_S = 60


def start_gateway(whichtool, folder, server, era):
    """Starts the gateway and returns it with its address when the upstream is ready."""
    configuration, store = folder / "servers.json", folder / "tools.wt"
    state = folder / "tools.wt-servers.json"
    configuration.write_text(json.dumps({"mcpServers": {"fixture": server | {"protocol": era}}}))
    command = [whichtool, "-s", str(store), "serve", "--json", "--log", "off", "--listen", "127.0.0.1:0", "--model", "",
               "--servers", str(configuration), "--bare-names"]
    gateway = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    address = json.loads(gateway.stdout.readline())["listening"]
    until = time.monotonic() + LIMIT_S
    while True:
        known = json.loads(state.read_text())["servers"][0] if state.exists() else {}
        if known.get("state") == "ready" and known["tools"]:
            break
        if time.monotonic() > until:
            sys.exit(f"the upstream is not ready: {known}")
        time.sleep(0.05)
    if known["era"] != era:
        sys.exit(f"the upstream speaks {known['era']}, not {era}")
    return gateway, address


def measure(arguments, transport, era):
    rows = []
    with tempfile.TemporaryDirectory() as name:
        upstream, server = None, {"command": str(arguments.fixture_server)}
        if transport == "http":
            upstream, url = conformance.start(arguments.fixture_server)
            server = {"url": url}
        gateway, address = start_gateway(arguments.whichtool, pathlib.Path(name), server, era)
        arguments.url = f"{address}/mcp/all"
        for revision in conformance.REQUIRED:
            rows.append(conformance.measure(arguments, revision) | {"transport": transport, "upstream": era})
        gateway.terminate()
        if gateway.wait(timeout=30) != 0:
            sys.exit(f"the gateway ended with status {gateway.returncode}")
        if upstream:
            conformance.stop(upstream)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("whichtool", type=lambda path: str(pathlib.Path(path).absolute()))
    parser.add_argument("fixture_server", type=lambda path: str(pathlib.Path(path).absolute()))
    parser.add_argument("node_modules", type=lambda path: pathlib.Path(path).absolute())
    parser.add_argument("--only")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    good = True
    if not arguments.json:
        print("| upstream | its era | client's requirements | scenarios passed | checks passed | failed or warned |")
        print("|---|---|---|---|---|---|")
    for transport, era in CELLS:
        if arguments.only and arguments.only != f"{transport}-{era}":
            continue
        for row in measure(arguments, transport, era):
            good &= not row["lacking"] and row["required"] == conformance.REQUIRED[row["revision"]]
            if arguments.json:
                print(json.dumps(row), flush=True)
                continue
            print(f"| {transport} | {era} | {row['revision']} | {row['passed']} of {row['required']} | {row['checks']} | "
                  f"{row['checks_failed']} |", flush=True)
            for words in row["words"]:
                print(words, file=sys.stderr)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
