"""A collector of traces that is strict about OTLP in JSON (https://opentelemetry.io/docs/specs/otlp/).

    otlp_collector.py FILE

Prints its address. Appends each span to FILE as a line of JSON: its members, with `attributes` as an object, and with the
attributes of the resource as `resource`. A request that breaks the specification gets the status 400, and its problem is
appended to FILE.problems."""
import http.server
import json
import re
import sys

KINDS = range(1, 6)
VALUES = {"stringValue": str, "intValue": str, "boolValue": bool, "doubleValue": (int, float)}
MEMBERS = {"traceId", "spanId", "parentSpanId", "flags", "kind", "name", "startTimeUnixNano", "endTimeUnixNano",
           "attributes", "status"}


def require(holds, what):
    if not holds:
        raise ValueError(what)


def attributes(items):
    out = {}
    for item in items:
        require(set(item) == {"key", "value"} and item["key"] and item["key"] not in out, f"attribute {item}")
        (kind, value), = item["value"].items()
        require(isinstance(value, VALUES[kind]), f"value {item}")
        out[item["key"]] = int(value) if kind == "intValue" else value
    return out


def read_span(span):
    require(set(span) <= MEMBERS, f"members {set(span) - MEMBERS}")
    require(re.fullmatch("[0-9a-f]{32}", span["traceId"]) and int(span["traceId"], 16), "traceId")
    require(re.fullmatch("[0-9a-f]{16}", span["spanId"]) and int(span["spanId"], 16), "spanId")
    require(re.fullmatch("[0-9a-f]{16}", span.get("parentSpanId", "1" * 16)), "parentSpanId")
    require(span["kind"] in KINDS and span["name"] and isinstance(span["flags"], int), "kind, name or flags")
    start, end = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
    require(isinstance(span["startTimeUnixNano"], str) and 1.6e18 < start <= end, "times")
    require(span.get("status", {"code": 2}) == {"code": 2}, "status")
    return {**span, "attributes": attributes(span["attributes"])}


def read_body(body):
    require(set(body) == {"resourceSpans"}, "body")
    for resource in body["resourceSpans"]:
        about = attributes(resource["resource"]["attributes"])
        require(about.get("service.name"), "service.name")
        for scope in resource["scopeSpans"]:
            require(scope["scope"]["name"], "scope")
            for span in scope["spans"]:
                yield {**read_span(span), "resource": about}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"]))
        status = 200
        try:
            require(self.path == "/v1/traces" and self.headers["Content-Type"] == "application/json", "path or type")
            lines = [json.dumps({**span, "header": self.headers["X-Team"]}) + "\n" for span in read_body(json.loads(text))]
            with open(sys.argv[1], "a", encoding="utf-8") as file:
                file.write("".join(lines))
        except (ValueError, KeyError, TypeError) as error:
            status = 400
            with open(sys.argv[1] + ".problems", "a", encoding="utf-8") as file:
                file.write(f"{error!r}: {text[:2000]}\n")
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
