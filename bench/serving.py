#!/usr/bin/env python3
"""Makes the tables of docs/http.md and docs/serving.md: the cost and latency of the server.

    python3 bench/serving.py [--bench build-bench] [--seconds 5] [PART...]

    floor     the bare server (bench_http_echo): requests a second, latency, processor time of a request, memory of an
              idle connection and an idle stream, and the effect of slow and half-open clients on others
    beside    the bare server with idle streams and silent connections, in five alternating rounds
    start     `whichtool serve` from its start to its first answers
    finds     finds over HTTP compared with the library alone (bench_find): by words, and by words and meaning
    queue     finds by words at a share of the maximum rate, compared with a computed queue of the same number of workers
    changes   finds by words while tools are added and removed, and while another process imports the catalogue again
    operations  finds by words with and without log and traces, in alternating rounds
    peers     finds by meaning, compared with FastAPI with ONNX Runtime and FAISS (peers/serve_fastapi.py)

start, finds, queue, changes, operations and peers use the store --store. Without it they create build-bench/work/serving.wt from
toolbench-open's 13,242 tools below --data, which takes minutes the first time.

Needs bench_http, bench_http_echo, bench_find and whichtool (cmake --preset release -B build-bench -DWT_BENCH=ON; ninja
-C build-bench bench_http bench_http_echo bench_find whichtool). Clients run on the same machine over loopback and also take
processor time, so a rate is a lower bound. The processor time of a request is the server's, including system time. On a
shared machine, times above the 90th percentile come from other work; `chrt -r 10 python3 bench/serving.py ...` gives
priority."""
import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import serving_api

CONNECTIONS = 64
IDLE = 10_000
TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_kb(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def request(method, path, body=b"", host="127.0.0.1", fields=()):
    head = [f"{method} {path} HTTP/1.1", f"Host: {host}", "User-Agent: bench", "Accept: */*"]
    if body:
        head += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*head, *fields, "", ""]).encode() + body


class Server:
    """A server that prints its address in its first line and exits at the end of its input."""

    def __init__(self, argv):
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    @property
    def pid(self):
        return self.process.pid


