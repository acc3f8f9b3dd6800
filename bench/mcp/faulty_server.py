"""MCP servers with one fault each, as described by the rows of faults.jsonl.

    python3 faulty_server.py NAME                 one row on standard input and output
    python3 faulty_server.py --http PORT_FILE     every row over HTTP, as http://127.0.0.1:PORT/NAME, until its input ends

A server has the tools `left`, `odd` and `right`, resources, templates and prompts of the same names, and answers a call
with "NAME: TOOL". Members of a row:

    kind, with, without, item   the list whose `odd` item is changed: members set, members removed, or the whole item
    list                        value in place of the whole list
    pages                       pages of tools/list: `tools`, `next`, and `at`, the cursor that leads to the page
    on                          what happens at "METHOD TOOL", "METHOD" or "*" (`Server.play`)
    noise                       text around each message on standard output: [before, after]
    session                     handling of HTTP sessions (`Sessions`)
    modern                      true if the server speaks 2026-07-28, too
"""
import http.server
import itertools
import json
import os
import pathlib
import sys
import threading
import time

MODERN = "2026-07-28"
STEP_S = 0.2  # seconds between two notifications of a slow request
STORM = 3000  # notifications
LISTS = {"tools/list": "tools", "resources/list": "resources", "resources/templates/list": "resourceTemplates",
         "prompts/list": "prompts"}
NAMES = ("left", "odd", "right")
TABLE = pathlib.Path(__file__).with_name("faults.jsonl")


def read_rows():
    return [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]


def make_item(server, kind, name):
    """Returns an item without a fault. Only tools of two servers have the same name."""
    if kind == "tools":
        schema = {"type": "object", "properties": {"a": {"type": "string"}}}
        return {"name": name, "description": f"The {name} tool of {server}", "inputSchema": schema}
    if kind == "resources":
        return {"uri": f"faults://{server}/{name}", "name": name}
    if kind == "resourceTemplates":
        return {"uriTemplate": f"faults://{server}/{name}/{{a}}", "name": name}
    return {"name": f"{server}-{name}", "arguments": [{"name": "a", "required": False}]}


def expand(value):
    """Expands {"repeat": [TEXT, COUNT]} to the repeated text."""
    if isinstance(value, dict) and list(value) == ["repeat"]:
        return value["repeat"][0] * value["repeat"][1]
    if isinstance(value, dict):
        return {key: expand(member) for key, member in value.items()}
    return [expand(item) for item in value] if isinstance(value, list) else value


