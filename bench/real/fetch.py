"""Downloads the catalogues of sources.json into a cache folder, with pinned versions and SHA-256 checks.

    python3 bench/real/fetch.py [--cache FOLDER] [--data FOLDER] [--renew SERVICE,...]

A document is read from an npm package. A list of tools comes from an MCP server, which is installed into the cache folder
from npm or PyPI without install scripts, and called over standard input and output (initialize, then tools/list page by
page); it is stored as JSON. Files in the cache with the right hash are reused, so that a second run needs no network.
Unavailable catalogues are reported and skipped. --renew downloads catalogues again and writes their hashes to
sources.json, to change a version.
"""
import argparse
import gzip
import hashlib
import json
import os
import queue
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
INSTALL_SECONDS = 600
ANSWER_SECONDS = 60
MOST_PAGES = 100
PROTOCOL = "2025-06-18"


class Unavailable(Exception):
    """Error: a catalogue is not available."""


def default_cache():
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(caches, "whichtool", "real")


def sources(data=HERE):
    with open(os.path.join(data, "sources.json"), encoding="utf-8") as file:
        return json.load(file)


def path_of(cache, source):
    return os.path.join(cache, "catalogues", source["file"])


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def has(cache, source):
    path = path_of(cache, source)
    return os.path.exists(path) and sha256(path) == source["sha256"]


def run(command, **more):
    try:
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                       timeout=INSTALL_SECONDS, **more)
    except FileNotFoundError:
        raise Unavailable(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{command[0]} took more than {INSTALL_SECONDS} s") from None
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout or "").strip().splitlines()
        raise Unavailable(f"{command[0]} failed: {said[-1] if said else error.returncode}") from None


def npm_package(cache, source):
    """Returns the path of the package's archive, which several sources may share."""
    folder = os.path.join(cache, "packages")
    name = f"{source['package'].lstrip('@').replace('/', '-')}-{source['version']}.tgz"
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as fresh:
            run(["npm", "pack", f"{source['package']}@{source['version']}", "--silent"], cwd=fresh)
            os.replace(os.path.join(fresh, name), path)
    return path


def document(cache, source):
    with tarfile.open(npm_package(cache, source)) as archive:
        try:
            content = archive.extractfile(source["member"]).read()
        except KeyError:
            raise Unavailable(f"{source['package']} has no {source['member']}") from None
    return gzip.decompress(content) if source["member"].endswith(".gz") else content


def installed_server(cache, source):
    """Returns the path of the server's program, after installing it if necessary."""
    folder = os.path.join(cache, "servers", f"{source['service']}-{source['version']}")
    npm = source["kind"] == "mcp-npm"
    program = os.path.join(folder, "node_modules/.bin" if npm else "bin", source["command"][0])
    if not os.path.exists(program):
        os.makedirs(folder, exist_ok=True)
        if npm:
            run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", "--prefix", folder,
                 f"{source['package']}@{source['version']}"])
        else:
            run([sys.executable, "-m", "venv", folder])
            run([os.path.join(folder, "bin", "pip"), "install", "-q", "--disable-pip-version-check",
                 f"{source['package']}=={source['version']}"])
    if not os.path.exists(program):
        raise Unavailable(f"{source['package']} has no command {source['command'][0]}")
    return program


class Server:
    """An MCP server on standard input and output, with its own process group and empty folder."""

    def __init__(self, command, environment, folder):
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self.lines = queue.Queue()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, cwd=folder, start_new_session=True,
                                        env={**kept, "HOME": folder, **environment})
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def tell(self, method, **message):
        line = json.dumps({"jsonrpc": "2.0", "method": method, **message}) + "\n"
        try:
            self.process.stdin.write(line.encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Unavailable("the server closed its input") from None

    def ask(self, number, method, params):
        self.tell(method, id=number, params=params)
        limit = time.monotonic() + ANSWER_SECONDS
        while True:
            try:
                line = self.lines.get(timeout=max(0, limit - time.monotonic()))
            except queue.Empty:
                raise Unavailable(f"no answer to {method} within {ANSWER_SECONDS} s") from None
            if line is None:
                raise Unavailable(f"the server ended before it answered {method}")
            try:
                message = json.loads(line)
            except ValueError:
                continue  # some servers print a banner
            if not isinstance(message, dict) or message.get("id") != number or "method" in message:
                continue
            if "result" not in message:
                raise Unavailable(f"{method} was refused: {message.get('error')}")
            return message["result"]

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


def tools_of_server(cache, source):
    program = installed_server(cache, source)
    with tempfile.TemporaryDirectory() as folder:
        server = Server([program, *source["command"][1:]], source.get("environment", {}), folder)
        try:
            server.ask(0, "initialize", {"protocolVersion": PROTOCOL, "capabilities": {},
                                         "clientInfo": {"name": "whichtool-bench", "version": "1"}})
            server.tell("notifications/initialized")
            tools, params = [], {}
            for page in range(1, MOST_PAGES + 1):
                result = server.ask(page, "tools/list", params)
                tools += result["tools"]
                if not result.get("nextCursor"):
                    break
                params = {"cursor": result["nextCursor"]}
        finally:
            server.end()
    # Members of a tool that matter for choosing it; the order of the list and other members may vary.
    kept = [{key: tool[key] for key in ("name", "title", "description", "inputSchema") if key in tool} for tool in tools]
    kept.sort(key=lambda tool: tool["name"])
    return (json.dumps({"tools": kept}, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def fetch(cache, source, renew=False):
    """Puts the source's catalogue into the cache, or raises Unavailable."""
    if has(cache, source) and not renew:
        return
    content = document(cache, source) if source["kind"] == "npm" else tools_of_server(cache, source)
    found = hashlib.sha256(content).hexdigest()
    if renew:
        source["sha256"] = found
    if found != source["sha256"]:
        raise Unavailable(f"SHA-256 is {found}, not {source['sha256']}")
    path = path_of(cache, source)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "wb") as file:
        file.write(content)
    os.replace(path + ".new", path)


def fetch_all(cache, data=HERE, renew=()):
    """Returns the sources with cached catalogues; reports the others on stderr."""
    every, there = sources(data), []
    for source in every:
        try:
            fetch(cache, source, source["service"] in renew)
            there.append(source)
        except Unavailable as error:
            print(f"{source['service']}: left out: {error}", file=sys.stderr)
    if renew:
        with open(os.path.join(data, "sources.json"), "w", encoding="utf-8") as file:
            file.write("[\n" + ",\n".join(json.dumps(source, ensure_ascii=False) for source in every) + "\n]\n")
    return there


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", default=default_cache(), type=os.path.abspath)
    parser.add_argument("--data", default=HERE, help="the folder of sources.json")
    parser.add_argument("--renew", default="", help="services, by commas")
    options = parser.parse_args()
    there = fetch_all(options.cache, options.data, set(filter(None, options.renew.split(","))))
    missing = len(sources(options.data)) - len(there)
    print(f"{len(there)} catalogues in {options.cache}" + (f", {missing} left out" if missing else ""))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