class Bench:
    def __init__(self, options, work):
        self.folder, self.seconds, self.work = options.bench, options.seconds, work
        self.store, self.data = options.store, options.data
        self.peer, self.peer_model = options.peer, options.peer_model
        self.files = 0

    def program(self, name):
        return os.path.join(self.folder, name)

    def file(self, data):
        self.files += 1
        path = os.path.join(self.work, f"request-{self.files}")
        with open(path, "wb") as file:
            file.write(data)
        return path

    def ask(self, server, data, connections=CONNECTIONS, rate=0, seconds=None):
        """Returns the figures of bench_http, and the server's processor time per request in microseconds. data: one request,
        or several that are used in turn."""
        seconds = seconds or self.seconds
        files = [self.file(one) for one in (data if isinstance(data, list) else [data])]
        before = processor_seconds(server.pid)
        out = subprocess.run([self.program("bench_http"), server.address, str(connections), str(seconds), str(rate),
                              *files], check=True, capture_output=True, text=True).stdout
        figures = json.loads(out)
        figures["cpu_us"] = (processor_seconds(server.pid) - before) * 1e6 / max(1, figures["answers"])
        return figures

    @contextlib.contextmanager
    def holding(self, server, count, data):
        """Opens connections that have sent the data and wait."""
        holder = subprocess.Popen([self.program("bench_http"), "hold", server.address, str(count), self.file(data)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if json.loads(holder.stdout.readline() or "{}").get("held") != count:
            sys.exit("serving: the connections could not be opened; ulimit -n?")
        try:
            yield
        finally:
            holder.stdin.close()
            holder.wait()


def table(title, head, rows):
    print(f"\n{title}\n\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def throughput(bench, server, name, data, **options):
    got = bench.ask(server, data, **options)
    bad = got["4xx"] + got["5xx"] + got["errors"] + got["given_up"]
    return (name, f"{got['per_second']:,.0f}", f"{got['p50_us']:,.0f}", f"{got['p99_us']:,.0f}", f"{got['cpu_us']:.1f}",
            bad)


def memory(bench, server, name, data):
    before = resident_kb(server.pid)
    with bench.holding(server, IDLE, data):
        time.sleep(1)
        held = resident_kb(server.pid)
        cpu = processor_seconds(server.pid)
        time.sleep(1)
        cpu = processor_seconds(server.pid) - cpu
    return name, f"{(held - before) / IDLE:.2f}", f"{held / 1024:.1f}", f"{cpu * 1e3:.0f}"


def floor(bench):
    body = json.dumps({"query": "book a table for two in Lisbon on Friday", "k": 5}).encode()
    post, get = request("POST", "/echo", body), request("GET", "/bytes/600")
    rows = []
    with Server([bench.program("bench_http_echo")]) as server:
        bench.ask(server, post, seconds=1)
        rows.append(throughput(bench, server, f"POST of {len(body)} bytes, 64 connections", post))
        rows.append(throughput(bench, server, "GET of 600 bytes, 64 connections", get))
        rows.append(throughput(bench, server, "the same, 1 connection", get, connections=1))
        rows.append(throughput(bench, server, "the same, 5,000 a second at random moments", get, rate=5000))
        with bench.holding(server, IDLE, request("GET", "/stream")):
            rows.append(throughput(bench, server, "that, beside 10,000 idle streams", get, rate=5000))
        with bench.holding(server, IDLE, b""):
            rows.append(throughput(bench, server, "that, beside 10,000 that send nothing", get, rate=5000))
    with Server([bench.program("bench_http_echo"), os.path.join("unix:" + bench.work, "socket")]) as server:
        rows.append(throughput(bench, server, "GET of 600 bytes, 64 connections, unix socket", get))
    table("The bare server", ("what", "answers/s", "p50 µs", "p99 µs", "processor µs an answer", "bad"), rows)
    rows = []
    for name, data in (("idle connections, one request each", get), ("idle streams", request("GET", "/stream"))):
        with Server([bench.program("bench_http_echo")]) as server:
            rows.append(memory(bench, server, name, data))
    table("10,000 at once", ("what", "KB each", "MB resident in all", "processor ms a second"), rows)


def beside(bench):
    get, rows, rounds = request("GET", "/bytes/600"), {}, 5
    for _ in range(rounds):
        with Server([bench.program("bench_http_echo")]) as server:
            bench.ask(server, get, seconds=1)
            for name, held in (("by themselves", None), ("beside 10,000 idle streams", request("GET", "/stream")),
                               ("beside 10,000 that send nothing", b"")):
                with bench.holding(server, IDLE, held) if held is not None else contextlib.nullcontext():
                    rows.setdefault(name, []).append(bench.ask(server, get, rate=5000))
    middle = lambda got, name: f"{statistics.median(one[name] for one in got):,.0f}"
    table(f"GET of 600 bytes, 5,000 a second at random moments, median of {rounds} rounds",
          ("what", "p50 µs", "p99 µs", "p99 of each"),
          [(name, middle(got, "p50_us"), middle(got, "p99_us"), " ".join(f"{one['p99_us']:,.0f}" for one in got))
           for name, got in rows.items()])


def start(bench):
    table("From the start", ("what", "best ms", "median ms"), serving_api.starts(bench))


def finds(bench):
    table("Finds over HTTP", ("what", "finds/s", "p50 ms", "p99 ms", "processor µs a find", "bad"),
          serving_api.finds(bench, request, CONNECTIONS))


def queue(bench):
    table("Finds by words, at random moments", ("what", "p50 ms", "p99 ms", "p99 : p50"),
          serving_api.queue(bench, request, CONNECTIONS))


def changes(bench):
    table("Finds by words while the catalogue changes", ("what", "finds/s", "p50 ms", "p99 ms", "processor µs a find", "bad"),
          serving_api.changes(bench, request))


def operations(bench):
    table("Finds by words, with and without log and traces", ("what", "processor µs a find", "more than without"),
          serving_api.operations(bench, request, CONNECTIONS))


def peers(bench):
    if not bench.peer:
        print("serving: left out: peers, for no --peer is named", file=sys.stderr)
        return
    table("Finds by meaning, beside a peer", ("what", "finds/s", "p50 ms", "p99 ms", "processor µs a find", "bad"),
          serving_api.peers(bench, request, CONNECTIONS))


PARTS = {"floor": floor, "beside": beside, "start": start, "finds": finds, "queue": queue, "changes": changes,
         "operations": operations, "peers": peers}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bench", default="build-bench")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--store")
    parser.add_argument("--data", default="../shared/data/toolbench-open", help="folder of the store's tools and queries")
    parser.add_argument("--peer", help="a Python with fastapi, uvicorn, onnxruntime, faiss-cpu, torch, transformers")
    parser.add_argument("--peer-model", help="the folder of all-MiniLM-L6-v2, as `whichtool model pull` leaves it")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        for part in options.parts or PARTS:
            PARTS[part](Bench(options, work))
        print(f"\n{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
