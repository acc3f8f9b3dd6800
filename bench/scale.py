#!/usr/bin/env python3
"""Simulates replicas, their caches, a writer and a publisher at rates that one machine cannot produce: the section
"Simulation" of docs/scale.md.

    python3 bench/scale.py measure WHICHTOOL STORE QUERIES.jsonl > costs.json
    python3 bench/scale.py [--seconds 20] [--seed 1] simulate costs.json
    python3 bench/scale.py check                                   compares the simulation with queueing theory

A simulation is a sequence of events: finds arrive at random (Poisson), each of a tenant (Zipf) and with a text (Zipf, so
that some repeat). A load balancer gives each to the replica with the fewest requests. A replica has two cores and one
queue. A find costs its measured processor time; more if the replica must first compute the tenant's view, less if the
text's vector is in the cache. The publisher publishes at an interval; each replica then loads the generation and
forgets the views. Reports of use go to the writer in segments. The writer applies them one after the other, and learns the
requests on its two cores. The network is a constant delay, and the database is part of the writer's costs.

`measure` measures the processor time of finds, of HTTP and of recording on this machine, on a copy of STORE (a file with
vectors); it needs the library in $WHICHTOOL_LIBRARY. The costs of views come from bench/tenants.py, those of publications from
bench/replica_sizes.py, as options. A run lasts some seconds and has a publication, so its figures are those of the busiest seconds.

Not simulated: packet loss, slow disks, garbage collection of the operating system, and failures (bench/cluster.py kills
real processes)."""
import argparse
import bisect
import collections
import contextlib
import heapq
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

CORES = 2  # of a replica
NETWORK_MS = 0.3  # both ways, within a data centre
POLL_S = 1.0  # interval in which followers ask for a new generation
SEGMENT_S = 1.0  # interval in which a replica sends its reports
REPORTED = 0.01  # share of finds whose use is reported
TEXTS = 50_000  # distinct requests of a tenant's users, by Zipf
VIEWS = 20_000  # views that a replica keeps
VECTORS = 512  # vectors that a replica keeps (WT_REQUEST_CACHE)


class Zipf:
    """Draws numbers from 0 to count - 1; number i has a probability proportional to 1 / (i + 1) ^ exponent."""

    def __init__(self, count, exponent, rng):
        self.rng, total, self.bounds = rng, 0.0, []
        for i in range(count):
            total += (i + 1) ** -exponent
            self.bounds.append(total)

    def draw(self):
        return bisect.bisect_left(self.bounds, self.rng.random() * self.bounds[-1])


class Cache:
    """Keeps the entries that were used last."""

    def __init__(self, most):
        self.most, self.entries = most, collections.OrderedDict()

    def use(self, key):
        """Returns whether the key was there, and keeps it."""
        there = key in self.entries
        self.entries[key] = True
        self.entries.move_to_end(key)
        if len(self.entries) > self.most:
            self.entries.popitem(last=False)
        return there


class Replica:
    def __init__(self):
        self.idle, self.queue, self.inside, self.busy_ms = CORES, collections.deque(), 0, 0.0
        self.views, self.vectors, self.generation, self.reports = Cache(VIEWS), Cache(VECTORS), 0, 0


