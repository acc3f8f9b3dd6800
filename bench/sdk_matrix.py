#!/usr/bin/env python3
"""Tests servers and clients of many SDKs and SDK versions directly and through the gateway: features that work directly
must work through it.

    python3 bench/sdk_matrix.py WHICHTOOL [NAME=COMMAND ...] [--client NAME=COMMAND ...] [--only NAME]

Each server is a program on standard input and output with the features of bench/mcp/sdk/server.py. COMMAND is split like
a shell command. A cell is "yes" if the feature works through the gateway, "-" if it does not work directly either (in the
client's era, or in the server's only one), and "no" if only the gateway breaks it. A client gets its server's command
after its own arguments and reports like bench/mcp/sdk/client.py; its server, both behind the gateway and alone, is the
last NAME=COMMAND. `@FILE` stands for arguments in a file, one a line. Exits with 1 if there is a "no". For the Python SDK:

    for v in 1.2.1 1.8.1 1.9.4 1.30.0 2.3.0; do python3 -m venv py-$v && py-$v/bin/pip install "mcp==$v"; done
    for v in 1.2.1 1.8.1 1.9.4; do py-$v/bin/pip install "pydantic<2.11"; done
    python3 bench/sdk_matrix.py build/whichtool "Python 1.2.1=py-1.2.1/bin/python bench/mcp/sdk/server.py" ...

The head comments of the programs in bench/mcp/sdk for TypeScript, Go, Rust and Java explain how to build them.
"""
import argparse
import json
import os
import pathlib
import queue
import shlex
import subprocess
import sys
import tempfile
import threading
import time

LIMIT_S = 40
PROBE_S = 10  # for an answer to server/discover
CAPABILITIES = {"elicitation": {"form": {}}, "sampling": {}, "roots": {}}
MODERN = "2026-07-28"
ANSWERS = {
    "elicitation/create": {"action": "accept", "content": {"name": "Ada"}},
    "sampling/createMessage": {"role": "assistant", "content": {"type": "text", "text": "yes"}, "model": "none"},
    "roots/list": {"roots": [{"uri": "file:///ada"}]},
}


class Failed(Exception):
    pass


class Client:
    """A client of a program that implements one era of the protocol."""

    def __init__(self, command, era):
        self.era, self.last, self.progress = era, 0, []
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        try:
            self._open()
        except (Failed, OSError):
            self.close()  # some servers do not exit at the end of their input
            raise

    def _open(self):
        if self.era == "legacy":
            self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": CAPABILITIES,
                                        "clientInfo": {"name": "matrix", "version": "1"}})
            self._send({"method": "notifications/initialized"})
        else:
            self.finish(self.begin("server/discover", {}), PROBE_S)

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def _send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n")
        self.process.stdin.flush()

    def begin(self, method, params):
        self.last += 1
        meta = {"progressToken": self.last}
        if self.era == "modern":
            meta |= {"io.modelcontextprotocol/protocolVersion": MODERN,
                     "io.modelcontextprotocol/clientInfo": {"name": "matrix", "version": "1"},
                     "io.modelcontextprotocol/clientCapabilities": CAPABILITIES}
        self._send({"id": self.last, "method": method, "params": params | {"_meta": meta}})
        return self.last

    def finish(self, number, limit_s=LIMIT_S):
        until = time.monotonic() + limit_s
        while True:
            try:
                line = self.lines.get(timeout=max(0.01, until - time.monotonic()))
            except queue.Empty:
                raise Failed("no answer") from None
            if line is None:
                raise Failed("it ended")
            try:
                message = json.loads(line)
            except ValueError:  # a program that prints text before its messages
                continue
            if message.get("method") in ANSWERS and "id" in message:
                self._send({"id": message["id"], "result": ANSWERS[message["method"]]})
            elif message.get("method") == "notifications/progress":
                self.progress.append(message["params"]["progress"])
            elif message.get("id") == number and "error" in message:
                raise Failed(message["error"]["message"])
            elif message.get("id") == number:
                return message["result"]

    def request(self, method, params):
        result = self.finish(self.begin(method, params))
        while result.get("resultType") == "input_required":
            responses = {key: ANSWERS[asked["method"]] for key, asked in result.get("inputRequests", {}).items()}
            more = {"inputResponses": responses}
            if "requestState" in result:
                more["requestState"] = result["requestState"]
            result = self.finish(self.begin(method, params | more))
        return result

    def call(self, name, **arguments):
        result = self.request("tools/call", {"name": name, "arguments": arguments})
        text = " ".join(part.get("text", "") for part in result["content"])
        if result.get("isError"):
            raise Failed(text)
        return text

    def cancel(self, number):
        self._send({"method": "notifications/cancelled", "params": {"requestId": number, "reason": "test"}})

    def close(self):
        try:
            self.process.stdin.close()
            self.process.wait(10)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self.process.kill()
            self.process.wait()


