"""serving_api.py: the parts of bench/serving.py for `whichtool serve`: its time to start, and the cost of a find over HTTP,
compared with the library alone on the same machine in the same run."""
import heapq
import json
import math
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

STARTS = 11
CHANGES_A_SECOND = 10
CHANGES_SECONDS = 60
CHANGES_RATE = 100  # finds a second during changes
PEER_PORT = 8643
QUERIES = 500
SHARES, QUEUED, SEED = (.3, .7), 200_000, 24  # shares of the rate of 64 connections; requests of a computed queue


class Serve:
    def __init__(self, bench, *arguments, program=None, stderr=None):
        self.begun = time.monotonic()
        self.process = subprocess.Popen([program or bench.program("whichtool"), "-q", "--json", "-s", store_of(bench),
                                         "serve", "--log", "off", "--listen", "127.0.0.1:0", *arguments],
                                        stdout=subprocess.PIPE, stderr=stderr, text=True)
        self.url = json.loads(self.process.stdout.readline())["listening"]
        self.address, self.pid = self.url.split("//")[1], self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def get(self, path, body=None):
        with urllib.request.urlopen(urllib.request.Request(self.url + path, body)) as answer:
            return json.load(answer)

    def ms(self, path, body=None):
        self.get(path, body)
        return 1000 * (time.monotonic() - self.begun)

    def until_idle(self):
        """Waits until the queue is empty and only the request for the metrics runs."""
        while True:
            with urllib.request.urlopen(self.url + "/metrics") as answer:
                figures = answer.read().decode()
            if "\nwhichtool_http_queued 0\n" in figures and "\nwhichtool_http_running 1\n" in figures:
                return
            time.sleep(.05)

    def until_ready(self):
        while not self.get("/health")["ready"]:
            time.sleep(.01)


def store_of(bench):
    if bench.store:
        return bench.store
    if not os.path.exists(os.path.join(bench.data, "corpus.jsonl")):
        sys.exit(f"serving: no --store, and no tools in {bench.data}")
    bench.store = os.path.join(bench.folder, "work/serving.wt")
    os.makedirs(os.path.dirname(bench.store), exist_ok=True)
    subprocess.run([bench.program("whichtool"), "-q", "-s", bench.store, "add", bench.data], check=True,
                   stdout=subprocess.DEVNULL)
    return bench.store


def starts(bench):
    store_of(bench)
    health, words = [], []
    for _ in range(STARTS):
        with Serve(bench) as server:
            health.append(server.ms("/health"))
        with Serve(bench, "--model", "") as server:
            words.append(server.ms("/v1/find", b'{"query": "weather", "recipe": "bm25"}'))
    return [(name, f"{min(times):.1f}", f"{statistics.median(times):.1f}")
            for name, times in (("to the first answer of /health", health), ("to the first find by words", words))]


def of_library(bench, recipe, threads):
    out = subprocess.run([bench.program("bench_find"), store_of(bench), os.path.join(bench.data, "queries.jsonl"),
                          str(threads), str(bench.seconds), recipe], check=True, capture_output=True, text=True).stdout
    got = json.loads(out)
    return got["finds"] / got["seconds"], 1e6 * got["processor_seconds"] / max(1, got["finds"]), got["failed"]


def requests_of(bench, recipe, request):
    with open(os.path.join(bench.data, "queries.jsonl")) as file:
        queries = [json.loads(line)["text"] for line, _ in zip(file, range(QUERIES))]
    wish = {"recipe": recipe} if recipe else {}
    return [request("POST", "/v1/find", json.dumps({"query": query, **wish}).encode()) for query in queries]


def row(name, got):
    return (name, f"{got['per_second']:,.0f}", f"{got['p50_us'] / 1000:.1f}", f"{got['p99_us'] / 1000:.1f}",
            f"{got['cpu_us']:,.0f}", got["4xx"] + got["5xx"] + got["errors"] + got["given_up"])


