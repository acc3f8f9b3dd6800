#!/usr/bin/env python3
"""Compares a model's vectors by products of bytes with its fp32 vectors: the cosines of docs/encoder.md.

    python3 bench/bytes_cosine.py MODEL DATA...     MODEL: as bytes; DATA: folders of data sets in BEIR layout

Encodes requests and tools of the data sets by bytes (with the processor's kernels) and in fp32 (WT_KERNELS=avx512). Needs
build-bench/bench_encode and numpy."""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np


def read_texts(folder):
    for name in ("queries.jsonl", "corpus.jsonl"):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            for line in file:
                text = " ".join(json.loads(line)["text"].split())
                if text:
                    yield text


def vectors(model, path, kernels):
    environment = dict(os.environ, **({"WT_KERNELS": kernels} if kernels else {}))
    subprocess.run(["build-bench/bench_encode", model, "--serve"], input=f"vectors {path}\n", text=True, check=True,
                   env=environment, stdout=subprocess.DEVNULL)
    return np.fromfile(path + ".vectors", dtype=np.float32)


def main():
    model, folders = sys.argv[1], sys.argv[2:]
    print("| texts of | texts | least cosine | 1st percentile | mean |\n|---|---|---|---|---|")
    for folder in folders:
        texts = sorted(set(read_texts(folder)))
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "texts")
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(text + "\n" for text in texts)
            have, want = (vectors(model, path, kernels).reshape(len(texts), -1) for kernels in (None, "avx512"))
        cosines = np.einsum("td,td->t", have.astype(np.float64), want)
        print(f"| {os.path.basename(os.path.normpath(folder))} | {len(texts):,} | {cosines.min():.5f} | "
              f"{np.percentile(cosines, 1):.5f} | {cosines.mean():.5f} |", flush=True)


if __name__ == "__main__":
    main()
