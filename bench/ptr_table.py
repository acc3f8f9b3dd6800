#!/usr/bin/env python3
"""Makes the tables of PTR (docs/recommend.md): PTR's results on each data set, beside the paper's.

    python3 bench/ptr_table.py [OPTION...] DATA...      each DATA is a BEIR folder with a train split
    python3 bench/ptr_table.py - < rows.jsonl           from rows saved by --rows FILE
    python3 bench/ptr_table.py --echo FILE              measures how often recorded answers repeat the prompt

    --whichtool COMMAND     default build/whichtool
    --trained FOLDER        models of each set in FOLDER/NAME; trained first by default
    --cache FOLDER, --limit N, --base-retriever A,B      as in eval, for each run
    --replay FILE --chat-model NAME --asked N            rows of a language model from recorded answers, for the first N
                                                         requests of each set, if the recording is complete
    --rows FILE             save the measured rows
    --encoder LABEL=MODEL   rows of another, untrained encoder as dense retrieval; may be repeated. The paper's
                            Contriever was trained without labels, like `train encoder --synthetic N` over a data set
                            with an empty train split (docs/recommend.md)

Random draws from the past: its first tools are drawn uniformly from the tools that the train split used, its bundle from
the used sets, with DRAWS draws for each request. N/A is a retriever alone: as many first tools as a request of the train
split needs on average, as in the paper; and its nearest bundle. Recall@K and NDCG@K have K = the number of needed tools.
The oracle knows the judgements: its rows show the loss of PTR's stages and say nothing about a real language model. Rows
of a language model use bm25, so that its prompts do not depend on a trained encoder; useless models are marked.
"""
import argparse
import collections
import json
import math
import os
import random
import subprocess
import sys
import tempfile

DRAWS = 200
METRICS = ("recall@gold", "ndcg@gold", "tracc")
RATES = ("0", "0.1", "0.2")
ABLATED = "dense"  # base retriever of the ablations
ABLATIONS = ("bundle", "dsa", "hqc", "cte")
# The paper's sets with our same or nearest set, and the figures of its Tables 1 and 2.
PAPER_SETS = {"toollens-tools": 0, "toollens": 0, "metatool-multi": 1, "rectools": 2}
PAPER = (
    ("Random", "N/A", (.036, .061, .034), (.133, .202, .133), (.137, .271, .097)),
    ("Random", "GPT-4o", (.227, .303, .187), (.663, .843, .562), (.492, .802, .305)),
    ("BM25", "N/A", (.131, .194, .125), (.429, .603, .429), (.486, .596, .382)),
    ("BM25", "GPT-4o", (.261, .331, .208), (.712, .892, .612), (.545, .810, .414)),
    ("Contriever", "N/A", (.130, .190, .121), (.439, .672, .439), (.367, .786, .304)),
    ("Contriever", "GPT-4o", (.264, .334, .211), (.715, .895, .615), (.559, .834, .426)),
    ("SBERT", "N/A", (.251, .349, .209), (.495, .725, .495), (.496, .772, .434)),
    ("SBERT", "GPT-4o", (.322, .422, .268), (.741, .921, .642), (.572, .859, .501)),
    ("TAS-B", "N/A", (.279, .381, .263), (.657, .897, .657), (.509, .841, .454)),
    ("TAS-B", "GPT-4o", (.352, .456, .321), (.759, .941, .661), (.583, .890, .522)),
    ("SimCSE", "N/A", (.293, .386, .279), (.675, .849, .675), (.563, .808, .523)),
    ("SimCSE", "open-mistral-7b", (.312, .407, .291), (.716, .897, .631), (.578, .861, .542)),
    ("SimCSE", "GPT-3.5-turbo", (.350, .448, .319), (.756, .937, .671), (.594, .879, .575)),
    ("SimCSE", "GPT-4o", (.368, .467, .336), (.774, .956, .690), (.609, .896, .591)),
)
PAPER_ABLATIONS = (
    ("bundle", "open-mistral-7b", (.221, .264, .171), (.695, .882, .612), (.532, .912, .270)),
    ("bundle", "GPT-3.5-turbo", (.264, .381, .208), (.724, .919, .656), (.541, .913, .430)),
    ("bundle", "GPT-4o", (.283, .391, .235), (.745, .922, .677), (.581, .916, .439)),
)


