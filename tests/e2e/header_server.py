"""An MCP server over HTTP, legacy or modern, whose tool `headers` returns the request's headers and its _meta as text.

    python3 header_server.py ERA

Prints its URL. ERA is legacy or modern."""
import http.server
import json
import sys

modern = sys.argv[1] == "modern"
TOOL = {"name": "headers", "description": "Returns the headers of the request.", "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True}}


def answer(method, headers, params):
    about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "headers", "version": "1"}}
    if method == "server/discover" and modern:
        return {"supportedVersions": ["2026-07-28"], "resultType": "complete", **about}
    if method == "initialize" and not modern:
        return {"protocolVersion": "2025-06-18", **about}
    if method == "tools/list":
        return {"tools": [TOOL], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    if method == "tools/call":
        text = "\n".join(f"{name.lower()}: {value}" for name, value in headers.items())
        text += "\n_meta: " + json.dumps(params.get("_meta"))
        return {"content": [{"type": "text", "text": text}], "resultType": "complete"}
    return None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in message:
            self.send_response(202)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        result = answer(message["method"], self.headers, message.get("params", {}))
        body = {"jsonrpc": "2.0", "id": message["id"]}
        body.update({"result": result} if result else {"error": {"code": -32601, "message": "no such method"}})
        text = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        self.send_error(405)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}/mcp", flush=True)
server.serve_forever()
