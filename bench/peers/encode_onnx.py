"""ONNX Runtime fp32 on one thread with the same weights, taking turns with bench_encode.

    encode_onnx.py MODEL [BENCH_ENCODE]
    encode_onnx.py MODEL BENCH_ENCODE BYTES    BYTES: MODEL quantized by `whichtool model quantize`

The peer is in its best configuration: the graph has the fused operators for BERT (onnx_bert.py), runs with all graph
optimizations, and gets token ids, so that no tokenizer is included; batches are sorted by length and padded, with its fastest size. Each round measures both programs,
so that other work on the machine affects both; a ratio is the median over rounds. With BYTES both multiply bytes: the peer
uses its own dynamic quantization with weights per channel. BENCH_ENCODE defaults to build-bench/bench_encode. The texts of
the batch are those of the cold bench."""
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx_bert
import onnxruntime as ort
from results import report

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "31"))
BATCH_ROUNDS = 5
BATCH_TEXTS = 1000
BATCH_SIZES = (8, 16, 32)
MAX_TOKENS = 256
TOKENS = (8, 20, 64, 128)
WHO = "ONNX Runtime"
BYTES = len(sys.argv) > 3


def open_session(path):
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def run(ids):
        ids = ids.astype(np.int32)
        began = time.perf_counter()
        vectors = session.run(None, {"ids": ids, "mask": (ids != 0).astype(np.int32), "types": np.zeros_like(ids)})[0]
        return time.perf_counter() - began, vectors

    return run


class Ours:
    """Starts bench_encode --serve, or returns None if it was not built."""

    def __init__(self, program, model):
        self.process = None
        if os.access(program, os.X_OK):
            self.process = subprocess.Popen([program, model, "--serve"], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, text=True)

    def ask(self, question):
        if not self.process:
            return float("nan")
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def read_texts():
    shared = os.environ.get("WT_SHARED", "../shared")
    for folder in (os.environ.get("BENCH_DATA", ""), os.path.join(shared, "data", "toolbench-open")):
        path = os.path.join(folder, "corpus.jsonl")
        if folder and os.path.exists(path):
            with open(path, encoding="utf-8") as corpus:
                lines = [json.loads(line) for line in corpus if line.strip()]
            lines = lines[:: max(1, len(lines) // BATCH_TEXTS)][:BATCH_TEXTS]
            return [" ".join(f"{tool['title']} {tool['text']}".split()) for tool in lines]
    text = "find the next train from london to paris for two people and book a table near it today ".split()
    return [" ".join((text * 8)[: 4 + i * i % 89]) for i in range(BATCH_TEXTS)]


def run_batches(run, ids, size):
    """Returns seconds for all texts, sorted by length and padded to the longest of each batch."""
    order = sorted(ids, key=len)
    total = 0.0
    for first in range(0, len(order), size):
        part = order[first:first + size]
        padded = np.zeros((len(part), len(part[-1])), dtype=np.int64)
        for row, tokens in zip(padded, part):
            row[: len(tokens)] = tokens
        total += run(padded)[0]
    return total


def report_pairs(measure, pairs, unit):
    measure += ", by bytes" if BYTES else ""
    ours, theirs = map(list, zip(*pairs))
    if not np.isnan(ours).any():
        report(measure, "whichtool", ours, unit)
        print(f"encode_onnx: {measure}: {np.median(np.divide(ours, theirs)):.3f} x {WHO}", file=sys.stderr)
    report(measure, WHO, theirs, unit)


def main():
    model = sys.argv[1]
    ours = Ours(sys.argv[2] if len(sys.argv) > 2 else "build-bench/bench_encode", sys.argv[3] if BYTES else model)
    with tempfile.TemporaryDirectory() as folder:
        graph = onnx_bert.write(model, os.path.join(folder, "model.onnx"))
        run = open_session(onnx_bert.write_bytes(graph) if BYTES else graph)
        for tokens in TOKENS:
            ids = np.full((1, tokens), 2000, dtype=np.int64)
            for _ in range(3):
                run(ids), ours.ask(f"latency {tokens}")
            pairs = [(ours.ask(f"latency {tokens}"), run(ids)[0] * 1e3) for _ in range(ROUNDS)]
            report_pairs(f"encode {tokens} tokens", pairs, "ms")

        from tokenizers import Tokenizer

        texts = read_texts()
        tokenizer = Tokenizer.from_file(os.path.join(model, "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_TOKENS)
        ids = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
        path = os.path.join(folder, "texts")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(text + "\n" for text in texts)
        size = min(BATCH_SIZES, key=lambda size: run_batches(run, ids[:200], size))
        print(f"encode_onnx: {len(texts)} texts, {np.mean([len(i) for i in ids]):.1f} tokens each, batches of {size}",
              file=sys.stderr)
        pairs = [(len(texts) / ours.ask(f"batch {path}"), len(texts) / run_batches(run, ids, size))
                 for _ in range(BATCH_ROUNDS)]
        report_pairs("encode in batches", pairs, "/s")


if __name__ == "__main__":
    main()
