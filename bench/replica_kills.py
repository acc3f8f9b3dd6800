#!/usr/bin/env python3
"""replica_kills.py WHICHTOOL [--kills N] [--seed N] [--folder]: kills a publisher and a follower at random moments.

A writer serves a store. A publisher (`publish --watch`) writes it to a folder, and a follower (`serve --follow`) reads the
folder over HTTP from tests/e2e/static_server.py, or directly with --folder. Each round changes five tools, which all get
the number of the round, and adds or removes another tool. At a random moment of the round, the publisher or the follower
is killed with SIGKILL and started again. The program checks:

  - a complete generation: while everything runs, searches ask the follower for the five tools. All five must have the
    number of the same round, and numbers never decrease, also after restarts;
  - the lag: from the writer's answer to the change, or from the later restart, until the follower answers with it;
  - equal answers: at the end of each round, the follower and the writer answer requests with the same bytes, apart from
    times;
  - the bytes moved: all bodies that the file server has sent, at most 1.1 times the bytes that the publications added. A
    killed follower downloads again what it had not written. One such download outweighs the tenth if kills are few: with
    fewer than 100, each kill of the follower may cost one more publication.

Prints one line of JSON. Exits with 1 if a check failed. --max-lag MS also fails for a longer lag; the tests do not use it.
"""
import argparse, http.client, json, os, random, re, shutil, signal, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = "whichtool-static-v1"
REQUESTS = ["keep a round number in the ledger", "convert a file to another format", "weather tomorrow in a city",
            "send a message to a colleague", "delete an old record"]
WORDS = "archive audit balance book calendar charge city claim convert copy customer delete deliver document draft email " \
        "event export file find flight forecast format hotel image invoice label ledger mail map meeting member merge " \
        "message note order page parcel pay phone photo plan price print project query rate record refund report room " \
        "route sale schedule search send share ship sort stock sync tag task team ticket track translate trip update user " \
        "vendor video vote weather".split()
TIMES = re.compile(rb'"[a-z_]*_ms":[0-9.e+-]+')


def ask(address, method, path, body=None):
    connection = http.client.HTTPConnection(address, timeout=30)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def find(address, request, k=5):
    return ask(address, "POST", "/v1/find", json.dumps({"query": request, "k": k}))


class Failure(Exception):
    pass


