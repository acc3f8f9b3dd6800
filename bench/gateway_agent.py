#!/usr/bin/env python3
"""Measures whether a scripted agent does as well through the gateway as with the whole list of tools.

    python3 bench/gateway_agent.py WHICHTOOL [--split test] [--seed 1] [--tools 300] [--cache FOLDER] [--failures]

The ten real services of bench/real with most requests in the split become MCP servers behind the gateway, with --tools
tools in total: the needed ones, and others of the same services drawn by --seed. The requests are those of the split that
need one tool of these services, of all kinds (misspelt, German, negated, ...).

The agent has no language model. It ranks definitions by one of two readers, and calls the first tool:

    words     BM25 over name, description and parameters' names, in this script
    meaning   whichtool's encoder over the definitions (`find --recipe dense`)

There are three methods: ranking the whole list; ranking the first five hits of search_tools; and taking the first hit of
search_tools. A call has synthetic values that fit the schema. It succeeds if a needed tool was called, and the gateway and
the server accepted the call. The catalogues are those of `bench/real/fetch.py` in its cache folder; missing ones are
reported.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "real")]
import fetch  # noqa: E402
from gateway import LIMIT_S, LISTING_SERVER, Client, prompt_bytes  # noqa: E402

SERVICES, FIRST = 10, 5


def run(options, store, *arguments, text=None):
    done = subprocess.run([options.whichtool, "-q", "-s", str(store), *arguments], capture_output=True, text=True, input=text,
                          timeout=3600)
    if done.returncode > 1:
        sys.exit(f"{' '.join(arguments)}: {done.stderr}")
    return done.stdout


def list_tools(options, store, *arguments):
    return [tool for tool in map(json.loads, run(options, store, "list", "--json", *arguments).splitlines()) if "id" in tool]


# ---------------------------------------------------------------- requests and tools

def read_requests(options):
    """Returns the requests that need one tool."""
    lines = (HERE / "real" / f"{options.split}.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if len(row["needs"]) == 1]


def import_services(options, store, requests):
    """Returns the ids of the services' tools, for the available catalogues."""
    wanted = collections.Counter(service for row in requests for service in row["services"])
    sources = {source["service"]: source for source in fetch.sources() if source["split"] == options.split}
    ids = {}
    for service, _ in wanted.most_common():
        if len(ids) == SERVICES:
            break
        if not fetch.has(options.cache, sources[service]):
            sys.exit(f"{service}: its catalogue is not in {options.cache}: run bench/real/fetch.py")
        run(options, store, "add", "--model", "", "--provider", service, fetch.path_of(options.cache, sources[service]))
        ids[service] = [tool["id"] for tool in list_tools(options, store, "--provider", service)]
    return ids


def draw(options, ids, requests):
    """Chooses the tools behind the gateway, and the requests for them."""
    there, dice = {tool for tools in ids.values() for tool in tools}, random.Random(options.seed)
    requests = [row for row in requests if set(row["services"]) <= set(ids) and set(row["needs"][0]) <= there]
    drawn = {tool for row in requests for tool in row["needs"][0]}
    for service, tools in ids.items():
        others = sorted(set(tools) - drawn)
        lacking = options.tools // SERVICES - len(drawn & set(tools))
        drawn.update(dice.sample(others, min(len(others), max(0, lacking))))
    others = sorted(there - drawn)
    drawn.update(dice.sample(others, max(0, options.tools - len(drawn))))
    return {service: [tool for tool in tools if tool in drawn] for service, tools in ids.items()}, requests


def start_servers(options, folder, store, drawn):
    configured = {}
    script = folder / "server.py"
    script.write_text(LISTING_SERVER)
    for service, tools in drawn.items():
        definitions = [json.loads(run(options, store, "show", "--format", "mcp", tool))[0] for tool in tools]
        for definition, tool in zip(definitions, tools):
            definition["name"] = tool.split("/", 1)[1]
        listing = folder / f"{service}.json"
        listing.write_text(json.dumps({"tools": definitions}))
        configured[service] = {"command": sys.executable, "args": [str(script), str(listing), service]}
    (folder / "servers.json").write_text(json.dumps({"mcpServers": configured}))


def open_client(options, folder, face):
    return Client([options.whichtool, "-q", "-s", str(folder / "tools.wt"), "mcp", "--servers", str(folder / "servers.json"),
                   "--face", face], stderr=subprocess.DEVNULL)


def wait_for_vectors(options, folder, count):
    until = time.monotonic() + 10 * LIMIT_S
    while time.monotonic() < until:
        state = folder / "tools.wt-servers.json"
        servers = json.loads(state.read_text())["servers"] if state.exists() else []
        if sum(server["tools"] for server in servers) == count:
            run(options, folder / "tools.wt", "vectors")
            return
        time.sleep(0.5)
    sys.exit("the servers' tools are not in the catalogue")


# ---------------------------------------------------------------- readers

def words_of(text):
    parted = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text)
    return re.findall(r"[^\W_]+", parted.lower())


class Words:
    """BM25, k1 = 1.2 and b = .75."""

    def __init__(self, tools):
        self.documents = {}
        for tool in tools:
            parameters = " ".join(tool["inputSchema"].get("properties", {}))
            self.documents[tool["name"]] = collections.Counter(
                words_of(f"{tool['name']} {tool.get('title', '')} {tool.get('description', '')} {parameters}"))
        self.frequency = collections.Counter(word for document in self.documents.values() for word in document)
        self.mean = sum(sum(document.values()) for document in self.documents.values()) / len(self.documents)

    def score(self, name, words):
        document, count, total = self.documents[name], len(self.documents), 0
        for word in words:
            weight = math.log(1 + (count - self.frequency[word] + 0.5) / (self.frequency[word] + 0.5))
            norm = 1.2 * (0.25 + 0.75 * sum(document.values()) / self.mean)
            total += weight * document[word] * 2.2 / (document[word] + norm)
        return total

    def ranking(self, request):
        words = words_of(request)
        return sorted(self.documents, key=lambda name: (-self.score(name, words), name))


