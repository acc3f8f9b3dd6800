#!/usr/bin/env python3
"""What a provider captures that floods a catalogue with near-copies, and what --max-per-provider leaves it.

    python3 bench/flood.py DATA [WHICHTOOL [RECIPES]]      DATA is a BEIR folder; RECIPES as bm25,hybrid

One provider adds 1 % of tools to a copy of the catalogue, in three ways:

    deep      five copies of each of few tools, those that the most requests need
    wide      one copy of each of five times as many
    requests  as deep, but its descriptions are the requests themselves

Every request of the test split is then asked by `whichtool find`. Prints Markdown, in percent: of all top-5 places, how
many are the flooder's; of all requests, how many have any of them; and recall@5 of the tools that are right, which a cap
costs where a request needs several tools of one provider.
"""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

from beir import judgements, lines

PLACES = 5
SHARE = 0.01
DEEP = 5
CAPS = (0, 1, 2)
FLOODER = "Prime Tools"


def read(folder):
    tools = {row["_id"]: row for row in lines(os.path.join(folder, "corpus.jsonl"))}
    texts = {row["_id"]: row["text"] for row in lines(os.path.join(folder, "queries.jsonl"))}
    right = {request: needed & tools.keys() for request, needed in judgements(folder).items() if needed & tools.keys()}
    return tools, {request: texts[request] for request in right}, right


def near_copy(tool, number, request):
    """The tool under the flooder's name. The provider's own name is kept in the text, since requests say it."""
    meta = tool.get("metadata", {})
    text = request or f"{meta.get('provider', '').strip()}: {tool.get('text', '')}"
    kept = {key: meta[key] for key in ("category", "parameters") if key in meta}
    return {"_id": f"flood-{number}", "title": f"{tool['title']} {number}", "text": f"{text} Fast and reliable.",
            "metadata": {"provider": FLOODER, **kept}}


def floods(tools, requests, right):
    needs = collections.defaultdict(list)
    for request in requests:
        for tool in right[request]:
            needs[tool].append(request)
    popular = sorted(needs, key=lambda tool: (-len(needs[tool]), tool))
    budget = round(SHARE * len(tools))
    few = popular[:max(1, budget // DEEP)]
    yield "none", []
    yield "deep", [near_copy(tools[few[n % len(few)]], n, None) for n in range(budget)]
    yield "wide", [near_copy(tools[popular[n % len(popular)]], n, None) for n in range(budget)]
    asked = []
    for n in range(budget):
        tool = few[n % len(few)]
        asked.append(near_copy(tools[tool], n, requests[needs[tool][n // len(few) % len(needs[tool])]]))
    yield "requests", asked


def call(command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):  # 1: nothing found
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def ask(whichtool, store, model, recipe, cap, requests, right):
    places = taken = having = 0
    recall = 0.0
    for request, text in requests.items():
        command = [whichtool, "-s", store, "-q", "--json", "find", "-r", recipe, "-k", str(PLACES), *model, "-"]
        if cap:
            command += ["--max-per-provider", str(cap)]
        hits = [json.loads(line) for line in call(command, text).splitlines()]
        flooders = sum(hit["provider"] == FLOODER for hit in hits)
        places += len(hits)
        taken += flooders
        having += flooders > 0
        recall += len({hit["source_id"] for hit in hits} & right[request]) / len(right[request])
    return taken / max(1, places), having / len(requests), recall / len(requests)


def flooded_store(whichtool, folder, model, name, copies):
    """A copy of the base store, whose vectors need not be made again, with the flooder's tools in it."""
    store = os.path.join(folder, f"{name}.wt")
    shutil.copy(os.path.join(folder, "base.wt"), store)
    if copies:
        source = os.path.join(folder, f"{name}.jsonl")
        with open(source, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(tool) + "\n" for tool in copies)
        call([whichtool, "-s", store, "-q", "add", source, "-f", "beir", *model])
    return store


def measure(data, whichtool, recipes, folder):
    tools, requests, right = read(data)
    model = ["--model", ""] if recipes == ["bm25"] else []
    call([whichtool, "-s", os.path.join(folder, "base.wt"), "-q", "add", os.path.join(data, "corpus.jsonl"), "-f",
          "beir", *model])
    print(f"{len(tools):,} tools, {len(requests):,} requests\n")
    print("| flood | recipe | cap | places | requests | recall@5 |\n|---|---|---|---|---|---|")
    for name, copies in floods(tools, requests, right):
        store = flooded_store(whichtool, folder, model, name, copies)
        for recipe in recipes:
            for cap in CAPS:
                figures = ask(whichtool, store, model, recipe, cap, requests, right)
                print(f"| {name} | {recipe} | {cap or 'none'} | " + " | ".join(f"{100 * f:.1f}" for f in figures) + " |",
                      flush=True)


def main():
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(__doc__)
    whichtool = sys.argv[2] if len(sys.argv) > 2 else "build/whichtool"
    recipes = sys.argv[3].split(",") if len(sys.argv) > 3 else ["bm25"]
    with tempfile.TemporaryDirectory() as folder:
        measure(sys.argv[1], whichtool, recipes, folder)


if __name__ == "__main__":
    main()
