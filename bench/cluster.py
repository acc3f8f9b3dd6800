#!/usr/bin/env python3
"""Runs a whole cluster on this machine, without containers, and kills each of its parts under load.

    python3 bench/cluster.py WHICHTOOL CATALOGUE [--pause 4] [--rounds 1]
    python3 bench/cluster.py WHICHTOOL CATALOGUE --throughput [--seconds 10]

Starts a PostgreSQL server (tests/postgres.sh), PgBouncer with transaction pooling, a writer (`serve` on the database), a
publisher (`publish --watch`), two followers (`serve --follow`), and haproxy in front of the followers. Needs the programs
initdb, pg_ctl, pgbouncer and haproxy. CATALOGUE is a source for `whichtool add`.

Clients search and report use through haproxy, and another adds tools through the writer, all the time. A client repeats a
request that failed, as a client of any such service does. Each part in turn is killed with SIGKILL, and started again a
second later, as a service manager does. At the end, the program checks:

  - every find was answered
  - every acknowledged report of use is in the database, exactly once
  - every acknowledged tool is in the database and in both followers

--throughput compares finds for each second of processor time: of one follower without haproxy, of one behind it while the
other is suspended, and of two behind it.

Prints one line of JSON. Exits with 1 if something was lost, and with 77 if a program is missing."""
import argparse
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODEL = "whichtool-static-v1"
REQUESTS = ["will it rain in Oslo tomorrow", "book a table for two", "translate a letter to French", "open an issue about a crash",
            "convert 20 dollars to euros", "send a message to the team", "list the files of a folder", "play some music"]
