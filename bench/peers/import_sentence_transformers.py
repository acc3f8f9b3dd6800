"""Measures the time of sentence-transformers to encode the texts of a catalogue.

    import_sentence_transformers.py MODEL CORPUS

MODEL is a model's folder, CORPUS a corpus.jsonl in BEIR layout. Encodes the same two texts of each tool as whichtool
(docs/retrieval.md): "provider name" and "provider name: description", each distinct text once, in batches of 32 that the
package sorts by length, with OMP_NUM_THREADS threads. Loading the model is not measured."""
import json
import os
import re
import sys
import time

from results import report

PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+|[^\x00-\x7f]+")


def texts_of(line):
    tool = json.loads(line)
    provider = (tool.get("metadata") or {}).get("provider") or ""
    name = f"{provider.strip()} {' '.join(PART.findall(tool['title']))}".strip()
    return name, f"{name}: {tool['text']}"


def main():
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    model = SentenceTransformer(sys.argv[1], device="cpu")
    with open(sys.argv[2], encoding="utf-8") as corpus:
        tools = [texts_of(line) for line in corpus if line.strip()]
    texts = list(dict.fromkeys(text for tool in tools for text in tool))
    model.encode(texts[:32])
    began = time.perf_counter()
    model.encode(texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False)
    took = time.perf_counter() - began
    report(f"import {len(tools)} tools with vectors", "sentence-transformers", took * 1e3, "ms")


main()
