#!/usr/bin/env python3
"""serving_api.py: what finds cost over HTTP, beside the library alone on the same machine in the same run.

    bench/serving_api.py --store STORE [--queries QUERIES.jsonl] [--seconds 10] [--recipes bm25,hybrid]

Takes build-bench/bench_find (-DWT_BENCH=ON), build/whichtool, wrk, and a store; by default ../shared/data/toolbench-open's
13,242 tools, which `whichtool -s STORE add` imports. A row a line, tabs between. Processor time is what counts on a machine
that others use, too: finds a second are those of an idle one only."""
import argparse
import asyncio
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
LUA = """local queries, i = {}, 0
for line in io.lines(os.getenv("QUERIES")) do queries[#queries + 1] = line end
wrk.method = "POST"
request = function() i = i % #queries + 1 return wrk.format(nil, "/v1/find", nil, queries[i]) end
failed = 0
response = function(status) if status ~= 200 then failed = failed + 1 end end
"""


def say(*cells):
    print("\t".join(str(c) for c in cells), flush=True)


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Server:
    def __init__(self, options, *arguments):
        self.begun = time.monotonic()
        self.process = subprocess.Popen([options.whichtool, "-q", "--json", "-s", options.store, "serve", "--listen",
                                         "127.0.0.1:0", *arguments], stdout=subprocess.PIPE, text=True)
        self.url = json.loads(self.process.stdout.readline())["listening"]

    def get(self, path, body=None):
        with urllib.request.urlopen(urllib.request.Request(self.url + path, body)) as answer:
            return json.load(answer)

    def until_ready(self):
        while not self.get("/health")["ready"]:
            time.sleep(.01)

    def end(self):
        self.process.terminate()
        self.process.wait()


def bodies(options, recipe):
    path = pathlib.Path(options.work) / f"bodies-{recipe}"
    with open(options.queries) as queries, open(path, "w") as out:
        for line in queries:
            out.write(json.dumps({"query": json.loads(line)["text"], "recipe": recipe}) + "\n")
    return path


def of_library(options, recipe, threads):
    run = subprocess.run([options.bench_find, options.store, options.queries, str(threads), str(options.seconds), recipe],
                         capture_output=True, text=True, check=True)
    d = json.loads(run.stdout)
    assert d["failed"] == 0
    return d["finds"] / d["seconds"], 1e6 * d["processor_seconds"] / d["finds"]


def of_server(options, recipe, server, connections):
    lua = pathlib.Path(options.work) / "find.lua"
    lua.write_text(LUA)
    used = processor_seconds(server.process.pid)
    run = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{options.seconds}s", "--latency", "-s", lua, server.url],
                         capture_output=True, text=True, check=True,
                         env={**os.environ, "QUERIES": str(bodies(options, recipe))})
    used = processor_seconds(server.process.pid) - used
    if "Non-2xx" in run.stdout:
        raise AssertionError(run.stdout)
    count = int(re.search(r"(\d+) requests in", run.stdout)[1])
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", run.stdout)[1])
    return rate, 1e6 * used / count


async def ask_at_rate(url, lines, rate, seconds):
    """Milliseconds of each answer from when it should have been asked: a slow one is not asked later for it."""
    host, port = url.split("//")[1].split(":")
    free, times = asyncio.Queue(), []
    for _ in range(64):
        free.put_nowait(await asyncio.open_connection(host, int(port)))

    async def one(due, body):
        reader, writer = await free.get()
        head = f"POST /v1/find HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(re.search(rb"Content-Length: (\d+)", answer)[1]))
        assert answer.startswith(b"HTTP/1.1 200"), answer
        times.append(1000 * (time.monotonic() - due))
        free.put_nowait((reader, writer))

    begun, tasks = time.monotonic(), []
    for i in range(int(rate * seconds)):
        due = begun + i / rate
        await asyncio.sleep(max(0, due - time.monotonic()))
        tasks.append(asyncio.create_task(one(due, lines[i % len(lines)].encode())))
    await asyncio.gather(*tasks)
    return times


def spread(times):
    times = sorted(times)
    return statistics.median(times), times[min(len(times) - 1, int(.99 * len(times)))]


def finds(options, recipe):
    model = ["--model", ""] if recipe == "bm25" else []
    one, cost = of_library(options, recipe, 1)
    say(f"find, {recipe}: the library, one thread", f"{one:.0f}/s", f"{cost:.0f} us of a processor")
    server = Server(options, "--log", "off", *model)
    server.until_ready()
    rate, with_http = of_server(options, recipe, server, 64)
    say(f"find, {recipe}: the server, 64 connections", f"{rate:.0f}/s", f"{with_http:.0f} us of a processor",
        f"{rate / one:.2f} x one thread")
    lines = open(bodies(options, recipe)).read().splitlines()
    p50, p99 = spread(asyncio.run(ask_at_rate(server.url, lines, .7 * rate, options.seconds)))
    say(f"find, {recipe}: at 70 % of that", f"{.7 * rate:.0f}/s", f"p50 {p50:.1f} ms", f"p99 {p99:.1f} ms")
    server.end()
    say(f"HTTP and JSON around a find, {recipe}", f"{with_http - cost:.0f} us of a processor")


def starts(options):
    times = {"health": [], "words": []}
    for _ in range(11):
        server = Server(options, "--log", "off")
        server.get("/health")
        times["health"].append(1000 * (time.monotonic() - server.begun))
        server.end()
        server = Server(options, "--log", "off", "--model", "")
        server.get("/v1/find", b'{"query": "weather", "recipe": "bm25"}')
        times["words"].append(1000 * (time.monotonic() - server.begun))
        server.end()
    say("start to the first answer of /health", f"{min(times['health']):.1f} ms at best",
        f"{statistics.median(times['health']):.1f} ms the median of 11")
    say("start to the first find by words", f"{min(times['words']):.1f} ms at best",
        f"{statistics.median(times['words']):.1f} ms the median of 11")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--whichtool", default=str(ROOT / "build/whichtool"))
    options.add_argument("--bench-find", default=str(ROOT / "build-bench/bench_find"))
    options.add_argument("--store", required=True)
    options.add_argument("--queries", default=str(ROOT.parent / "shared/data/toolbench-open/queries.jsonl"))
    options.add_argument("--seconds", type=int, default=10)
    options.add_argument("--recipes", default="bm25,hybrid")
    options = options.parse_args()
    with tempfile.TemporaryDirectory() as options.work:
        say("load of the machine at the start", os.getloadavg()[0])
        starts(options)
        for recipe in options.recipes.split(","):
            finds(options, recipe)
        say("load of the machine at the end", os.getloadavg()[0])


if __name__ == "__main__":
    sys.exit(main())