class Bench:
    def __init__(self, arguments):
        self.arguments, self.random = arguments, random.Random(arguments.seed)
        self.folder = tempfile.mkdtemp(prefix="whichtool-replica-")
        self.store, self.published = self.folder + "/tools.wt", self.folder + "/published"
        self.cache, self.log = self.folder + "/cache", open(self.folder + "/log", "w")
        self.children, self.round, self.seen, self.seen_at, self.failures, self.answers = {}, 0, 0, 0, [], 0
        self.lags, self.kills, self.extras = [], {"publisher": 0, "follower": 0}, []
        self.running = True

    def start(self, name, command, address=False):
        child = subprocess.Popen(command, stdout=subprocess.PIPE if address else self.log, stderr=self.log, text=True)
        self.children[name] = child
        if not address:
            return None
        line = child.stdout.readline()
        found = re.search(r"127\.0\.0\.1:\d+", line)
        if not found:
            raise Failure(f"{name} did not start: {line!r}")
        threading.Thread(target=child.stdout.read, daemon=True).start()
        return found.group()

    def whichtool(self, *arguments):
        return [self.arguments.whichtool, *arguments, "--model", MODEL]

    def start_publisher(self):
        self.start("publisher", self.whichtool("-s", self.store, "publish", "--watch", "--grace", "2000000",
                                               "--writer", "http://" + self.writer, self.published))

    def start_follower(self):
        self.follower = self.start("follower", self.whichtool("serve", "--json", "--log", "off", "--listen", "127.0.0.1:0",
                                                              "--cache", self.cache, "--follow", self.location), True)

    def tool(self, name, text):
        return {"name": name, "description": text, "inputSchema": {"type": "object", "properties": {
            "value": {"type": "string", "description": " ".join(self.random.choices(WORDS, k=6))}}}}

    def change(self):
        """Changes the five tools in one transaction, and adds or removes another tool. Returns the time of the answer."""
        number = self.round + 1
        tools = [self.tool(f"keep_round_{i}", f"Keeps a round number in the ledger, part {i}. Round {number}.")
                 for i in range(5)]
        if self.extras and self.random.random() < .4:
            gone = self.extras.pop(self.random.randrange(len(self.extras)))
            ask(self.writer, "DELETE", "/v1/tools/extra/" + gone)
        else:
            name = f"extra_{number}"
            self.extras.append(name)
            body = json.dumps({"tools": [self.tool(name, " ".join(self.random.choices(WORDS, k=12)))]})
            ask(self.writer, "POST", "/v1/tools?provider=extra&source=extra" + str(number), body)
        status, answer = ask(self.writer, "POST", "/v1/tools?provider=rounds&source=rounds", json.dumps({"tools": tools}))
        if status != 200:
            raise Failure(f"the writer answered {status}: {answer!r}")
        self.round = number
        return time.monotonic()

    def check_generation(self, body):
        rounds = [int(n) for hit in json.loads(body)["hits"]
                  for n in re.findall(r"Round (\d+)\.", hit["description"])]
        if len(rounds) != 5 or len(set(rounds)) != 1:
            raise Failure(f"not one complete generation: rounds {rounds} at {self.follower}: {body[:600]!r}")
        if rounds[0] < self.seen:
            raise Failure(f"round {rounds[0]} came after round {self.seen}")
        if rounds[0] > self.seen:
            self.seen, self.seen_at = rounds[0], time.monotonic()

    def watch(self):
        """Searches all the time. A follower that is being killed may not answer."""
        while self.running:
            try:
                status, body = find(self.follower, REQUESTS[0])
                if status == 200:
                    with self.lock:
                        self.check_generation(body)
                    self.answers += 1
                elif status != 503:
                    raise Failure(f"the follower answered {status}: {body[:200]!r}")
            except (OSError, http.client.HTTPException):
                time.sleep(.01)
            except Failure as failure:
                self.failures.append(str(failure))
            time.sleep(self.random.random() * .02)

    def kill(self):
        name = self.random.choice(["publisher", "follower"])
        child = self.children[name]
        child.send_signal(signal.SIGKILL)
        child.wait()
        self.kills[name] += 1
        if name == "publisher":
            self.start_publisher()
        else:
            self.start_follower()
        return time.monotonic()

    def wait_for_round(self, changed, restarted):
        """The lag counts from the restart if the follower did not answer with the change before the kill."""
        limit = time.monotonic() + 30
        while time.monotonic() < limit:
            if self.seen == self.round:
                self.lags.append(self.seen_at - (changed if self.seen_at < restarted else max(changed, restarted)))
                return
            time.sleep(.005)
        raise Failure(f"the follower stays at round {self.seen} of {self.round}; {self.failures[:1]}")

    def compare(self):
        for request in REQUESTS:
            mine, theirs = (TIMES.sub(b"", find(a, request, 10)[1]) for a in (self.follower, self.writer))
            if mine != theirs:
                raise Failure(f"different answers to {request!r}: {mine[:300]!r} {theirs[:300]!r}")

    def prepare(self):
        tools = {"tools": [self.tool(f"tool_{i}", " ".join(self.random.choices(WORDS, k=12)).capitalize() + ".")
                           for i in range(self.arguments.tools)]}
        with open(self.folder + "/tools.json", "w") as file:
            json.dump(tools, file)
        subprocess.run(self.whichtool("-s", self.store, "add", "-q", self.folder + "/tools.json"), check=True,
                       stdout=self.log, stderr=self.log)
        self.lock = threading.Lock()
        self.writer = self.start("writer", self.whichtool("-s", self.store, "serve", "--json", "--log", "off", "--listen",
                                                          "127.0.0.1:0"), True)
        self.change()
        self.location = self.published
        if not self.arguments.folder:
            os.makedirs(self.published)
            self.files = self.start("files", [sys.executable, HERE + "/../tests/e2e/static_server.py", self.published], True)
            self.location = "http://" + self.files
        self.start_publisher()
        while not os.path.exists(self.published + "/manifest.json"):
            time.sleep(.01)
        self.start_follower()
        self.watcher = threading.Thread(target=self.watch)
        self.watcher.start()
        self.wait_for_round(0, 0)
        self.lags.clear()

    def run(self):
        self.prepare()
        first = self.bytes_moved()
        for _ in range(self.arguments.kills):
            changed = self.change()
            time.sleep(self.random.random() * self.arguments.spread)
            self.wait_for_round(changed, self.kill())
            self.compare()
            if self.failures:
                raise Failure(self.failures[0])
        return first

    def bytes_moved(self):
        if self.arguments.folder:
            return None
        stats = json.loads(ask(self.files, "GET", "/_stats")[1])
        changes = sum(os.path.getsize(f"{self.published}/{n}") for n in os.listdir(self.published)
                      if n.startswith("changes-"))
        return stats["sent"], stats["distinct_manifests"], changes

    def report(self, first):
        lags = sorted(self.lags)
        out = {"kills": self.kills, "answers": self.answers, "rounds": self.round,
               "lag_ms": {"median": round(1000 * lags[len(lags) // 2]), "p99": round(1000 * lags[len(lags) * 99 // 100]),
                          "max": round(1000 * lags[-1])}}
        if first:
            sent, manifests, changes = self.bytes_moved()
            moved = sum(sent.values()) - sum(first[0].values())
            change = changes - first[2] + manifests - first[1]
            again = self.kills["follower"] * change / len(lags) if len(lags) < 100 else 0
            out.update({"moved_bytes": moved, "changed_bytes": change, "ratio": round(moved / change, 3)})
            if moved > 1.1 * change + again:
                self.failures.append(f"{moved} bytes were moved for {change} bytes of changes")
        return out

    def close(self, keep):
        self.running = False
        if hasattr(self, "watcher"):
            self.watcher.join()
        for child in self.children.values():
            child.kill()
            child.wait()
        self.log.close()
        if keep:
            print(f"the files are in {self.folder}", file=sys.stderr)
        else:
            shutil.rmtree(self.folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("whichtool")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tools", type=int, default=500)
    parser.add_argument("--spread", type=float, default=.8, help="seconds after the change in which the kill comes")
    parser.add_argument("--folder", action="store_true")
    parser.add_argument("--max-lag", type=float, default=0)
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args()
    bench, failed = Bench(arguments), True
    try:
        report = bench.report(bench.run())
        if arguments.max_lag and report["lag_ms"]["max"] > arguments.max_lag:
            bench.failures.append(f"the longest lag is over {arguments.max_lag:g} ms")
        print(json.dumps(report))
        if bench.failures:
            raise Failure(bench.failures[0])
        failed = False
    except Failure as failure:
        print(f"failed in round {bench.round} after {bench.kills}: {failure}", file=sys.stderr)
    finally:
        bench.close(failed or arguments.keep)
    sys.exit(failed)


main()