def finds(bench, request, connections):
    rows = []
    for recipe in ("bm25", "hybrid"):
        for threads in (1, os.cpu_count()):
            rate, cost, failed = of_library(bench, recipe, threads)
            rows.append((f"{recipe}, the library, {threads} threads", f"{rate:,.0f}", "", "", f"{cost:,.0f}", failed))
        with Serve(bench, *(["--model", ""] if recipe == "bm25" else [])) as server:
            server.until_ready()
            requests = requests_of(bench, recipe, request)
            whole = bench.ask(server, requests, connections=connections)
            rows.append(row(f"{recipe}, the server, {connections} connections", whole))
            rate = .7 * whole["per_second"]
            server.until_idle()
            rows.append(row(f"{recipe}, 70 % of that, at random moments",
                            bench.ask(server, requests, rate=int(rate), seconds=bench.seconds)))
    return rows


def one_by_one(server, requests):
    """Returns the seconds of each request alone, the best of four, including transfer."""
    host, port = server.address.split(":")
    best = [math.inf] * len(requests)
    with socket.create_connection((host, int(port))) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(4):
            for i, asked in enumerate(requests):
                begun, got, want = time.perf_counter(), b"", None
                connection.sendall(asked)
                while want is None or len(got) < want:
                    got += connection.recv(1 << 16)
                    head, whole, _ = got.partition(b"\r\n\r\n")
                    if whole and want is None:
                        want = len(head) + 4 + int(head.partition(b"Content-Length: ")[2].partition(b"\r\n")[0])
                best[i] = min(best[i], time.perf_counter() - begun)
    return best


def of_queue(times, workers, share):
    """Returns the latencies in milliseconds of a computed queue that is served in order. Requests are used in turn, as in
    bench_http, so that adjacent long ones arrive together."""
    draw, now, free, out = random.Random(SEED), 0, [0] * workers, []
    rate = share * workers / statistics.mean(times)
    for i in range(QUEUED):
        now += draw.expovariate(rate)
        end = max(now, heapq.heappop(free)) + times[i % len(times)]
        heapq.heappush(free, end)
        out.append(1000 * (end - now))
    return out


def times_row(name, p50, p99):
    return name, f"{p50:.2f}", f"{p99:.2f}", f"{p99 / p50:.1f}"


def queue(bench, request, connections):
    """Returns rows that separate the latencies of the requests alone, of a computed queue, and of the server."""
    def of(times):
        ordered = sorted(times)
        return ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]
    with Serve(bench, "--model", "") as server:
        server.until_ready()
        requests = requests_of(bench, "bm25", request)
        times = one_by_one(server, requests)
        rows = [times_row("each by itself", *of([1000 * one for one in times]))]
        whole = bench.ask(server, requests, connections=connections)["per_second"]
        for share in SHARES:
            rows.append(times_row(f"a queue of {os.cpu_count()} workers at {100 * share:.0f} %, computed",
                                  *of(of_queue(times, os.cpu_count(), share))))
            server.until_idle()
            got = bench.ask(server, requests, rate=int(share * whole))
            rows.append(times_row(f"the server at {100 * share:.0f} % of {whole:,.0f} a second", got["p50_us"] / 1000,
                                  got["p99_us"] / 1000))
    return rows


class Changes(threading.Thread):
    """Adds and removes a tool over HTTP at a given rate; counts refusals."""

    def __init__(self, server, seconds):
        super().__init__()
        self.server, self.seconds, self.made, self.failed = server, seconds, 0, 0

    def run(self):
        tool = json.dumps([{"name": "come_and_go", "description": "Is here for a moment",
                            "input_schema": {"type": "object"}}]).encode()
        begun = time.monotonic()
        while time.monotonic() < begun + self.seconds:
            adds = self.made % 2 == 0
            asked = urllib.request.Request(self.server.url + ("/v1/tools?provider=bench&no_vectors=1" if adds else
                                                              "/v1/tools/bench/come_and_go"),
                                           tool if adds else None, method="POST" if adds else "DELETE")
            try:
                urllib.request.urlopen(asked).close()
            except urllib.error.URLError:
                self.failed += 1
            self.made += 1
            time.sleep(max(0, begun + self.made / CHANGES_A_SECOND - time.monotonic()))