class Simulation:
    """One run. Times are in milliseconds."""

    def __init__(self, costs, rate, tenants, replicas, publish_s, seconds, seed):
        self.costs, self.rng, self.end = costs, random.Random(seed), 1000.0 * seconds
        self.gap, self.publish_ms = 1000.0 / rate, 1000.0 * publish_s
        self.tenants, self.texts = Zipf(tenants, 1.0, self.rng), Zipf(TEXTS, 0.9, self.rng)
        self.tenant_count = tenants
        self.replicas = [Replica() for _ in range(replicas)]
        self.events, self.number, self.now = [], 0, 0.0
        self.writer_free, self.writer_busy, self.learning, self.generation, self.published_at = 0.0, 0.0, 0.0, 0, 0.0
        self.latencies, self.lags, self.apply_lags = [], [], []
        self.spent = collections.Counter()

    def at(self, time, action, *arguments):
        self.number += 1
        heapq.heappush(self.events, (time, self.number, action, arguments))

    def run(self):
        self.at(0.0, self.arrive)
        self.at(min(self.publish_ms, self.end / 4), self.publish)  # so that a short run has a publication
        for replica in self.replicas:
            self.at(self.rng.random() * 1000 * POLL_S, self.poll, replica)
            self.at(self.rng.random() * 1000 * SEGMENT_S, self.send_reports, replica)
        while self.events and self.events[0][0] <= self.end:
            self.now, _, action, arguments = heapq.heappop(self.events)
            action(*arguments)
        return self

    # ------------------------------------------------------------ finds

    def arrive(self):
        self.at(self.now + self.rng.expovariate(1 / self.gap), self.arrive)
        replica = min(self.replicas, key=lambda r: r.inside)
        replica.inside += 1
        self.put(replica, (self.now, self.tenants.draw(), self.texts.draw()))

    def put(self, replica, job):
        if replica.idle > 0:
            self.start(replica, job)
        else:
            replica.queue.append(job)

    def start(self, replica, job):
        replica.idle -= 1
        cost = self.cost(replica, job)
        replica.busy_ms += cost
        self.at(self.now + cost, self.finish, replica, job)

    def spend(self, part, ms):
        self.spent[part] += ms
        return ms

    def cost(self, replica, job):
        if len(job) == 1:
            return self.spend("loading generations", job[0])
        _, tenant, text = job
        costs = self.costs
        total = self.spend("HTTP and JSON", costs["http_ms"]) + self.spend("searching", self.rng.choice(costs["search_ms"]))
        encoding = self.rng.choice(costs["encode_ms"])
        if not replica.vectors.use((tenant, text)):
            total += self.spend("encoding", encoding)
        if self.tenant_count > 1 and not replica.views.use(tenant):
            total += self.spend("views of tenants", costs["view_ms"])
        return total

    def finish(self, replica, job):
        replica.idle += 1
        if len(job) > 1:
            replica.inside -= 1
            self.latencies.append(self.now - job[0] + NETWORK_MS)
            replica.reports += self.rng.random() < REPORTED
        if replica.queue:
            self.start(replica, replica.queue.popleft())

    # ------------------------------------------------------------ generations

    def use_writer(self, ms):
        """Returns when the writer is done with work of this length."""
        self.writer_free = max(self.writer_free, self.now) + ms
        self.writer_busy += ms
        return self.writer_free

    def publish(self):
        self.at(self.now + self.publish_ms, self.publish)
        self.at(self.use_writer(self.costs["publish_ms"]), self.appear, self.now)

    def appear(self, changed):
        self.generation, self.published_at = self.generation + 1, changed

    def poll(self, replica):
        self.at(self.now + 1000 * POLL_S, self.poll, replica)
        if replica.generation == self.generation:
            return
        replica.generation, replica.views = self.generation, Cache(VIEWS)
        self.lags.append(self.now + self.costs["load_ms"] - self.published_at)
        replica.queue.appendleft((self.costs["load_ms"],))
        if replica.idle > 0:
            self.start(replica, replica.queue.popleft())

    def send_reports(self, replica):
        self.at(self.now + 1000 * SEGMENT_S, self.send_reports, replica)
        if replica.reports:
            done = self.use_writer(self.costs["segment_ms"] + replica.reports * self.costs["report_ms"])
            self.apply_lags.append(done - self.now)
            self.learning += replica.reports * self.costs["learn_ms"]
            replica.reports = 0

    # ------------------------------------------------------------ results

    def share(self, q, values):
        ordered = sorted(values)
        return ordered[min(len(ordered) - 1, int(q * len(ordered)))] if ordered else math.nan

    def result(self):
        work = sum(self.spent.values())
        return {"p50": self.share(0.5, self.latencies), "p99": self.share(0.99, self.latencies),
                "busy": sum(r.busy_ms for r in self.replicas) / (len(self.replicas) * CORES * self.end),
                "parts": {part: ms / work for part, ms in self.spent.most_common()},
                "writer": self.writer_busy / self.end, "learning": self.learning / self.end / CORES, "lag": self.share(0.99, self.lags), "use": self.share(0.99, self.apply_lags),
                "megabytes": len(self.replicas) * self.costs["change_bytes"] / self.publish_ms / 1000}


def fits(result):
    """The goal for a rate: the 99th percentile at most three times the median (docs/serving.md)."""
    return result["p99"] <= 3 * result["p50"] and result["busy"] < 0.95


