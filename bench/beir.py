"""Reads data sets in BEIR layout, for the scripts of the tables."""
import json
import os


def lines(path):
    """Returns the objects of a JSON Lines file."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def judgements(folder, split="test"):
    """Returns the needed tools of each request of the split."""
    right = {}
    with open(os.path.join(folder, "qrels", f"{split}.tsv"), encoding="utf-8") as file:
        for line in list(file)[1:]:
            request, tool, grade = line.split("\t")[:3]
            if float(grade) > 0:
                right.setdefault(request, set()).add(tool)
    return right
