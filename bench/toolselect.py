#!/usr/bin/env python3
"""Trains on ToolSelect, and measures on its held-out tools and on ToolVerifier's tools, which training never saw:
a table of docs/learning.md.

    python3 bench/toolselect.py WHICHTOOL DATA WORK

DATA has the folders toolselect and toolverifier. WORK receives the data set in BEIR layout, and the trained models.

A sample of ToolSelect is an instruction, a list of tools, and the right tool of the list. It becomes a request whose
right tool has the score 1, and whose other listed tools have the score 0, which makes them hard negatives. One tool in
ten is held out, by the SHA-256 of its name: its samples are dev, and are only ranked against their own list.

Prints for each model the share of requests whose right tool is first: on dev among the tools of the list, and on
ToolVerifier's requests among all of its 17 tools, with the recipes dense, hybrid and joint."""
import hashlib
import json
import os
import subprocess
import sys
import tempfile

import beir

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

from whichtool import Catalogue  # noqa: E402

INCLUDED, JOINT = os.path.join(ROOT, "models/whichtool-minilm-v2"), os.path.join(ROOT, "models/whichtool-joint-v1")
HELD_OUT = 10  # one tool in this many is dev
ENCODER = ["encoder", "--negatives", "8", "--dev", "description", "--epochs", "3"]
CROSS = ["cross", "--loss", "both", "--negatives", "7", "--epochs", "3"]


def is_dev(tool):
    return int(hashlib.sha256(tool.encode()).hexdigest(), 16) % HELD_OUT == 0


def write_lines(path, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(row + "\n" for row in rows)


def convert(samples, folder):
    """Writes the data set. Two samples may share an instruction; then their lists count together."""
    tools, rows = {}, {"train": [], "dev": []}
    for number, sample in enumerate(samples):
        for choice in sample["choices"]:
            tools.setdefault(choice["name"], choice["description"])
        split = "dev" if is_dev(sample["tool"]) else "train"
        for choice in sample["choices"]:
            if split == "train" and is_dev(choice["name"]):
                continue  # a tool of dev is no negative either
            rows[split].append(f"s{number}\t{choice['name']}\t{int(choice['name'] == sample['tool'])}")
    write_lines(f"{folder}/corpus.jsonl", [json.dumps({"_id": name, "title": name, "text": text}) for name, text in tools.items()])
    write_lines(f"{folder}/queries.jsonl",
                [json.dumps({"_id": f"s{number}", "text": sample["query"]}) for number, sample in enumerate(samples)])
    for split, lines in rows.items():
        write_lines(f"{folder}/qrels/{split}.tsv", ["query-id\tcorpus-id\tscore"] + lines)


def train(whichtool, data, folder, options):
    """Trains a model once, and returns its folder."""
    if not os.path.exists(f"{folder}/done"):
        resume = ["--resume"] if os.path.exists(folder) else []
        subprocess.run([whichtool, "train", *options, "--data", data, "--out", folder, "--model", INCLUDED, *resume], check=True)
        write_lines(f"{folder}/done", [])
    return f"{folder}/{options[0]}"


def first_right(catalogue, recipe, requests):
    """Returns the share of requests whose right tool is first. requests: texts, their right tools, and the tools to choose from."""
    found = catalogue.find_batch([text for text, _, _ in requests], k=1000, recipe=recipe)
    best = [next((hit.source_id for hit in hits if hit.source_id in listed), None) for hits, (_, _, listed) in zip(found, requests)]
    return sum(name == right for name, (_, right, _) in zip(best, requests)) / len(requests)


def measure(name, encoder, joint, recipes, sets):
    """Prints a row for each recipe. sets: folders of catalogues, and their requests."""
    with tempfile.TemporaryDirectory() as models:
        os.symlink(os.path.abspath(joint), f"{models}/whichtool-joint-v1")
        scores = {recipe: [] for recipe in recipes}
        for folder, requests in sets:
            with Catalogue(model=os.path.abspath(encoder), models_dir=models) as catalogue:
                catalogue.add(f"{folder}/corpus.jsonl")
                for recipe in recipes:
                    scores[recipe].append(first_right(catalogue, recipe, requests))
        for recipe, shares in scores.items():
            print(f"| {name} | `{recipe}` | " + " | ".join(f"{100 * share:.1f}" for share in shares) + " |", flush=True)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    whichtool, data, work = sys.argv[1:]
    samples = beir.lines(f"{data}/toolselect/samples.jsonl")
    convert(samples, f"{work}/data")
    dev = [(s["query"], s["tool"], {c["name"] for c in s["choices"]}) for s in samples if is_dev(s["tool"])]
    unseen = f"{data}/toolverifier"
    names = {tool["title"] for tool in beir.lines(f"{unseen}/corpus.jsonl")}
    right = beir.judgements(unseen)
    test = [(q["text"], next(iter(right[q["_id"]])), names) for q in beir.lines(f"{unseen}/queries.jsonl") if q["_id"] in right]
    encoder = train(whichtool, f"{work}/data", f"{work}/encoder", ENCODER)
    cross = train(whichtool, f"{work}/data", f"{work}/cross", CROSS)
    print(f"{len(samples) - len(dev)} training requests, {len(dev)} dev, {len(test)} test")
    print("| trained | recipe | dev, own lists | ToolVerifier |\n|---|---|---|---|")
    sets = [(f"{work}/data", dev), (unseen, test)]
    measure("nothing", INCLUDED, JOINT, ["dense", "hybrid", "joint"], sets)
    measure("encoder", encoder, JOINT, ["dense", "hybrid", "joint"], sets)
    measure("joint scorer", INCLUDED, cross, ["joint"], sets)


if __name__ == "__main__":
    main()
