#!/usr/bin/env python3
"""Measures other programs on the same data sets: the peers' columns of docs/retrieval.md, R@5 and nDCG@5 in percent.

    python3 bench/retrieval_peers.py DATA...     BEIR folders, or folders with a BEIR folder for each set

    --model FOLDER      model of sentence-transformers; default all-MiniLM-L6-v2, which it downloads
    --split NAME        split of the sets that have it; default test
    --limit N           the first N requests of each set

bm25s: Lucene's BM25 over "title: text", with names split into words, stemming and stop words. ratel-ai: its BM25 over
provider and name, description and parameters. MiniLM: cosine of vectors of "title: text". bm25s + MiniLM: the sum of both
over all tools, each scaled to 0 to 1.
Needs bm25s, PyStemmer, ratel-ai and sentence-transformers. Prints Markdown; the last row is the mean over sets.
"""
import argparse
import asyncio
import importlib.util
import json
import math
import os
import re

import retrieval_table

PACKAGES = {"bm25s": "bm25s", "Stemmer": "PyStemmer", "ratel_ai": "ratel-ai==0.12.0",
            "sentence_transformers": "sentence-transformers"}
WAYS = ("bm25s", "ratel-ai", "MiniLM", "bm25s + MiniLM")
CUTOFF = 5


def json_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def labelled(folder, split):
    """Returns the requests of the split, and their relevant tools with grades."""
    gold = {}
    with open(os.path.join(folder, "qrels", f"{split}.tsv"), encoding="utf-8") as file:
        for line in list(file)[1:]:
            request, tool, gain = line.rstrip("\n").split("\t")
            if float(gain) > 0:
                gold.setdefault(request, {})[tool] = float(gain)
    return [(row["text"], gold[row["_id"]]) for row in json_lines(os.path.join(folder, "queries.jsonl"))
            if row["_id"] in gold]


def split_names(text):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", re.sub(r"[_./-]+", " ", text))


def by_bm25s(tools, requests):
    """Returns the scores as [requests][tools]."""
    import bm25s
    import Stemmer

    def tokens(texts):
        return bm25s.tokenize([split_names(text) for text in texts], stopwords="en", stemmer=Stemmer.Stemmer("english"),
                              return_ids=False, show_progress=False)

    index = bm25s.BM25(method="lucene")
    index.index(tokens([f"{tool['title']}: {tool['text']}" for tool in tools]), show_progress=False)
    return [index.get_scores(words) for words in tokens(requests)]


def by_vectors(model, tools, requests):
    vectors = [model.encode(texts, normalize_embeddings=True, batch_size=64, show_progress_bar=False)
               for texts in ([f"{tool['title']}: {tool['text']}" for tool in tools], requests)]
    return list(vectors[1] @ vectors[0].T)


def parameters_of(given):
    """Returns the parameters' names with descriptions, in each format of the sets."""
    if isinstance(given, dict) and isinstance(given.get("properties"), dict):
        given = given["properties"]
    elif isinstance(given, dict) and isinstance(given.get("required"), list):
        given = given["required"] + (given.get("optional") or [])
    if isinstance(given, list):
        given = {about["name"]: about for about in given if isinstance(about, dict) and about.get("name")}
    return {name: about for name, about in given.items() if isinstance(about, dict)} if isinstance(given, dict) else {}


def ratel_tool(place, tool):
    import ratel_ai
    about = tool.get("metadata", {})
    properties = {name: {"description": str(said.get("description") or "")}
                  for name, said in parameters_of(about.get("parameters")).items()}
    name = " ".join(filter(None, (about.get("provider"), tool["title"])))
    return ratel_ai.Tool(str(place), name, tool["text"], {"type": "object", "properties": properties})


def by_ratel(tools, requests):
    """Returns the first tools of each request."""
    import ratel_ai
    registry = ratel_ai.ToolRegistry()

    async def register():
        await registry.register([ratel_tool(place, tool) for place, tool in enumerate(tools)])

    asyncio.run(register())
    return [[int(hit.tool_id) for hit in registry.search(request, CUTOFF)] for request in requests]


def first(scores):
    """Returns the best tools with a score; ties are in the order of the catalogue."""
    import numpy
    best = numpy.argsort(-scores, kind="stable")[:CUTOFF]
    return [int(place) for place in best if scores[place] > 0]


def scaled(scores):
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else scores * 0


def figures(found, tools, gold):
    """Returns R@5 and nDCG@5 of one request, as trec_eval computes them."""
    gains = [gold.get(tools[place]["_id"], 0) for place in found]
    ideal = sorted(gold.values(), reverse=True)[:CUTOFF]
    discount = [1 / math.log2(rank + 2) for rank in range(CUTOFF)]
    return (sum(gain > 0 for gain in gains) / len(gold),
            sum(map(lambda g, d: g * d, gains, discount)) / sum(map(lambda g, d: g * d, ideal, discount)))


def measure(model, folder, split, limit):
    """Returns R@5 and nDCG@5 of each method."""
    tools = json_lines(os.path.join(folder, "corpus.jsonl"))
    wanted = labelled(folder, split)[:limit]
    requests = [text for text, _ in wanted]
    words, meaning = by_bm25s(tools, requests), by_vectors(model, tools, requests)
    found = ([first(scores) for scores in words], by_ratel(tools, requests), [first(scores) for scores in meaning],
             [first(scaled(a) + scaled(b)) for a, b in zip(words, meaning)])
    means = []
    for way in found:
        each = [figures(places, tools, gold) for places, (_, gold) in zip(way, wanted)]
        means += [100 * sum(values) / len(each) for values in zip(*each)]
    return means


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--model", default="sentence-transformers/all-MiniLM-L6-v2")
    parser.add_argument("--split", default="test")
    parser.add_argument("--limit", type=int)
    options = parser.parse_args()
    for package, wheel in PACKAGES.items():
        if not importlib.util.find_spec(package):
            parser.exit(1, f"this Python has no {package}: pip install {wheel}\n")
    from sentence_transformers import SentenceTransformer
    model = SentenceTransformer(options.model, device="cpu")
    print("| set | " + " | ".join(f"{way} R@5 | nDCG@5" for way in WAYS) + " |\n|" + "---|" * (1 + 2 * len(WAYS)))
    rows = []
    for folder in retrieval_table.data_sets(options.data, options.split):
        rows.append(measure(model, folder, options.split, options.limit))
        print(f"| {os.path.basename(os.path.normpath(folder))} | " + " | ".join(f"{v:.1f}" for v in rows[-1]) + " |", flush=True)
    print("| **mean** | " + " | ".join(f"{sum(v) / len(rows):.1f}" for v in zip(*rows)) + " |")


if __name__ == "__main__":
    main()
