#!/usr/bin/env python3
"""Measures models trained on generated requests only, on human test requests.

    python3 bench/generated.py WORK SET GENERATED [--recipes A,B] [--usages 1,2,5,10] [--model NAME] [--synthetic]

SET is a data set in BEIR layout with a test split. GENERATED is the output of `whichtool generate toolbank --test 0` for
its tools, which are matched by name and provider. WORK gets a data set with SET's corpus and test split, and GENERATED's
train and dev splits. Generated requests that repeat a test request are dropped: equal words, or four in five of their
words in common. `whichtool eval` then runs on test with at most N usages of a tool, for each N, compared with the first
recipe, which is not trained. --synthetic adds for each N an encoder trained on as many requests of the inverse cloze task
(`train encoder --synthetic`), or all that the catalogue's texts give.
Prints a Markdown table; a failed row shows its error.

    whichtool -s numpy.wt add shared/data/numpybank/corpus.jsonl
    whichtool -s numpy.wt generate toolbank --usages 10 --test 0 --chat-model NAME --out made
    python3 bench/generated.py work shared/data/numpybank made
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

from beir import judgements, lines

SAME = 0.8  # share of common words from which two requests count as equal
METRICS = ("recall@3", "recall@5", "ndcg@5", "complete@5")


def key(tool):
    return tool["title"].lower(), (tool.get("metadata") or {}).get("provider", "").lower()


def words(text):
    return frozenset(re.findall(r"\w+", text.lower()))


def says_the_same(one, others):
    return any(len(one & other) >= SAME * len(one | other) for other in others)


def join(out, people, generated):
    """Writes the data set of WORK. Returns the number of generated requests in each split, and of dropped ones."""
    ids = {key(tool): tool["_id"] for tool in lines(os.path.join(people, "corpus.jsonl"))}
    tools = {tool["_id"]: ids.get(key(tool)) for tool in lines(os.path.join(generated, "corpus.jsonl"))}
    test = judgements(people)
    kept = [query for query in lines(os.path.join(people, "queries.jsonl")) if query["_id"] in test]
    known = [words(query["text"]) for query in kept]
    texts = {query["_id"]: query["text"] for query in lines(os.path.join(generated, "queries.jsonl"))}
    judged, left_out = {"test": test}, 0
    for split in ("train", "dev"):
        judged[split] = {}
        if not os.path.exists(os.path.join(generated, "qrels", f"{split}.tsv")):
            continue
        for request, right in judgements(generated, split).items():
            named = {tools.get(tool) for tool in right}
            if None in named or says_the_same(words(texts[request]), known):
                left_out += 1
                continue
            judged[split][f"made/{request}"] = named
            kept.append({"_id": f"made/{request}", "text": texts[request]})
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(os.path.join(out, "qrels"))
    shutil.copyfile(os.path.join(people, "corpus.jsonl"), os.path.join(out, "corpus.jsonl"))
    with open(os.path.join(out, "queries.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"_id": query["_id"], "text": query["text"]}) + "\n" for query in kept)
    for split, rows in judged.items():
        if rows:
            with open(os.path.join(out, "qrels", f"{split}.tsv"), "w", encoding="utf-8") as file:
                file.write("query-id\tcorpus-id\tscore\n")
                file.writelines(f"{one}\t{tool}\t1\n" for one, right in rows.items() for tool in sorted(right))
    return {split: len(rows) for split, rows in judged.items()}, left_out


def run(options, *arguments, model=None):
    """Returns the lines of --json, or the error."""
    model = model or options.model
    more = ("--model", model) if model else ()
    done = subprocess.run((options.whichtool, *arguments, *more), capture_output=True, text=True, check=False)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["?"])[-1]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def print_rows(name, rows):
    """Prints the rows. Returns the largest number of training requests."""
    most = 0
    if isinstance(rows, str):
        print(f"| {name} | | {rows} |" + " |" * (len(METRICS) - 1))
        return most
    for row in rows:
        learned = (row["settings"].get("trained") or {}).get("requests", "")
        most = max(most, learned or 0)
        figures = " | ".join(f"{100 * row['metrics'][metric]:.1f}" for metric in METRICS)
        print(f"| {name}: {row['recipe']} | {learned} | {figures} |", flush=True)
    return most


def synthetic(options, data, count):
    """Trains an encoder on the catalogue's own texts only. Returns the number of its requests, limited by the catalogue, and
    its rows."""
    store, models = os.path.join(data, "bare.wt"), os.path.join(data, f"synthetic-{count}")
    made = run(options, "-s", store, "add", "--json", os.path.join(data, "corpus.jsonl"))
    if not isinstance(made, str):
        made = run(options, "-s", store, "train", "encoder", "--synthetic", str(count), "--out", models, "--json")
    if isinstance(made, str):
        return count, made
    model = next(folder for folder, _, files in os.walk(models) if "model.safetensors" in files)
    with open(os.path.join(model, "config.json"), encoding="utf-8") as file:
        learned = json.load(file)["whichtool"]["data"]["requests"]
    return learned, run(options, "eval", data, "--recipe", "dense,hybrid", "--k", "3,5", "--json", model=model)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("work")
    parser.add_argument("people")
    parser.add_argument("generated")
    parser.add_argument("--recipes", default="tool2vec,auto")
    parser.add_argument("--usages", default="1,2,5,10")
    parser.add_argument("--model")
    parser.add_argument("--synthetic", action="store_true")
    parser.add_argument("--whichtool", default="build/whichtool")
    options = parser.parse_args()
    counts, left_out = join(options.work, options.people, options.generated)
    print(f"{options.people}: {counts['train']} generated requests to train on, {counts['dev']} for dev, {left_out} left "
          f"out; {counts['test']} test requests", file=sys.stderr)
    print("| usages a tool: recipe | requests learned | " + " | ".join(METRICS) + " |")
    print("|---|" + "---|" * (1 + len(METRICS)))
    before = 0
    print_rows("none", run(options, "eval", options.work, "--recipe", "hybrid", "--k", "3,5", "--json"))
    for count in options.usages.split(","):
        learned = print_rows(count, run(options, "eval", options.work, "--recipe", options.recipes, "--usages", count,
                                        "--k", "3,5", "--json"))
        if options.synthetic and learned:
            made, rows = synthetic(options, options.work, learned)
            if made != before:
                print_rows(f"{made} synthetic ones", rows)
            before = made


if __name__ == "__main__":
    main()
