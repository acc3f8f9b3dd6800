#!/usr/bin/env python3
"""replica_sizes.py WHICHTOOL CORPUS FOLDER: bytes and processor time of publishing a catalogue, and of following it.

Prints the rows of the table `replica-sizes` in docs/scale.md. FOLDER receives the stores. Needs no model except the
built-in encoder.
"""
import json, os, resource, shutil, subprocess, sys

WHICHTOOL, CORPUS, FOLDER = sys.argv[1:4]
MODEL = ["--model", "whichtool-static-v1"]
STORE, PUBLISHED, CACHE = (os.path.join(FOLDER, name) for name in ("tools.wt", "published", "cache"))


def run(*arguments):
    """Returns the output and the processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run([WHICHTOOL, *arguments, *MODEL], check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return out, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def publish():
    out, seconds = run("-s", STORE, "--json", "publish", PUBLISHED)
    return json.loads(out)["bytes"], seconds


def follow():
    return run("find", "-q", "--follow", PUBLISHED, "--cache", CACHE, "--k", "1", "weather")[1]


shutil.rmtree(FOLDER, ignore_errors=True)
os.makedirs(FOLDER)
run("-s", STORE, "add", "-q", CORPUS)
first = publish()
print("| first publication: all rows and vectors | %s | %.2f s |" % (format(first[0], ","), first[1]))
print("| a replica's first start: fetch, apply, build the index, search | %s | %.2f s |" % (format(first[0], ","), follow()))
with open(CORPUS) as file:
    texts = [json.loads(next(file))["text"][:400] for _ in range(10)]
with open(os.path.join(FOLDER, "ten.json"), "w") as file:
    json.dump({"tools": [{"name": f"fresh_{i}", "description": text, "inputSchema": {
        "type": "object", "properties": {"q": {"type": "string"}}}} for i, text in enumerate(texts)]}, file)
run("-s", STORE, "add", "-q", "-p", "fresh", os.path.join(FOLDER, "ten.json"))
second = publish()
print("| publication of ten new tools | %s | %.2f s |" % (format(second[0], ","), second[1]))
print("| the replica applies them, builds the index, and searches | %s | %.2f s |" % (format(second[0], ","), follow()))
run("-s", STORE, "find", "-q", "--k", "1", "weather")
size = os.path.getsize(STORE + "-index/snapshot")
print("| for comparison: the writer's `snapshot` file, which each change replaces | %s | |" % format(size, ","))