def fewest_replicas(costs, rate, tenants, publish_s, seconds, seed):
    """Finds the smallest number of replicas that fits, and its result."""
    mean = costs["http_ms"] + sum(costs["encode_ms"]) / len(costs["encode_ms"]) + sum(costs["search_ms"]) / len(costs["search_ms"])
    high = max(1, math.ceil(2 * rate * mean / 1000 / CORES))
    low, best = 1, None
    while low <= high:
        middle = (low + high) // 2
        result = Simulation(costs, rate, tenants, middle, publish_s, min(seconds, 50_000 / rate), seed).run().result()
        if fits(result):
            best, high = (middle, result), middle - 1
        else:
            low = middle + 1
    return best


def bottleneck(result):
    """Names the part that is used up first if the rate grows and replicas are added."""
    ends = {"the writer's transactions": result["writer"], "learning": result["learning"],
            "the publisher's network (1 Gbit/s)": result["megabytes"] / 125}
    first = max(ends, key=ends.get)
    return f"{first}, {100 * ends[first]:.0f} %"


def simulate(options):
    with open(options.costs, encoding="utf-8") as file:
        costs = json.load(file)
    print("| finds/s | tenants | published every | replicas | busy | p50, p99 (ms) | work of a replica | lag, use applied (s) | next bottleneck, used |")
    print("|---|---|---|---|---|---|---|---|---|")
    for rate, tenants, publish_s in ((100, 1, 60), (1_000, 1, 60), (1_000, 1_000, 60), (1_000, 1_000, 5), (10_000, 1, 60),
                                     (10_000, 100_000, 60)):
        found = fewest_replicas(costs, rate, tenants, publish_s, options.seconds, options.seed)
        if not found:
            print(f"| {rate:,} | {tenants:,} | {publish_s} s | none fits | | | | | |")
            continue
        count, r = found
        parts = ", ".join(f"{part} {100 * share:.0f} %" for part, share in r["parts"].items() if share >= 0.01)
        print(f"| {rate:,} | {tenants:,} | {publish_s} s | {count} | {100 * r['busy']:.0f} % | {r['p50']:.1f}, {r['p99']:.1f} | {parts} | "
              f"{r['lag'] / 1000:.1f}, {r['use'] / 1000:.2f} | {bottleneck(r)} |", flush=True)


# ---------------------------------------------------------------- costs

FINDS, PROBES = 200, 1000
SEGMENTS, LINES = 50, (1, 21)  # segments of each size, to separate the costs of a segment and of a report
LEARNT = 200  # reports whose learning is measured
SETTLED_S = 3  # a server that uses no processor time for so long is idle
LEARNING_S = 13  # the same with learning, which begins every ten seconds


def measure_finds(catalogue, texts):
    """Returns processor times in milliseconds: of searching with a cached vector, and of encoding."""
    search, encode = [], []
    for text in texts:
        times = []
        for _ in range(2):  # the second search takes the vector from the cache
            begun = time.thread_time()
            catalogue.find(text)
            times.append(1000 * (time.thread_time() - begun))
        search.append(times[1])
        encode.append(max(0.0, times[0] - times[1]))
    return search, encode