class Meaning:
    def __init__(self, options, store, count):
        self.options, self.store, self.count = options, store, count

    def ranking(self, request):
        found = json.loads(run(self.options, self.store, "find", "--recipe", "dense", "--json", "--all-copies", "-k",
                               str(self.count), "-", text=request))
        return [hit["export_name"] for hit in found["hits"]]


# ---------------------------------------------------------------- calls

def value_of(schema, root):
    """Returns a value for a simple schema."""
    while "$ref" in schema:
        at = root
        for key in schema["$ref"].removeprefix("#/").split("/"):
            at = at[key]
        schema = at
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    for key in ("anyOf", "oneOf"):
        if schema.get(key):
            return value_of(schema[key][0], root)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: value_of(schema.get("properties", {}).get(name, {}), root) for name in schema.get("required", [])}
    if kind == "array":
        return [value_of(schema.get("items", {}), root)] * schema.get("minItems", 0)
    if kind in ("integer", "number"):
        return max(1, math.ceil(schema.get("minimum", 1)))
    return {"boolean": True, "null": None}.get(kind, "x" * max(1, schema.get("minLength", 1)))


class Agent:
    def __init__(self, client, definitions, ids):
        self.client, self.definitions, self.ids, self.refused = client, definitions, ids, 0

    def succeeds(self, name, needed, call_with=None):
        schema = self.definitions[name]["inputSchema"]
        arguments = value_of(schema, schema)
        if call_with:
            arguments, called = {"name": name, "arguments": arguments}, call_with
        else:
            called = name
        answer = self.client.call(called, arguments).get("result", {})
        took = not answer.get("isError") and answer.get("content", [{}])[0].get("text") == self.ids[name]
        self.refused += self.ids[name] in needed and not took
        return took and self.ids[name] in needed


def first_among(ranking, names):
    return next((name for name in ranking if name in names), None)


def measure(options, direct, search, readers, requests, definitions, ids):
    """Counts successful requests by method, and requests with their tool among the first five."""
    listing, finding = Agent(direct, definitions, ids), Agent(search, definitions, ids)
    won, among = collections.Counter(), 0
    for row in requests:
        needed, text = set(row["needs"][0]), row["text"]
        answer = search.call("search_tools", {"query": text, "k": FIRST})["result"].get("structuredContent", {})
        hits = {hit["name"]: hit["call_with"] for hit in answer.get("tools", [])}
        among += bool(needed & {ids[name] for name in hits})
        first = next(iter(hits), None)
        outcome = {"the first that search_tools answers": bool(first) and finding.succeeds(first, needed, hits[first])}
        for reader, ranker in readers.items():
            ranking = ranker.ranking(text)
            best, read = first_among(ranking, definitions), first_among(ranking, hits)
            outcome[f"{reader}, of the whole list"] = bool(best) and listing.succeeds(best, needed)
            outcome[f"{reader}, of search_tools' five"] = bool(read) and finding.succeeds(read, needed, hits[read])
        won.update(way for way, succeeded in outcome.items() if succeeded)
        if options.failures and not all(outcome.values()):
            print(row["id"], text[:80], {way: bool(succeeded) for way, succeeded in outcome.items()}, file=sys.stderr)
        won.update({way: 0 for way in outcome})
    return won, among, listing.refused, finding.refused


def compare(options):
    requests = read_requests(options)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ids_of = import_services(options, folder / "all.wt", requests)
        drawn, requests = draw(options, ids_of, requests)
        start_servers(options, folder, folder / "all.wt", drawn)
        count = sum(len(tools) for tools in drawn.values())
        direct = open_client(options, folder, "direct")
        wait_for_vectors(options, folder, count)
        tools, cursor = [], {}
        while cursor is not None:
            page = direct.ask("tools/list", cursor)["result"]
            tools += page["tools"]
            cursor = {"cursor": page["nextCursor"]} if page.get("nextCursor") else None
        ids = {tool["export_name"]: tool["id"] for tool in list_tools(options, folder / "tools.wt")}
        definitions = {tool["name"]: tool for tool in tools}
        search = open_client(options, folder, "search")
        small = prompt_bytes(search.ask("tools/list", {})["result"]["tools"])
        readers = {"words": Words(tools), "meaning": Meaning(options, folder / "tools.wt", count)}
        won, among, refused_list, refused_search = measure(options, direct, search, readers, requests, definitions, ids)
        whole = prompt_bytes(tools)
        print(f"{count} tools of {len(drawn)} services, {len(requests)} requests; the prompt {small} of {whole} bytes: "
              f"{100 * small / whole:.2f} %; the tool among search_tools' five: {100 * among / len(requests):.1f} %")
        print(f"right tools whose call was refused: {refused_list} of the whole list's, {refused_search} of the search's")
        for way in sorted(won):
            print(f"{100 * won[way] / len(requests):5.1f} %  {way}")
        direct.close()
        search.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("whichtool", type=os.path.abspath)
    parser.add_argument("--split", choices=("dev", "test"), default="test")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tools", type=int, default=300)
    parser.add_argument("--cache", default=fetch.default_cache())
    parser.add_argument("--failures", action="store_true")
    compare(parser.parse_args())


if __name__ == "__main__":
    main()
