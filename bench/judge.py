#!/usr/bin/env python3
"""Measures the agreement of a language model with people on the writing of requests (docs/generate.md).

    python3 bench/judge.py pairs OUT DATA...         two folders of requests to compare, OUT/one and OUT/other
    whichtool generate comparison --first OUT/one --second OUT/other --chat-model NAME --out JUDGED
    python3 bench/judge.py keep JUDGED FILE          keeps the verdicts of both orders, by request ids
    python3 bench/judge.py agreement FILE LABELS     compares the model's verdicts with the labels

Each request of the DATA, BEIR folders, goes into a random one of the two folders (--seed), so that a request's set does
not reveal its side of a pair. FILE and LABELS contain ids and verdicts only, no text of a data set.

LABELS are JSON lines: {"pair": 1, "one": ID, "other": ID, "naturalness": "one" | "other" | "tie", "fluency": ...,
"coherence": ...}. The overall winner wins more of the three criteria. The model was asked twice, in both orders; as in
the command, different winners make a tie. The verdicts of the first order alone are also evaluated.

Prints Markdown: for pairs that both judged, the share of equal verdicts, Cohen's kappa, and the share expected by chance;
for pairs that neither called a tie, the share with the same winner.
"""
import argparse
import collections
import json
import os
import random

from beir import lines

CRITERIA = ("naturalness", "fluency", "coherence")
ORDERS = ("in_order", "swapped")
VERDICTS = ("one", "tie", "other")
SHORTEST = 20  # minimum bytes of a request
LONGEST = 4000  # limit of the prompt's slot


def draw_pairs(options):
    draw = random.Random(options.seed)
    halves = {"one": [], "other": []}
    for folder in options.data:
        name = os.path.basename(os.path.normpath(folder))
        rows = [{"_id": f"{name}/{row['_id']}", "text": " ".join(row["text"].split())}
                for row in lines(os.path.join(folder, "queries.jsonl"))]
        rows = [row for row in rows if SHORTEST <= len(row["text"].encode()) <= LONGEST]
        draw.shuffle(rows)
        most = min(len(rows), options.most)  # the same number from each set
        halves["one"] += rows[:most // 2]
        halves["other"] += rows[most // 2:most]
    for side, rows in halves.items():
        os.makedirs(os.path.join(options.out, side), exist_ok=True)
        with open(os.path.join(options.out, side, "queries.jsonl"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    print(f"{len(halves['one'])} and {len(halves['other'])} requests")


def keep(options):
    said = {"first": "one", "second": "other", "tie": "tie"}
    with open(options.file, "w", encoding="utf-8") as file:
        for pair in lines(os.path.join(options.judged, "pairs.jsonl")):
            row = {"pair": pair["pair"], "one": pair["first"]["_id"], "other": pair["second"]["_id"]}
            for criterion in CRITERIA if pair["judged"] else ():
                row[criterion] = [said[pair[criterion][order]] for order in ORDERS[:1 if options.one_order else 2]]
            file.write(json.dumps(row) + "\n")


def overall(verdicts):
    net = sum({"one": 1, "other": -1, "tie": 0}[verdict] for verdict in verdicts)
    return "one" if net > 0 else "other" if net < 0 else "tie"


def whole(row):
    """Returns the verdicts by criterion, the last overall; None if incomplete."""
    if not all(criterion in row for criterion in CRITERIA):
        return None
    each = [row[criterion] for criterion in CRITERIA]
    return [*each, overall(each)]


def of_model(row, both):
    """Returns a verdict for each criterion, of both orders or of the first only."""
    if not all(len(row.get(criterion, ())) > both for criterion in CRITERIA):
        return None
    return whole({criterion: said[0] if not both or said[0] == said[1] else "tie"
                  for criterion, said in ((criterion, row[criterion]) for criterion in CRITERIA)})


def agreement(pairs):
    """pairs: (model's verdict, reader's verdict). Returns the share of equal ones, the expected share, and kappa or None."""
    count = len(pairs)
    same = sum(model == reader for model, reader in pairs) / count
    models, readers = (collections.Counter(side) for side in zip(*pairs))
    chance = sum(models[verdict] * readers[verdict] for verdict in VERDICTS) / count ** 2
    return same, chance, (same - chance) / (1 - chance) if chance < 1 else None


def compare(model_rows, label_rows):
    """Returns rows: criterion, order, pairs, equal, chance, kappa, decided by both, equal among these, ties."""
    labels = {row["pair"]: row for row in label_rows}
    table = []
    for both in (True, False):
        judged = []
        for row in model_rows:
            label = labels.get(row["pair"])
            if label and (label["one"], label["other"]) != (row["one"], row["other"]):
                raise SystemExit(f"pair {row['pair']} is of {row['one']} and {row['other']}, and its label of "
                                 f"{label['one']} and {label['other']}")
            said, read = of_model(row, both), whole(label or {})
            if said and read:
                judged.append((said, read))
        for place, criterion in enumerate((*CRITERIA, "on the whole") if judged else ()):
            pairs = [(said[place], read[place]) for said, read in judged]
            decided = [(said, read) for said, read in pairs if "tie" not in (said, read)]
            table.append((criterion, "both orders" if both else "one order", len(pairs), *agreement(pairs), len(decided),
                          sum(said == read for said, read in decided), sum(said == "tie" for said, _ in pairs),
                          sum(read == "tie" for _, read in pairs)))
    if not table:
        raise SystemExit("not one pair has a verdict and a label")
    return table


def print_agreement(options):
    print("| | asked in | pairs | same verdict | by chance | kappa | decided by both | same winner | ties: model, reader |")
    print("|---|---|---|---|---|---|---|---|---|")
    for criterion, asked, count, same, chance, kappa, decided, winner, ties, own in compare(list(lines(options.file)),
                                                                                           list(lines(options.labels))):
        shown = "" if kappa is None else f"{kappa:.2f}"
        print(f"| {criterion} | {asked} | {count} | {100 * same:.0f} % | {100 * chance:.0f} % | {shown} | {decided} | "
              f"{winner} | {ties}, {own} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("pairs")
    verb.add_argument("out")
    verb.add_argument("data", nargs="+")
    verb.add_argument("--seed", type=int, default=1)
    verb.add_argument("--most", type=int, default=1000, help="requests of a set")
    verb.set_defaults(run=draw_pairs)
    verb = verbs.add_parser("keep")
    verb.add_argument("judged")
    verb.add_argument("file")
    verb.add_argument("--one-order", action="store_true", help="of answers that are not all there, what the first order has")
    verb.set_defaults(run=keep)
    verb = verbs.add_parser("agreement")
    verb.add_argument("file")
    verb.add_argument("labels")
    verb.set_defaults(run=print_agreement)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