def evaluate(options, folder, *more):
    command = [options.whichtool, "--json", "-q", "eval", folder, "--timed", "1", *more]
    if options.trained and "--trained" not in more:
        command += ["--trained", os.path.join(options.trained, os.path.basename(os.path.normpath(folder)))]
    if options.cache:
        command += ["--cache", options.cache]
    if options.limit and "--limit" not in more:
        command += ["--limit", options.limit]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if options.replay and "has no answer of" in done.stderr:
        print(f"{folder}: no row of recorded answers: {done.stderr.strip()}", file=sys.stderr)
        return []
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def judgements(folder, split):
    needed = collections.defaultdict(set)
    with open(os.path.join(folder, "qrels", split + ".tsv"), encoding="utf-8") as file:
        for line in list(file)[1:]:
            request, tool, score = line.rstrip("\n").split("\t")
            if float(score) > 0:
                needed[request].add(tool)
    return needed


def tracc(found, needed):
    """Returns TRACC, the paper's equation 8."""
    return (1 - abs(len(found) - len(needed)) / len(found | needed)) * len(found & needed) / len(needed)


def ndcg(found, needed):
    gain = sum(1 / math.log2(2 + i) for i, tool in enumerate(found) if tool in needed)
    return gain / sum(1 / math.log2(2 + i) for i in range(len(needed)))


def figures_of(found, needed, size):
    """Returns the METRICS of one ranking, and the size error of its first `size` tools."""
    picked = set(found[:size])
    return {"recall@gold": len(set(found[:len(needed)]) & needed) / len(needed),
            "ndcg@gold": ndcg(found[:len(needed)], needed), "tracc": tracc(picked, needed),
            "size_diff": abs(len(picked) - len(needed))}


def mean_of(rows):
    return {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}


def usual_size(train):
    return round(sum(map(len, train.values())) / len(train))


def first_tools(options, folder, name, *more):
    """Returns the row of a retriever alone."""
    test, size = judgements(folder, "test"), usual_size(judgements(folder, "train"))
    with tempfile.TemporaryDirectory() as work:
        run = os.path.join(work, "run")
        row = evaluate(options, folder, "--recipe", name, "--run", run, *more)[0]
        ranking = collections.defaultdict(list)
        with open(run, encoding="utf-8") as file:
            for line in file:
                request, _, tool, *_ = line.split()
                ranking[request].append(tool)
    asked = list(ranking) if options.limit else list(test)
    row["metrics"] = mean_of([figures_of(ranking[request], test[request], size) for request in asked])
    row["first"] = size
    return row


def random_rows(folder):
    """Yields the rows of random draws from the past."""
    train, test = judgements(folder, "train"), judgements(folder, "test")
    size, draw = usual_size(train), random.Random(1)
    tools, bundles = sorted(set().union(*train.values())), sorted({tuple(sorted(tools)) for tools in train.values()})
    first, whole = [], []
    for needed in test.values():
        for _ in range(DRAWS):
            first.append(figures_of(draw.sample(tools, min(len(tools), max(size, len(needed)))), needed, size))
            bundle = draw.choice(bundles)
            whole.append(figures_of(draw.sample(bundle, len(bundle)), needed, len(bundle)))
    name = os.path.basename(os.path.normpath(folder))
    for rows, kind in ((first, {"recipe": "random", "first": size}), (whole, {"recipe": "bundle"})):
        yield {"set": name, "queries": len(test), "metrics": mean_of(rows),
               "settings": {"base_retriever": "random"}, **kind}