def changes(bench, request):
    """Runs finds by words at one rate: alone, while the catalogue changes, and during an import of all of it."""
    store = os.path.join(bench.work, "changes.wt")
    shutil.copy(store_of(bench), store)
    bench.store, rows = store, []
    with Serve(bench, "--model", "") as server:
        server.until_ready()
        requests = requests_of(bench, "bm25", request)
        rows.append(row("finds by themselves", bench.ask(server, requests, rate=CHANGES_RATE, seconds=10)))
        changing = Changes(server, CHANGES_SECONDS)
        changing.start()
        rows.append(row(f"while the catalogue changes {CHANGES_A_SECOND} times a second, {CHANGES_SECONDS} s",
                        bench.ask(server, requests, rate=CHANGES_RATE, seconds=CHANGES_SECONDS)))
        changing.join()
        rows.append((f"those changes: {changing.made}", "", "", "", "", changing.failed))
        source = os.path.join(bench.data, "corpus.jsonl")
        importing = subprocess.Popen([bench.program("whichtool"), "-q", "-s", store, "add", "--no-vectors", "--provider",
                                      "another", source], stdout=subprocess.DEVNULL)
        rows.append(row("while another process imports all tools again",
                        bench.ask(server, requests, rate=CHANGES_RATE, seconds=5)))
        importing.wait()
    return rows


class Peer:
    """Starts FastAPI with ONNX Runtime and FAISS over the same tools; its processes' time is not counted."""

    def __init__(self, bench):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers", "serve_fastapi.py")
        self.address, self.pid = f"127.0.0.1:{PEER_PORT}", os.getpid()
        self.process = subprocess.Popen([bench.peer, script, bench.peer_model, os.path.join(bench.data, "corpus.jsonl"),
                                         str(PEER_PORT)], start_new_session=True)
        asked = urllib.request.Request(f"http://{self.address}/v1/find", b'{"query": "a"}',
                                       {"Content-Type": "application/json"})
        while True:
            try:
                urllib.request.urlopen(asked).close()
                break
            except urllib.error.URLError:
                if self.process.poll() is not None:
                    sys.exit("serving: the peer has ended")
                time.sleep(.5)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait()


def peers(bench, request, connections):
    """Sends the same requests to both in turn: ours by meaning, and by words and meaning; the peer by meaning."""
    rows = []
    for _ in range(2):
        with Serve(bench) as server:
            server.until_ready()
            for recipe in ("dense", "hybrid"):
                got = bench.ask(server, requests_of(bench, recipe, request), connections=connections)
                rows.append(row(f"whichtool, {recipe}", got))
        with Peer(bench) as server:
            got = bench.ask(server, requests_of(bench, None, request), connections=connections)
            rows.append((*row("FastAPI, ONNX Runtime, FAISS", got)[:4], "", *row("", got)[5:]))
    return rows


# ---------------------------------------------------------------- operations

ROUNDS = 7


def operations(bench, request, connections):
    """Measures what the log and the traces of a find cost, in rounds of all variants. A program in $BEFORE, of an earlier
    build, is a further variant. The collector runs on the same machine, and its processor time is not counted."""
    collector = subprocess.Popen([sys.executable, os.path.join(os.path.dirname(__file__), "operations_formats.py"),
                                  "collect"], stdout=subprocess.PIPE, text=True)
    endpoint = collector.stdout.readline().strip()
    find = request("POST", "/v1/find", json.dumps({"query": "book a table for two in Lisbon on Friday", "k": 5}).encode())
    never = ("--otlp-endpoint", endpoint)
    variants = [("without log and traces", ()), ("a log as JSON", ("--log", "json")),
                ("traces, all requests sampled", never), ("log and traces", ("--log", "json", *never))]
    if "BEFORE" in os.environ:
        variants.append(("an earlier build, without log", None))
    got = {name: [] for name, _ in variants}
    try:
        for _ in range(ROUNDS):
            for name, arguments in variants:
                program = os.environ["BEFORE"] if arguments is None else None
                with Serve(bench, "--model", "", *(arguments or ()), program=program, stderr=subprocess.DEVNULL) as server:
                    server.get("/v1/find", json.dumps({"query": "warm up"}).encode())
                    bench.ask(server, find, connections, seconds=.5)
                    got[name].append(bench.ask(server, find, connections)["cpu_us"])
    finally:
        collector.terminate()
        collector.wait()
    base = got[variants[0][0]]
    for name, _ in variants:
        more = statistics.median(one - off for one, off in zip(got[name], base))
        yield (name, f"{min(got[name]):.1f} to {max(got[name]):.1f}, median {statistics.median(got[name]):.1f}",
               f"{more:+.1f} µs, {100 * more / statistics.median(base):+.0f} %")
