"""ONNX Runtime fp32 on one thread with the same cross-encoder and the same pairs, taking turns with bench_cross.

    cross_onnx.py FOLDER CORPUS [BENCH_CROSS]

FOLDER is the output of `bench_cross make`. The peer is in its best configuration: the graph has the fused operators for
BERT (onnx_bert.py), runs with all graph optimizations, and gets precomputed token ids; the pairs are sorted
by length and split into batches of its fastest size, padded to the longest pair. Each round measures both programs, so
that other work on the machine affects both; the ratio is the median over rounds. Both must give the same numbers."""
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
BATCH_SIZES = (1, 3, 5, 10, 15, 30)
MAX_TOKENS = 256
WHO = "ONNX Runtime"
NAMES = ["ids", "mask", "types"]


class Peer:
    def __init__(self, path, encodings):
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        self.session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.encodings = encodings
        self.order = sorted(range(len(encodings)), key=lambda i: len(encodings[i].ids))

    def batches(self, size):
        for first in range(0, len(self.order), size):
            part = [self.encodings[i] for i in self.order[first:first + size]]
            shape = (len(part), len(part[-1].ids))
            feeds = {name: np.zeros(shape, dtype=np.int32) for name in NAMES}
            for row, pair in enumerate(part):
                n = len(pair.ids)
                feeds["ids"][row, :n], feeds["types"][row, :n], feeds["mask"][row, :n] = pair.ids, pair.type_ids, 1
            yield feeds

    def prepare(self, size):
        self.feeds = list(self.batches(size))

    def score(self):
        """Returns milliseconds for all pairs, and their logits in order."""
        began = time.perf_counter()
        parts = [self.session.run(None, feeds)[0] for feeds in self.feeds]
        took = (time.perf_counter() - began) * 1e3
        logits = np.zeros(len(self.order))
        logits[self.order] = np.concatenate(parts)
        return took, logits

    def median(self, rounds):
        self.score()
        return np.median([self.score()[0] for _ in range(rounds)])


class Ours:
    def __init__(self, program, model, corpus):
        self.process = subprocess.Popen([program, model, corpus, "--serve"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def ask(self, question):
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")

    def texts(self):
        request, tools = self.ask("texts"), []
        while line := self.process.stdout.readline().rstrip("\n"):
            tools.append(line)
        return request, tools


def main():
    from tokenizers import Tokenizer

    model, corpus = sys.argv[1:3]
    ours = Ours(sys.argv[3] if len(sys.argv) > 3 else "build-bench/bench_cross", model, corpus)
    request, tools = ours.texts()
    tokenizer = Tokenizer.from_file(os.path.join(model, "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    encodings = tokenizer.encode_batch([(request, tool) for tool in tools])
    lengths = [len(encoding.ids) for encoding in encodings]
    with tempfile.TemporaryDirectory() as folder:
        peer = Peer(onnx_bert.write(model, os.path.join(folder, "model.onnx"), scores=True), encodings)
        times = {}
        for size in BATCH_SIZES:
            peer.prepare(size)
            times[size] = peer.median(3)
        size = min(times, key=times.get)
        print(f"cross_onnx: {len(tools)} pairs of {min(lengths)} to {max(lengths)} tokens, {np.mean(lengths):.1f} on "
              f"average, the request {len(tokenizer.encode(request).ids) - 2}; batches of {size}, milliseconds by "
              f"size: {', '.join(f'{s}: {t:.0f}' for s, t in times.items())}", file=sys.stderr)
        peer.prepare(size)
        off = np.abs(np.array(ours.ask("logits").split(), dtype=float) - peer.score()[1]).max()
        print(f"cross_onnx: logits differ by at most {off:.1e}", file=sys.stderr)
        assert off < 1e-3
        rounds = [(float(ours.ask("time")), peer.score()[0]) for _ in range(ROUNDS)]
    measure = f"cross-encode {len(tools)} tools"
    mine, theirs = map(list, zip(*rounds))
    print(f"cross_onnx: {measure}: {np.median(np.divide(mine, theirs)):.3f} x {WHO}", file=sys.stderr)
    report(measure, "whichtool", mine, "ms")
    report(measure, WHO, theirs, "ms")


main()