def other_encoder(options, folder, label, model):
    """Returns rows of dense retrieval and its bundles with a given encoder."""
    with tempfile.TemporaryDirectory() as work:
        done = subprocess.run([options.whichtool, "-q", "train", "neighbours", "--data", folder, "--out", work, "--model",
                               model], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{label}: {done.stderr.strip()}")
        more = ("--model", model, "--trained", work)
        rows = [first_tools(options, folder, "dense", *more)]
        rows += evaluate(options, folder, "--recipe", "bundle", "--base-retriever", "dense", *more)
        for rate in RATES:
            rows += evaluate(options, folder, "--recipe", "ptr", "--base-retriever", "dense", "--oracle", rate, *more)
    for row in rows:
        row["label"] = label
    return rows


def measured(options):
    for folder in options.data:
        yield from random_rows(folder)
        for encoder in options.encoder:
            yield from other_encoder(options, folder, *encoder.split("=", 1))
        for name in options.base_retriever.split(","):
            yield first_tools(options, folder, name)
            yield from evaluate(options, folder, "--recipe", "bundle", "--base-retriever", name)
            for rate in RATES:
                yield from evaluate(options, folder, "--recipe", "ptr", "--base-retriever", name, "--oracle", rate)
        for ablation in ABLATIONS:
            for rate in RATES:
                yield from evaluate(options, folder, "--recipe", "ptr", "--base-retriever", ABLATED, "--oracle", rate,
                                    "--ablate", ablation)
        if options.replay:
            for row in evaluate(options, folder, "--recipe", "bundle,ptr", "--base-retriever", "bm25", "--limit",
                                options.asked, "--chat-model", options.chat_model, "--replay", options.replay):
                row["verdict"] = verdict(options.replay)
                yield row


def instructions(task):
    """Returns the instructions of a prompt, for --echo."""
    name = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "prompts", task.split("/")[0] + ".txt")
    with open(name, encoding="utf-8") as file:
        return plain(file.read().partition("\nprompt\n")[2])


def plain(text):
    return " ".join(text.lower().split())


def read_echo(path):
    """Returns repetitions in recorded answers: figures by name, each (count, total)."""
    answers = collections.defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for line in file:
            entry = json.loads(line)
            answers[entry["task"]].append(json.loads(entry["answer"]) if "answer" in entry else None)
    asked = next(task for task in answers if task.startswith("ptr-requirements/"))
    own, sets = instructions(asked), [[plain(text) for text in got["requirements"]] for got in answers[asked] if got]
    named = [text for one in sets for text in one]
    said = collections.Counter(json.dumps(got["tools"]) for task, list_ in answers.items()
                               if task.startswith("ptr-match/") for got in list_ if got)
    most, times = said.most_common(1)[0] if said else ("", 0)
    return {
        "answers to ptr-requirements that are no JSON": (len(answers[asked]) - len(sets), len(answers[asked])),
        "answers to ptr-requirements that only repeat the prompt": (
            sum(bool(one) and all(text in own for text in one) for one in sets), len(answers[asked])),
        "answers to ptr-requirements that name one thing twice or more, or numbers alone": (
            sum(not all(text in own for text in one) and
                (len(set(one)) < len(one) or not any(map(str.isalpha, "".join(one)))) for one in sets),
            len(answers[asked])),
        "requirements that stand word for word in the prompt": (sum(text in own for text in named), len(named)),
        f"answers to ptr-match that are {most}, the most frequent": (times, sum(said.values())),
    }


def print_echo(path):
    print("| of the recorded answers | | |\n|---|---|---|")
    for name, (count, all_) in read_echo(path).items():
        print(f"| {name} | {count} of {all_} | {100 * count / max(all_, 1):.0f} % |")


def verdict(path):
    """Returns ", no use" if fewer than half of the answers to ptr-requirements are valid."""
    figures = list(read_echo(path).values())
    return ", no use" if 2 * sum(count for count, _ in figures[:3]) > figures[0][1] else ""