class Server:
    """Answers messages according to a row. `send` sends a message to the client."""

    def __init__(self, row):
        self.row = expand(row)
        self.name, self.actions = row["name"], self.row.get("on", {})
        self.is_poisoned = False
        self.cancelled = threading.Condition()
        self.cancelled_ids = set()

    def list_items(self, kind):
        row = self.row
        if row.get("kind", "tools") != kind:
            return [make_item(self.name, kind, name) for name in NAMES]
        if "list" in row:
            return row["list"]
        odd = make_item(self.name, kind, "odd") | row.get("with", {})
        for member in row.get("without", []):
            del odd[member]
        return [make_item(self.name, kind, "left"), row.get("item", odd), make_item(self.name, kind, "right")]

    def list_page(self, cursor):
        pages = self.row["pages"]
        page = next((page for page in pages if "at" in page and page["at"] == cursor), pages[0])
        if page.get("refused"):
            return {"error": {"code": -32603, "message": "this page is broken"}}
        result = {"tools": [make_item(self.name, "tools", name) for name in page["tools"]]}
        if page.get("next") == "FRESH":
            result["nextCursor"] = str(time.monotonic_ns())
        elif "next" in page:
            result["nextCursor"] = page["next"]
        return {"result": result}

    def initialize(self, params):
        version = params.get("protocolVersion", "2025-06-18")
        capabilities = {"tools": {}, "resources": {}, "prompts": {}}
        return {"protocolVersion": version, "capabilities": capabilities,
                "serverInfo": {"name": self.name, "version": "1"}}

    def answer(self, method, params):
        """Returns the answer of a server without a fault, apart from its lists."""
        if method == "initialize":
            return {"result": self.initialize(params)}
        if method == "server/discover" and self.row.get("modern"):
            return {"result": {"supportedVersions": [MODERN], "capabilities": {"tools": {}}, "resultType": "complete",
                               "ttlMs": 0, "cacheScope": "private"}}
        if method == "tools/list" and "pages" in self.row:
            return self.list_page(params.get("cursor"))
        if method in LISTS:
            return {"result": {LISTS[method]: self.list_items(LISTS[method])} | self.modern_members()}
        if method == "tools/call":
            tool = params["name"] if params["name"] in ("left", "right") else "odd"
            return {"result": {"content": [{"type": "text", "text": f"{self.name}: {tool}"}]} | self.modern_members()}
        if method == "ping":
            return {"result": {}}
        return {"error": {"code": -32601, "message": "Method not found"}}

    def modern_members(self):
        return {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if self.row.get("modern") else {}

    def find_action(self, method, params):
        keys = (f"{method} {params.get('name', '')}", method, "*")
        return next((self.actions[key] for key in keys if key in self.actions), {})

    def take_note(self, message):
        if message.get("method") == "notifications/cancelled":
            with self.cancelled:
                self.cancelled_ids.add(message["params"]["requestId"])
                self.cancelled.notify_all()

    def delay(self, message, action, send):
        """Waits according to the action, and sends progress or log messages meanwhile."""
        if action.get("until_cancelled"):
            with self.cancelled:
                self.cancelled.wait_for(lambda: message["id"] in self.cancelled_ids, 30)
        until = time.monotonic() + action.get("sleep", 0)
        token = message.get("params", {}).get("_meta", {}).get("progressToken")
        for count in itertools.count(1):
            left = until - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, STEP_S))
            if action.get("meanwhile") == "progress" and token is not None:
                send({"method": "notifications/progress", "params": {"progressToken": token, "progress": count}})
            elif action.get("meanwhile") == "logs":
                send({"method": "notifications/message", "params": {"level": "info", "data": f"step {count}"}})

    def play(self, message, send):
        """Answers a request through `send`, with its fault: exit, silent, sleep, error, with and without (members of the
        result), result, and so on. Returns the action."""
        method, params = message["method"], message.get("params") or {}
        action = self.find_action(method, params)
        if self.is_poisoned:
            send({"id": message["id"], "error": {"code": -32602, "message": "a request came before initialization"}})
            return action
        self.delay(message, action, send)
        if "exit" in action:
            os._exit(action["exit"])
        self.is_poisoned = action.get("poisons", False)
        if action.get("silent"):
            return action
        answer = {name: action[name] for name in ("error", "result") if name in action} or self.answer(method, params)
        if "result" in answer and isinstance(answer["result"], dict):
            kept = {key: value for key, value in answer["result"].items() if key not in action.get("without", [])}
            answer = {"result": kept | action.get("with", {})}
        for count in range(STORM if "storm" in action else 0):
            send({"method": action["storm"], "params": {"level": "info", "data": count}})
        if "stranger" in action:
            send(action["stranger"])
        number = action.get("id", "ID")
        send({"id": str(message["id"]) if number == "text" else message["id"], **answer})
        if action.get("twice"):
            send({"id": message["id"], **answer})
        if "then_exit" in action:
            os._exit(action["then_exit"])
        return action


# ---------------------------------------------------------------- standard input and output


def serve_stdio(row):
    server, lock = Server(row), threading.Lock()
    before, after = row.get("noise", ["", ""])
    time.sleep(row.get("slow_start", 0))

    def send(message):
        message = {"jsonrpc": "2.0"} | message
        text = json.dumps([message] if row.get("batch") else message, ensure_ascii=False)
        text = (before + text + after + "\n").encode().replace(b"BYTE", b"\xff")
        with lock:
            sys.stdout.buffer.write(text)
            sys.stdout.buffer.flush()

    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            server.take_note(message)
        else:
            threading.Thread(target=server.play, args=(message, send), daemon=True).start()


