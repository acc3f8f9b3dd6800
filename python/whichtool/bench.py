"""Measures a recipe on a data set in the layout of BEIR: corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv.

python -m whichtool.bench FOLDER --recipe hybrid --split test
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .catalogue import Catalogue
from .errors import Error

Relevance = Mapping[str, Mapping[str, int]]
"""Query id: document id: grade."""


def read_lines(path: str) -> Iterator[dict[str, Any]]:
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise ValueError(f"{path}:{number}: not JSON: {error}") from None


def read_relevance(path: str) -> Relevance:
    """Reads a file of qrels: query id, document id, and grade, separated by tabs, below a line of titles."""
    relevance: dict[str, dict[str, int]] = {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            row = line.rstrip("\n").split("\t")
            if number == 1 and not row[-1].lstrip("-").isdigit():
                continue
            if len(row) != 3:
                raise ValueError(f"{path}:{number}: expected three columns, found {len(row)}")
            relevance.setdefault(row[0], {})[row[1]] = int(row[2])
    return relevance


def figures_of(found: Sequence[str], grades: Mapping[str, int], k: int) -> dict[str, float]:
    """Returns the figures of one query: recall and nDCG at k, and the reciprocal rank."""
    relevant = {document for document, grade in grades.items() if grade > 0}
    gains = [(2 ** grades.get(document, 0) - 1) / math.log2(rank + 2) for rank, document in enumerate(found[:k])]
    best = sorted(grades.values(), reverse=True)[:k]
    ideal = sum((2**grade - 1) / math.log2(rank + 2) for rank, grade in enumerate(best))
    first = next((rank for rank, document in enumerate(found, 1) if document in relevant), 0)
    return {
        "recall": len(relevant.intersection(found[:k])) / len(relevant),
        "ndcg": sum(gains) / ideal,
        "mrr": 1 / first if first else 0.0,
    }


def measure(
    folder: str, *, split: str = "test", k: int = 5, recipe: str | None = None, model: str | None = None
) -> dict[str, Any]:
    """Imports the corpus into a catalogue in memory, runs the queries of the split, and returns their mean figures."""
    relevance = read_relevance(os.path.join(folder, "qrels", split + ".tsv"))
    queries = {str(row["_id"]): row["text"] for row in read_lines(os.path.join(folder, "queries.jsonl"))}
    names = [
        name for name, grades in relevance.items() if name in queries and any(grade > 0 for grade in grades.values())
    ]
    if not names:
        raise ValueError(f"{folder}: no query of {split} has a relevant document")
    sums, times, used = {"recall": 0.0, "ndcg": 0.0, "mrr": 0.0}, list[float](), recipe or ""
    with Catalogue(model=model) as catalogue:
        began = time.perf_counter()
        added = catalogue.add(os.path.join(folder, "corpus.jsonl"), format="beir")
        add_seconds = time.perf_counter() - began
        for name in names:
            began = time.perf_counter()
            hits = catalogue.find(queries[name], k, recipe=recipe)
            times.append(time.perf_counter() - began)
            for figure, value in figures_of([hit.source_id for hit in hits], relevance[name], k).items():
                sums[figure] += value
            used = hits.recipe
    times.sort()
    return {
        "recipe": used,
        "split": split,
        "k": k,
        "tools": added.added,
        "queries": len(names),
        "add_s": add_seconds,
        "median_ms": 1e3 * times[len(times) // 2],
        **{figure: total / len(names) for figure, total in sums.items()},
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m whichtool.bench", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", help="folder with corpus.jsonl, queries.jsonl and qrels")
    parser.add_argument("--split", default="test", help="file of qrels (default: test)")
    parser.add_argument("--k", type=int, default=5, help="hits per query (default: 5)")
    parser.add_argument("--recipe", help="search method (default: the best that the store can run)")
    parser.add_argument("--model", help="name or folder of the encoder (default: the best that is installed)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args(arguments)
    try:
        result = measure(given.folder, split=given.split, k=given.k, recipe=given.recipe, model=given.model)
    except (Error, OSError, ValueError) as error:
        print(f"whichtool.bench: {error}", file=sys.stderr)
        return 1
    if given.json:
        print(json.dumps(result))
    else:
        print("{tools} tools, {queries} queries of {split}, recipe {recipe}".format(**result))
        print(
            "recall@{k} {recall:.3f}  nDCG@{k} {ndcg:.3f}  MRR@{k} {mrr:.3f}  {median_ms:.2f} ms a query".format(
                **result
            )
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
