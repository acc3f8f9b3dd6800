"""A data set in BEIR layout, as the tables' scripts read it."""
import json
import os


def lines(path):
    """The objects of a JSON Lines file."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def judgements(folder, split="test"):
    """The tools that each request of the split needs."""
    right = {}
    with open(os.path.join(folder, "qrels", f"{split}.tsv"), encoding="utf-8") as file:
        for line in list(file)[1:]:
            request, tool, grade = line.split("\t")[:3]
            if float(grade) > 0:
                right.setdefault(request, set()).add(tool)
    return right
