#!/usr/bin/env python3
"""Checks the metrics and traces of `whichtool serve` with parsers of other people.

    python3 bench/operations_formats.py WHICHTOOL STORE       pip install prometheus-client opentelemetry-proto
    python3 bench/operations_formats.py collect               a collector that accepts everything, for bench/serving.py

Reads /metrics with Prometheus' client library, and the bodies of exports into the messages of opentelemetry-proto. The
JSON form of OTLP has ids in hexadecimal, where protobuf has base64, so they are converted first. Prints the numbers of
metrics and spans."""
import base64
import http.server
import json
import subprocess
import sys
import threading
import time
import urllib.request

bodies = []


class Collector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        if sys.argv[1] == "collect":
            bodies.clear()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def ids_in_base64(value):
    if isinstance(value, list):
        return [ids_in_base64(item) for item in value]
    if not isinstance(value, dict):
        return value
    ids = ("traceId", "spanId", "parentSpanId")
    return {key: base64.b64encode(bytes.fromhex(item)).decode() if key in ids else ids_in_base64(item)
            for key, item in value.items()}


def check(url):
    from google.protobuf import json_format
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    from prometheus_client.parser import text_string_to_metric_families
    with urllib.request.urlopen(url + "/metrics") as answer:
        families = list(text_string_to_metric_families(answer.read().decode()))
    while not bodies:
        time.sleep(.1)
    spans = [span for body in bodies
             for resource in json_format.ParseDict(ids_in_base64(json.loads(body)), ExportTraceServiceRequest()).resource_spans
             for scope in resource.scope_spans for span in scope.spans]
    assert all(len(span.trace_id) == 16 and len(span.span_id) == 8 for span in spans)
    names = {span.name for span in spans}
    print(f"{len(families)} metrics; {len(spans)} spans: {', '.join(sorted(names))}")


def main():
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    endpoint = f"http://127.0.0.1:{collector.server_port}"
    if sys.argv[1] == "collect":
        print(endpoint, flush=True)
        collector.serve_forever()
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    program, store = sys.argv[1:]
    server = subprocess.Popen([program, "-q", "--json", "-s", store, "serve", "--listen", "127.0.0.1:0", "--otlp-endpoint",
                               endpoint], stdout=subprocess.PIPE, text=True)
    try:
        url = json.loads(server.stdout.readline())["listening"]
        for query in ("is it going to rain", "book a table"):
            urllib.request.urlopen(url + "/v1/find", json.dumps({"query": query}).encode()).read()
        check(url)
    finally:
        server.terminate()
        server.wait()


main()
