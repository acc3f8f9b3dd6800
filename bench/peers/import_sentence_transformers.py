"""Time that sentence-transformers takes to encode the texts of a catalogue: import_sentence_transformers.py MODEL CORPUS

MODEL is a model's folder, CORPUS a corpus.jsonl in BEIR layout. Encodes the same text of each tool that whichtool
encodes (name, provider, description; see docs/retrieval.md), in batches of 32 sorted by length as the package does by
itself, on the threads of the environment (OMP_NUM_THREADS)."""
import json
import os
import sys
import time


def text_of(line):
    tool = json.loads(line)
    return f"{tool['title']}: {tool['text']}"


def main():
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    model = SentenceTransformer(sys.argv[1], device="cpu")
    with open(sys.argv[2], encoding="utf-8") as corpus:
        texts = [text_of(line) for line in corpus if line.strip()]
    model.encode(texts[:32])
    began = time.perf_counter()
    model.encode(texts, batch_size=32, normalize_embeddings=True)
    took = time.perf_counter() - began
    print(f"import {len(texts)} tools with vectors\tsentence-transformers, encoding alone\t{took:.1f}\ts")


main()