# ---------------------------------------------------------------- HTTP


class Sessions:
    """Sessions of one row. `lost` is the answer to a session that the server forgot: status, type and text. The server
    forgets its sessions once, when `left` has been called. `given` is "none", "changing" or missing."""

    def __init__(self, row):
        self.settings, self.numbers, self.known = row.get("session", {}), itertools.count(1), set()
        self.has_lost, self.lock = False, threading.Lock()

    def begin(self):
        with self.lock:
            session = f"session-{next(self.numbers)}"
            self.known.add(session)
        return None if self.settings.get("given") == "none" else session

    def check(self, session, method):
        """Returns None if the session stands, else the answer that refuses the request."""
        with self.lock:
            if method == "initialize" or "lost" not in self.settings or session in self.known:
                return None
        return self.settings["lost"]

    def note_call(self, params):
        with self.lock:
            if params.get("name") == "left" and not self.has_lost and "lost" in self.settings:
                self.known.clear()
                self.has_lost = True


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    servers = {row["name"]: (Server(row), Sessions(row)) for row in read_rows()}

    def reply(self, status, kind, text, **headers):
        body = text.encode()
        self.send_response(status)
        for name, value in ({"Content-Type": kind, "Content-Length": str(len(body))} | headers).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(405, "text/plain", "no stream")

    def do_DELETE(self):
        self.reply(200, "text/plain", "")

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name, _, rest = self.path.lstrip("/").partition("/")
        if name not in self.servers:
            return self.reply(404, "text/plain", "no such row")
        server, sessions = self.servers[name]
        method, params = message.get("method", ""), message.get("params") or {}
        refusal = sessions.check(self.headers.get("Mcp-Session-Id"), method)
        action = server.find_action(method, params)
        if refusal:
            status, kind, text = refusal
            return self.reply(status, kind, text.replace("$ID", str(message.get("id", "null"))))
        if "redirect" in server.row and not rest:
            return self.reply(server.row["redirect"], "text/plain", "", Location=f"/{name}/moved")
        if "status" in action:
            return self.reply(*action["status"], **action.get("headers", {}))
        if "id" not in message:
            server.take_note(message)
            return self.reply(202, "text/plain", "")
        return self.answer(server, sessions, message)

    def answer(self, server, sessions, message):
        sent, headers = [], {}
        server.play(message, lambda outgoing: sent.append(json.dumps({"jsonrpc": "2.0"} | outgoing)))
        session = None
        if message["method"] == "initialize" or sessions.settings.get("given") == "changing":
            session = sessions.begin()
        if session:
            headers["Mcp_Session_Id"] = session
        if message["method"] == "tools/call":
            sessions.note_call(message["params"])
        if len(sent) == 1:
            return self.reply(200, "application/json", sent[0], **headers)
        return self.reply(200, "text/event-stream", "".join(f"data: {text}\n\n" for text in sent), **headers)

    def log_message(self, *_):
        pass


class HttpServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Says nothing about a client that left: one whose time is up does not wait for the answer."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def end_with_input():
    sys.stdin.read()
    os._exit(0)


def serve_http(port_file):
    threading.Thread(target=end_with_input, daemon=True).start()
    with HttpServer(("127.0.0.1", 0), Handler) as server:
        unfinished = pathlib.Path(port_file + ".unfinished")
        unfinished.write_text(str(server.server_address[1]))
        unfinished.rename(port_file)
        server.serve_forever()


if __name__ == "__main__":
    if sys.argv[1] == "--http":
        serve_http(sys.argv[2])
    else:
        serve_stdio(next(row for row in read_rows() if row["name"] == sys.argv[1]))