def check_progress(client):
    client.progress.clear()
    return client.call("progress") == "done" and client.progress == [1, 2, 3]


def check_cancel(client):
    before = client.call("count_cancels")
    number = client.begin("tools/call", {"name": "wait", "arguments": {}})
    time.sleep(0.5)
    client.cancel(number)
    for _ in range(20):
        if client.call("count_cancels") != before:
            return True
        time.sleep(0.1)
    return False


CHECKS = {
    "tools": lambda client: "add" in [tool["name"] for tool in client.request("tools/list", {})["tools"]]
    and client.call("add", a=2, b=3) == "5",
    "resources": lambda client: client.request("resources/read", {"uri": "sdk://text"})["contents"][0]["text"]
    == "a text of the server",
    "prompts": lambda client: "Say hello to Ada." in json.dumps(
        client.request("prompts/get", {"name": "hello", "arguments": {"name": "Ada"}})),
    "elicitation": lambda client: client.call("ask_user") == "Hello, Ada!",
    "sampling": lambda client: client.call("sample") == "The model says yes",
    "roots": lambda client: client.call("roots").startswith("roots: file:///ada"),
    "progress": check_progress,
    "cancel": check_cancel,
}


def run_checks(command, era):
    """Returns for each feature None if it works, else the error."""
    why = {}
    try:
        client = Client(command, era)
    except (Failed, OSError) as error:
        return {name: f"does not start: {error}" for name in CHECKS}
    for name, check in CHECKS.items():
        try:
            why[name] = None if check(client) else "wrong answer"
        except (Failed, KeyError, OSError, ValueError) as error:
            why[name] = f"{type(error).__name__}: {error}"
    client.close()
    return why


def gateway_command(whichtool, folder, command):
    configuration = folder / "servers.json"
    configuration.write_text(json.dumps({"mcpServers": {"sdk": {"command": command[0], "args": command[1:]}}}))
    return [whichtool, "-q", "-s", str(folder / "tools.wt"), "mcp", "--model", "", "--face", "direct", "--bare-names",
            "--list-wait", str(LIMIT_S), "--servers", str(configuration)]


def report_of(command):
    """Returns the report of an SDK client; empty if it fails as a whole."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10 * LIMIT_S)
    try:
        return json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        print(f"{command[0]}: {done.stderr[-800:]}", file=sys.stderr)
        return {}


def measure_client(options, row, server):
    name, command = row.split("=", 1)
    command = shlex.split(command)
    direct = report_of([*command, *server])
    with tempfile.TemporaryDirectory() as folder:
        through = report_of([*command, *gateway_command(options.whichtool, pathlib.Path(folder), server)])
    cells = {check: "yes" if through.get(check) else "no" if direct.get(check) else "-" for check in CHECKS}
    print(f"| {name} | " + " | ".join(cells.values()) + " |", flush=True)
    return "no" not in cells.values()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     fromfile_prefix_chars="@")
    parser.add_argument("whichtool", type=os.path.abspath)
    parser.add_argument("servers", nargs="+", metavar="NAME=COMMAND")
    parser.add_argument("--client", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--only")
    options = parser.parse_args()
    print("| server | client's era | " + " | ".join(CHECKS) + " |\n|---|---|" + "---|" * len(CHECKS))
    good = True
    for row in options.servers:
        name, command = row.split("=", 1) if "=" in row else sys.exit(f"{row} is not NAME=COMMAND")
        command = shlex.split(command)
        if options.only and options.only != name:
            continue
        by_era = {era: run_checks(command, era) for era in ("legacy", "modern")}
        for era, other in (("legacy", "modern"), ("modern", "legacy")):
            spoken = not all(by_era[era].values())  # else the gateway bridges from the other era
            direct = by_era[era if spoken else other]
            with tempfile.TemporaryDirectory() as folder:
                through = run_checks(gateway_command(options.whichtool, pathlib.Path(folder), command), era)
            cells = {check: "-" if direct[check] else "no" if through[check] else "yes" for check in CHECKS}
            for check, cell in cells.items():
                if cell == "no":
                    print(f"{name}, {era} client, {check}: {through[check]}", file=sys.stderr)
            good &= "no" not in cells.values()
            print(f"| {name} | {era} | " + " | ".join(cells.values()) + " |", flush=True)
    server = shlex.split(options.servers[-1].split("=", 1)[1])
    if options.client:
        print("\n| client | " + " | ".join(CHECKS) + " |\n|---|" + "---|" * len(CHECKS))
    for row in options.client:
        good &= measure_client(options, row, server)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