class Server:
    def __init__(self, whichtool, store, *options):
        command = [whichtool, "--json", "-s", store, "serve", "--log", "off", "--listen", "127.0.0.1:0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = re.search(r"http://127\.0\.0\.1:\d+", self.process.stdout.readline()).group()
        while self.get("/readyz") != 200:
            time.sleep(0.1)

    def get(self, path, body=None):
        try:
            with urllib.request.urlopen(self.address + path, body) as answer:
                answer.read()
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def used_ms(self, settled_s=SETTLED_S):
        """Returns the processor time so far, once the server is idle."""
        last, since = self.ticks(), time.monotonic()
        while time.monotonic() - since < settled_s:
            time.sleep(0.1)
            if (now := self.ticks()) > last + 1:  # a server that only waits uses a tick now and then
                last, since = now, time.monotonic()
        return 1000 * self.ticks() / os.sysconf("SC_CLK_TCK")

    def ticks(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    def close(self):
        self.process.kill()
        self.process.wait()


def measure_http(server):
    """Returns the processor time of a request that asks for nothing."""
    begun = server.used_ms()
    for _ in range(PROBES):
        server.get("/healthz")
    return (server.used_ms() - begun) / PROBES


def measure_segments(server, texts, names, segments, lines, round_number, settled_s=SETTLED_S):
    """Returns the processor time of a writer for a segment of so many reports."""
    begun = server.used_ms(settled_s)
    for segment in range(segments):
        reports = [json.dumps({"client": f"agent {i}", "key": "", "time": 1, "usage": {
            "request": f"{texts[(segment * lines + i) % len(texts)]} {round_number} {segment} {i}", "tools": [names[i % len(names)]]}})
            for i in range(lines)]
        status = server.get(f"/v1/usage/segments?id={round_number:016x}{segment:016x}", "\n".join(reports).encode())
        if status != 200:
            sys.exit(f"a segment of {lines} reports was refused with {status}")
    return (server.used_ms(settled_s) - begun) / segments


def measure_reports(whichtool, store, texts, names):
    """Returns the processor times of a segment, of each report in it, and of learning a report. Without a model, the writer
    does not learn."""
    with contextlib.closing(Server(whichtool, store, "--model", "")) as server:
        small = measure_segments(server, texts, names, SEGMENTS, LINES[0], 1)
        large = measure_segments(server, texts, names, SEGMENTS, LINES[1], 2)
    report = (large - small) / (LINES[1] - LINES[0])
    with contextlib.closing(Server(whichtool, store)) as server:
        learnt = measure_segments(server, texts, names, 1, LEARNT, 3, LEARNING_S)  # after the reports of the first server
    return max(0.0, small - report * LINES[0]), report, max(0.0, learnt / LEARNT - report)


def measure(options):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
    from whichtool import Catalogue

    with open(options.queries, encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file if line.strip()][: FINDS + 20]
    with tempfile.TemporaryDirectory() as folder:
        store = shutil.copy(options.store, f"{folder}/tools.wt")
        with Catalogue(store) as catalogue:
            measure_finds(catalogue, texts[:20])  # opens the index and the model
            search, encode = measure_finds(catalogue, texts[20:])
            names = [tool.id for _, tool in zip(range(20), catalogue.tools())]
        whichtool = os.path.abspath(options.whichtool)
        with contextlib.closing(Server(whichtool, store)) as server:
            http = measure_http(server)
        segment, report, learn = measure_reports(whichtool, store, texts, names)
    print(json.dumps({"http_ms": round(http, 3), "search_ms": [round(ms, 3) for ms in search],
                      "encode_ms": [round(ms, 3) for ms in encode], "view_ms": options.view_ms, "load_ms": options.load_ms,
                      "publish_ms": options.publish_ms, "segment_ms": round(segment, 3), "report_ms": round(report, 3), "learn_ms": round(learn, 3),
                      "change_bytes": options.change_bytes}))


# ---------------------------------------------------------------- theory


def erlang_wait(rate, service, servers):
    """Returns the mean wait of an M/M/c queue."""
    load = rate * service
    terms = [load**n / math.factorial(n) for n in range(servers)]
    last = load**servers / math.factorial(servers) / (1 - load / servers)
    return last / (sum(terms) + last) * service / (servers - load)


def check(options):
    """One replica with exponential costs is an M/M/2 queue, whose mean wait is known."""
    rng, failed = random.Random(options.seed), False
    service = [rng.expovariate(1 / 4.0) for _ in range(200_000)]
    costs = {"http_ms": 0, "encode_ms": [0], "search_ms": service, "view_ms": 0, "load_ms": 0, "publish_ms": 0, "segment_ms": 0,
             "report_ms": 0, "learn_ms": 0, "change_bytes": 0}
    for busy in (0.3, 0.6, 0.8):
        rate = busy * CORES / 4.0 * 1000
        done = Simulation(costs, rate, 1, 1, 1e6, 1000, options.seed).run()
        found = sum(done.latencies) / len(done.latencies) - NETWORK_MS
        expected = 4.0 + erlang_wait(rate / 1000, 4.0, CORES)
        failed |= abs(found / expected - 1) > 0.05
        print(f"busy {busy}: mean latency {found:.2f} ms, by theory {expected:.2f} ms")
    sys.exit("the simulation differs from theory by more than 5 %" if failed else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("check")
    verbs.add_parser("simulate").add_argument("costs")
    costs = verbs.add_parser("measure")
    for name in ("whichtool", "store", "queries"):
        costs.add_argument(name)
    for name, value, text in (("view-ms", 1.3, "first find of a tenant"), ("load-ms", 630, "a replica applies a publication"),
                              ("publish-ms", 220, "the publisher publishes"), ("change-bytes", 15808, "bytes of a publication")):
        costs.add_argument(f"--{name}", type=float, default=value, help=f"{text}; default {value}")
    options = parser.parse_args()
    {"check": check, "measure": measure, "simulate": simulate}[options.verb](options)


if __name__ == "__main__":
    main()