def label(row):
    """Returns the first two columns."""
    settings = row["settings"]
    if "first" in row:
        return row.get("label", row["recipe"]), "N/A: its first tools"
    by = row.get("label", settings["base_retriever"])
    if row["recipe"] == "bundle":
        return by, "N/A: a bundle" if by == "random" else "N/A: the nearest bundle"
    return settings["ablate"] or by, settings["answers"] + row.get("verdict", "")


def print_table(title, first, sets, wanted, paper):
    """Prints the table. sets: rows by set. paper: rows of two labels and figures in the order of PAPER_SETS."""
    found = {}
    for name, rows in sets.items():
        for row in filter(wanted, rows):
            found.setdefault(label(row), {})[name] = [row["metrics"][metric] for metric in METRICS]
    for one, other, *figures in paper:
        key = ("paper: " + one, other)
        found[key] = {name: figures[PAPER_SETS[name]] for name in sets if name in PAPER_SETS}
    if not found:
        return
    print(f"\n{title}\n\n| {first} | answers by | {' | '.join(sets)} |\n|---|---|{'---|' * len(sets)}")
    for key, row in found.items():
        cells = (" / ".join(f"{100 * value:.1f}" for value in row[name]) if name in row else "" for name in sets)
        print(f"| {' | '.join(key)} | {' | '.join(cells)} |")


def print_sizes(sets, wanted):
    """Prints the paper's figure 4: the mean size error of the sets."""
    found = {}
    for name, rows in sets.items():
        for row in filter(wanted, rows):
            if "size_diff" in row["metrics"]:
                found.setdefault(label(row), {})[name] = f"{row['metrics']['size_diff']:.2f}"
    print(f"\nTools too many or too few (figure 4):\n\n| base retriever | answers by | {' | '.join(sets)} |")
    print("|---|---|" + "---|" * len(sets))
    for key, row in found.items():
        print(f"| {' | '.join(key)} | {' | '.join(row.get(name, '') for name in sets)} |")


def print_tables(sets):
    whole = {name: max(row["queries"] for row in rows) for name, rows in sets.items()}
    some = {row["queries"] for rows in sets.values() for row in rows} - set(whole.values())

    def of_all(row):
        return row["queries"] == whole[row["set"]]

    def ablation(row):
        return row["settings"].get("ablate", "")

    requests = ", ".join(f"{count} of {name}" for name, count in whole.items())
    print_table(f"Recall@K / NDCG@K / TRACC of all test requests ({requests}):", "base retriever", sets,
                lambda row: of_all(row) and not ablation(row), PAPER)
    print_sizes(sets, lambda row: of_all(row) and not ablation(row))
    print_table("Ablations:", "without", sets, lambda row: of_all(row) and ablation(row), PAPER_ABLATIONS)
    print_table(f"The first {', '.join(map(str, some))} requests of each:", "base retriever", sets,
                lambda row: not of_all(row), ())


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("data", nargs="*")
    parser.add_argument("--whichtool", default="build/whichtool")
    parser.add_argument("--base-retriever", default="bm25,dense,hybrid,auto")
    parser.add_argument("--encoder", action="append", default=[])
    for name in ("trained", "cache", "limit", "replay", "chat-model", "asked", "rows", "echo"):
        parser.add_argument("--" + name)
    options = parser.parse_args()
    if options.echo:
        return print_echo(options.echo)
    if not options.data:
        parser.error("which DATA?")
    if options.replay and not (options.chat_model and options.asked):
        parser.error("--replay wants --chat-model NAME and --asked N")
    rows = map(json.loads, sys.stdin) if options.data == ["-"] else measured(options)
    kept = open(options.rows, "w", encoding="utf-8") if options.rows else None
    sets = {}
    for row in rows:
        sets.setdefault(row["set"], []).append(row)
        if kept:
            print(json.dumps(row), file=kept, flush=True)
    return print_tables(sets)


if __name__ == "__main__":
    main()