TICKS = os.sysconf("SC_CLK_TCK")
GIVE_UP_S = 30  # a request that fails for so long is lost
REPORTS_MAX = 900  # the server accepts 1,000 reports of a client at once
HAPROXY = """
global
  maxconn 200
defaults
  mode http
  timeout connect 1s
  timeout client 30s
  timeout server 30s
  retries 3
  option redispatch
  retry-on conn-failure empty-response 503
frontend clients
  bind 127.0.0.1:{port}
  default_backend followers
backend followers
  balance leastconn
  option httpchk
  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host localhost
  default-server check inter 200ms fall 1 rise 1
{servers}
"""
PGBOUNCER = """
[databases]
postgres = host={socket} dbname=postgres user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 100
server_login_retry = 1
ignore_startup_parameters = extra_float_digits
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def ask(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Cluster:
    """The processes. Each part has a method that starts it, so that it can be started again."""

    def __init__(self, whichtool, catalogue, folder):
        self.whichtool, self.catalogue, self.folder = os.path.abspath(whichtool), catalogue, folder
        self.log = open(f"{folder}/log", "wb")
        self.processes, self.database_url = {}, None
        self.ports = {name: free_port() for name in ("pgbouncer", "writer", "follower 1", "follower 2", "haproxy")}

    def spawn(self, name, *command):
        self.processes[name] = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=self.log,
                                                stderr=self.log, start_new_session=True)

    def wait(self, what, ready):
        until = time.monotonic() + GIVE_UP_S
        while time.monotonic() < until:
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                if ready():
                    return
            time.sleep(0.05)
        raise RuntimeError(f"{what} did not start; see {self.folder}/log")

    def store(self):
        return f"postgres://postgres@127.0.0.1:{self.ports['pgbouncer']}/postgres"

    def serve(self, name, *options):
        self.spawn(name, self.whichtool, "serve", "--model", MODEL, "--log", "off", "--listen", f"127.0.0.1:{self.ports[name]}",
                   *options)

    def start_database(self):
        done = subprocess.run([ROOT / "tests/postgres.sh", "start", f"{self.folder}/postgres"], stdout=subprocess.PIPE, text=True)
        if done.returncode == 3:
            print(done.stdout.strip(), file=sys.stderr)
            sys.exit(77)
        self.database_url = done.stdout.strip()

    def start_pgbouncer(self):
        path = pathlib.Path(f"{self.folder}/pgbouncer.ini")
        path.write_text(PGBOUNCER.format(socket=f"{self.folder}/postgres", port=self.ports["pgbouncer"]))
        root = ["-u", "postgres"] if os.geteuid() == 0 else []
        self.spawn("pgbouncer", "pgbouncer", "-q", *root, path)

    def start_writer(self):
        self.serve("writer", "-s", self.store())

    def start_publisher(self):
        self.spawn("publisher", self.whichtool, "publish", "--watch", "--model", MODEL, "-s", self.store(), "--writer",
                   f"http://127.0.0.1:{self.ports['writer']}", f"{self.folder}/published")

    def start_follower(self, name):
        self.serve(name, "--follow", f"{self.folder}/published", "--cache", f"{self.folder}/{name.replace(' ', '-')}")

    def start_haproxy(self):
        servers = "\n".join(f"  server f{i} 127.0.0.1:{self.ports[f'follower {i}']}" for i in (1, 2))
        path = pathlib.Path(f"{self.folder}/haproxy.cfg")
        path.write_text(HAPROXY.format(port=self.ports["haproxy"], servers=servers))
        self.spawn("haproxy", "haproxy", "-db", "-f", path)

    def is_ready(self, name):
        return ask(self.ports[name], "GET", "/readyz")[0] == 200

    def start(self):
        self.start_database()
        self.start_pgbouncer()
        self.wait("pgbouncer", lambda: socket.create_connection(("127.0.0.1", self.ports["pgbouncer"])).close() is None)
        subprocess.run([self.whichtool, "add", "-q", "--model", MODEL, "-s", self.store(), self.catalogue], check=True)
        self.start_writer()
        self.wait("the writer", lambda: self.is_ready("writer"))
        self.start_publisher()
        self.wait("the publisher", lambda: os.path.exists(f"{self.folder}/published/manifest.json"))
        for name in ("follower 1", "follower 2"):
            self.start_follower(name)
        for name in ("follower 1", "follower 2"):
            self.wait(name, lambda name=name: self.is_ready(name))
        self.start_haproxy()
        self.wait("haproxy", lambda: ask(self.ports["haproxy"], "GET", "/readyz")[0] == 200)

    def kill(self, name):
        if name == "database":
            subprocess.run([ROOT / "tests/postgres.sh", "restart", f"{self.folder}/postgres"], check=True)
            return
        os.killpg(self.processes[name].pid, signal.SIGKILL)
        self.processes[name].wait()
        time.sleep(1)
        {"pgbouncer": self.start_pgbouncer, "writer": self.start_writer, "publisher": self.start_publisher,
         "haproxy": self.start_haproxy}.get(name, lambda: self.start_follower(name))()

    def stop(self):
        for process in self.processes.values():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if self.database_url:
            subprocess.run([ROOT / "tests/postgres.sh", "stop", f"{self.folder}/postgres"], check=False)
        self.log.close()


class Load:
    """Clients. Each repeats a request until it is answered."""

    def __init__(self, cluster):
        self.cluster, self.running, self.lock = cluster, True, threading.Lock()
        self.finds = self.repeated = 0
        self.tool = json.loads(ask(cluster.ports["writer"], "GET", "/v1/tools?limit=1")[1])["tools"][0]["id"]
        self.reports, self.tools, self.lost, self.lags = [], [], [], []
        self.threads = [threading.Thread(target=self.search, args=(i,)) for i in range(4)] + [threading.Thread(target=self.change)]

    def insist(self, name, method, path, body):
        """Returns whether the request was answered in time."""
        until = time.monotonic() + GIVE_UP_S
        while time.monotonic() < until:
            with contextlib.suppress(OSError, http.client.HTTPException):
                status, answer = ask(self.cluster.ports[name], method, path, body)
                if status == 200:
                    return True
                if status < 500 and status != 429:
                    self.lost.append(f"{method} {path}: {status} {answer[:200]!r}")
                    return False
            with self.lock:
                self.repeated += 1
            time.sleep(0.1)
        self.lost.append(f"{method} {path}: no answer in {GIVE_UP_S} s")
        return False

    def search(self, client):
        number = 0
        while self.running:
            number += 1
            request = f"{REQUESTS[number % len(REQUESTS)]} {client} {number}"
            if self.insist("haproxy", "POST", "/v1/find", json.dumps({"query": request, "k": 5})):
                with self.lock:
                    self.finds += 1
            if number % 5 == 0 and len(self.reports) < REPORTS_MAX:
                key = f"{client}/{number}"
                line = json.dumps({"request": request, "tools": [self.tool], "outcome": "ok", "key": key})
                if self.insist("haproxy", "POST", f"/v1/usage?id=report-{client}-{number}", line):
                    with self.lock:
                        self.reports.append(request)

    def has_tool(self, follower, name):
        with contextlib.suppress(OSError, http.client.HTTPException):
            return ask(self.cluster.ports[follower], "GET", f"/v1/tools/cluster/{name}")[0] == 200
        return False

    def change(self):
        number = 0
        while self.running:
            number += 1
            name = f"tool_{number}"
            tool = {"name": name, "description": f"Does the thing with the number {number}.", "inputSchema": {"type": "object"}}
            body = json.dumps({"tools": [tool]})
            if not self.insist("writer", "POST", f"/v1/tools?provider=cluster&source=cluster-{number}", body):
                continue
            acknowledged = time.monotonic()
            self.tools.append(name)
            while self.running and not all(self.has_tool(f, name) for f in ("follower 1", "follower 2")):
                time.sleep(0.02)
            self.lags.append(time.monotonic() - acknowledged)

    def run(self, action):
        for thread in self.threads:
            thread.start()
        try:
            action()
        finally:
            self.running = False
            for thread in self.threads:
                thread.join()


def kill_each(cluster, pause, rounds):
    """Returns the steady lag: of the changes before the first kill."""
    load, steady = Load(cluster), []

    def kills():
        time.sleep(pause)
        steady.extend(load.lags)
        for _ in range(rounds):
            for name in ("follower 1", "follower 2", "publisher", "writer", "pgbouncer", "database", "haproxy"):
                cluster.kill(name)
                time.sleep(pause)

    load.run(kills)
    return load, steady


def missing_tools(cluster, load):
    """Waits until the followers have the last tool, and returns what is missing anywhere."""
    until = time.monotonic() + GIVE_UP_S
    names = ("writer", "follower 1", "follower 2")
    while time.monotonic() < until and not all(load.has_tool(name, load.tools[-1]) for name in names):
        time.sleep(0.1)
    return [f"{tool} on {name}" for name in names for tool in load.tools if not load.has_tool(name, tool)]


def wrong_reports(cluster, load):
    """Waits until the spools are empty, and returns the reports that are not in the database exactly once."""
    until = time.monotonic() + GIVE_UP_S
    while True:
        out = subprocess.run([cluster.whichtool, "usage", "list", "--json", "-s", cluster.store()], stdout=subprocess.PIPE)
        if out.returncode > 1:  # 1: no usage
            raise RuntimeError("cannot list the usages")
        stored = [json.loads(line)["request"] for line in out.stdout.splitlines()]
        wrong = [request for request in load.reports if stored.count(request) != 1]
        if not wrong or time.monotonic() > until:
            return wrong + [request for request in set(stored) if stored.count(request) > 1]
        time.sleep(0.5)


def finds_per_processor_second(cluster, port, names, seconds):
    """Returns the sum over the followers of finds for each second of processor time, which is what a core can answer."""
    begun = {name: processor_seconds(cluster.processes[name].pid) for name in names}
    counts, until = [0] * 8, time.monotonic() + seconds

    def search(client):
        connection, number = http.client.HTTPConnection("127.0.0.1", port, timeout=30), 0
        while time.monotonic() < until:
            number += 1
            connection.request("POST", "/v1/find", json.dumps({"query": f"{REQUESTS[number % len(REQUESTS)]} {client} {number}"}))
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200
            counts[client] += 1

    threads = [threading.Thread(target=search, args=(client,)) for client in range(len(counts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    used = [processor_seconds(cluster.processes[name].pid) - begun[name] for name in names]
    return sum(counts) / sum(used) * len(names)


@contextlib.contextmanager
def suspended(cluster, name):
    """Suspends a part, and waits until haproxy has noticed."""
    group = cluster.processes[name].pid
    os.killpg(group, signal.SIGSTOP)
    time.sleep(2)
    yield
    os.killpg(group, signal.SIGCONT)
    time.sleep(2)


def measure_throughput(cluster, seconds):
    """Measures the three cases in turn, and returns medians of three turns."""
    found = {"one": [], "one behind haproxy": [], "two behind haproxy": []}
    for _ in range(3):
        found["one"].append(finds_per_processor_second(cluster, cluster.ports["follower 1"], ["follower 1"], seconds))
        with suspended(cluster, "follower 2"):
            found["one behind haproxy"].append(
                finds_per_processor_second(cluster, cluster.ports["haproxy"], ["follower 1"], seconds))
        found["two behind haproxy"].append(
            finds_per_processor_second(cluster, cluster.ports["haproxy"], ["follower 1", "follower 2"], seconds))
    median = {name: sorted(figures)[1] for name, figures in found.items()}
    return {name: round(figure) for name, figure in median.items()} | {
        "two / one": round(median["two behind haproxy"] / median["one"], 2),
        "two / one behind haproxy": round(median["two behind haproxy"] / median["one behind haproxy"], 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("whichtool")
    parser.add_argument("catalogue")
    parser.add_argument("--pause", type=float, default=4, help="seconds between kills")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--throughput", action="store_true")
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    for program in ("haproxy", "pgbouncer"):
        if not shutil.which(program):
            print(f"{program} is not installed", file=sys.stderr)
            sys.exit(77)
    folder = tempfile.mkdtemp(prefix="whichtool-cluster-")
    os.chmod(folder, 0o755)  # the user postgres must reach its socket
    cluster, failed = Cluster(options.whichtool, options.catalogue, folder), True
    try:
        cluster.start()
        if options.throughput:
            print(json.dumps(measure_throughput(cluster, options.seconds)))
            failed = False
        else:
            load, steady = kill_each(cluster, options.pause, options.rounds)
            missing, wrong = missing_tools(cluster, load), wrong_reports(cluster, load)
            failed = bool(load.lost or missing or wrong)
            print(json.dumps({"finds": load.finds, "reports": len(load.reports), "tools": len(load.tools), "repeated": load.repeated,
                              "lost": load.lost, "missing_tools": missing, "wrong_reports": wrong,
                              "lag_ms": {"steady": round(1000 * max(steady, default=0)), "max": round(1000 * max(load.lags, default=0))}}))
    finally:
        cluster.stop()
        if failed:
            print(f"the files are in {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder)
    sys.exit(failed)


if __name__ == "__main__":
    main()
