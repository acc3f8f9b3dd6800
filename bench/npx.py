"""npx.py: measures the time from the start of `npx whichtool mcp` to its answer to `initialize`.

    python3 bench/npx.py FOLDER [-n N]    FOLDER: has the packages of tools/build-npm in node_modules

Compares npx with the launcher of the package and with the command itself, in turns. `npx empty` starts a shell script that
does nothing, for the time of npx alone. `npx native` starts the command without the launcher, as a package could whose
`bin` is the command. With a compile cache, Node keeps the compiled code of npx on disk. Prints the best and the median time, and the processor time from start to end."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}}


def time_start(words, folder, environment):
    """Returns the seconds to the first line of output, or to its end, and the processor seconds of all processes."""
    before = os.times()
    began = time.perf_counter()
    with subprocess.Popen(words, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as child:
        try:
            child.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
            child.stdin.flush()
            line = child.stdout.readline()
            seconds = time.perf_counter() - began
            child.stdin.close()
        except BrokenPipeError:
            pass
    after = os.times()
    assert not line or json.loads(line)["result"]["serverInfo"]["name"] == "whichtool", line
    return seconds, after.children_user + after.children_system - before.children_user - before.children_system


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-n", type=int, default=15)
    options = parser.parse_args()
    modules = options.folder.resolve() / "node_modules"
    command = next(modules.glob("@whichtool/*/bin/whichtool"))
    empty = modules / ".bin" / "empty"
    empty.write_text("#!/bin/sh\nexit 0\n")
    empty.chmod(0o755)
    native = modules / ".bin" / "native"
    native.unlink(missing_ok=True)
    native.symlink_to(command)
    ways = {"npx empty": ["npx", "empty"], "npx whichtool mcp": ["npx", "whichtool", "mcp"],
            "npx native mcp": ["npx", "native", "mcp"],
            "npx whichtool mcp, compile cache": ["env", f"NODE_COMPILE_CACHE={options.folder.resolve()}/compiled", "npx", "whichtool", "mcp"],
            "node_modules/.bin/whichtool mcp": [str(modules / ".bin" / "whichtool"), "mcp"],
            "the command itself": [str(command), "mcp"]}
    times = {name: [] for name in ways}
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "WHICHTOOL_STORE": f"{home}/tools.wt"}
        for _ in range(options.n):
            for name, words in ways.items():
                times[name].append(time_start(words, options.folder, environment))
    empty.unlink()
    native.unlink()
    print("| started with | best ms | median ms | processor ms |\n|---|---|---|---|")
    for name, pairs in times.items():
        walls, processors = [[1000 * pair[i] for pair in pairs] for i in (0, 1)]
        print(f"| {name} | {min(walls):.0f} | {statistics.median(walls):.0f} | {max(0, min(processors)):.0f} |")


if __name__ == "__main__":
    main()
