"""Checks that text is in Prometheus' text format 0.0.4, strictly, and that its names follow the conventions.

    metrics_check.py FILE [PAGE]

PAGE: a page of the documentation; each metric must be in one of its tables, and each metric of these tables must exist or
be marked as conditional ("if"). Prints the problems, and nothing if there are none."""
import math
import re
import sys

NAME = re.compile(r"[a-z][a-z0-9_]*")
LABEL = re.compile(r'([a-z][a-z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"')
SAMPLE = re.compile(r"([a-z][a-z0-9_]*)(?:\{(.*)\})? (\S+)")
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count")}
problems = []


def problem(line, text):
    problems.append(f"{line}: {text}")


def read_labels(line, text):
    labels, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        if not match or match[1] in labels:
            problem(line, "labels")
            return {}
        labels[match[1]] = match[2]
        at = match.end()
        if at < len(text):
            if text[at] != ",":
                problem(line, "a label without a comma")
            at += 1
    return labels


def check_histogram(name, samples):
    series = {}
    for suffix, labels, value in samples:
        bound = labels.pop("le", None)
        one = series.setdefault(tuple(sorted(labels.items())), {"buckets": []})
        if suffix == "_bucket":
            one["buckets"].append((math.inf if bound == "+Inf" else float(bound), value))
        else:
            one[suffix] = value
    for labels, one in series.items():
        bounds = [bound for bound, _ in one["buckets"]]
        counts = [count for _, count in one["buckets"]]
        good = bounds == sorted(set(bounds)) and bounds and bounds[-1] == math.inf and counts == sorted(counts)
        if not good or one.get("_count") != counts[-1] or "_sum" not in one:
            problem(name, f"a histogram that is not complete: {labels}")


def check_name(name, kind):
    if not NAME.fullmatch(name) or not name.startswith(("whichtool_", "process_")):
        problem(name, "name")
    if (kind == "counter") != name.endswith("_total"):
        problem(name, "only counters end in _total")
    if re.search(r"_(ms|milliseconds|minutes|kb|mb|percent)\b", name):
        problem(name, "not a base unit")


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    metrics, current, seen = {}, None, set()
    if not text.endswith("\n"):
        problem("end", "no newline at the end")
    for line in text.rstrip("\n").split("\n"):
        if line.startswith("# HELP "):
            name, _, words = line[7:].partition(" ")
            if name in metrics or not words.endswith("."):
                problem(line, "HELP twice, or not a sentence")
            metrics[name] = {"samples": []}
            current = name
        elif line.startswith("# TYPE "):
            name, kind = line[7:].split(" ")
            if name != current or metrics[name]["samples"] or kind not in ("gauge", "counter", "histogram"):
                problem(line, "TYPE")
            metrics[name]["kind"] = kind
            check_name(name, kind)
        else:
            match = SAMPLE.fullmatch(line)
            if not match or current is None or (match[1], match[2]) in seen:
                problem(line, "not a sample, or one that was before")
                continue
            seen.add((match[1], match[2]))
            suffix = match[1][len(current):]
            if not match[1].startswith(current) or suffix not in SUFFIXES.get(metrics[current]["kind"], ("",)):
                problem(line, f"not a sample of {current}")
            value = float(match[3])
            if metrics[current]["kind"] != "gauge" and not value >= 0:
                problem(line, "a counter below 0")
            metrics[current]["samples"].append((suffix, read_labels(line, match[2] or ""), value))
    for name, metric in metrics.items():
        if metric.get("kind") == "histogram":
            check_histogram(name, metric["samples"])
    if len(sys.argv) > 2:
        rows = [row for row in open(sys.argv[2], encoding="utf-8") if re.match(r"\| `(whichtool|process)_", row)]
        told = {name: "if " in row for row in rows for name in re.findall(r"`((?:whichtool|process)_\w+)`", row.split("|")[1])}
        for name in metrics.keys() - told.keys():
            problem(name, "not in the page")
        for name in told.keys() - metrics.keys():
            if not told[name]:
                problem(name, "in the page only")
    print("\n".join(problems), end="")


main()
