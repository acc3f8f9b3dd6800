"""PyTorch training the same model on the same tokens, taking turns with bench_train.

    train_torch.py MODEL [BENCH_TRAIN]

Steps of in-batch contrast (32 requests of 32 tokens against as many texts, cosine x 20) and of multi-label
classification (32 requests of 32 tokens, a linear head of 1,419 tools on the mean of the last states). The peer is in its
best configuration: fused attention, fused AdamW, no padding, no dropout. Each round measures both programs, so that other
work on the machine affects both. The losses of both are compared step by step and must agree. Memory is the peak of a
process that runs the same steps alone. Both are measured in fp32, and with products rounded to bfloat16 (autocast).
BENCH_THREADS defaults to 1, BENCH_TRAIN to build-bench/bench_train."""
import os
import subprocess
import sys
import time

import numpy as np
from results import report

BATCH, TOKENS, LABELS, GOLD = 32, 32, 1419, 3
RATE, SCALE = 5e-5, 20.0
WARM = 3
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "31"))
WHO = "PyTorch"


class Theirs:
    def __init__(self, model, kind, threads, precision):
        import torch
        from transformers import AutoModel

        self.torch = torch
        torch.set_num_threads(threads)
        self.kind, self.precision, self.step_number = kind, precision, 0
        self.model = AutoModel.from_pretrained(model, add_pooling_layer=False, attn_implementation="sdpa",
                                               dtype=torch.float32).eval()
        head = (np.arange(LABELS * self.model.config.hidden_size, dtype=np.int64) * 7919 % 2003 / 2003 - 0.5) * 0.1
        self.head = torch.nn.Parameter(torch.tensor(head.reshape(LABELS, -1), dtype=torch.float32))
        named = list(self.model.named_parameters())
        self.parameters = [p for _, p in named] + ([self.head] if kind == "mlc" else [])
        groups = [{"params": [p for p in self.parameters if p.ndim > 1], "weight_decay": 0.01},
                  {"params": [p for p in self.parameters if p.ndim <= 1], "weight_decay": 0.0}]
        self.adamw = torch.optim.AdamW(groups, lr=RATE, fused=True)

    def batch(self):
        texts = 2 * BATCH if self.kind == "contrast" else BATCH
        i, t = np.arange(texts)[:, None], np.arange(TOKENS)[None, :]
        ids = 1000 + ((self.step_number * 64 + i) * 7919 + t * 104729) % 20000
        ids[:, 0], ids[:, -1] = 101, 102
        rows, gold = np.arange(BATCH)[:, None], np.arange(GOLD)[None, :]
        return self.torch.tensor(ids), self.torch.tensor((self.step_number * 97 + rows * 31 + gold * 211) % LABELS)

    def step(self):
        torch = self.torch
        functional = torch.nn.functional
        began = time.perf_counter()
        ids, gold = self.batch()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.precision == "bf16"):
            last = self.model(input_ids=ids).last_hidden_state
        vectors = last.float().mean(1)
        if self.kind == "contrast":
            vectors = functional.normalize(vectors, dim=-1)
            loss = functional.cross_entropy(SCALE * vectors[:BATCH] @ vectors[BATCH:].T, torch.arange(BATCH))
        else:
            logits = functional.log_softmax(vectors @ self.head.T, dim=-1)
            loss = -logits.gather(1, gold).sum() / BATCH
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.adamw.step()
        self.adamw.zero_grad(set_to_none=True)
        self.step_number += 1
        return (time.perf_counter() - began) * 1e3, loss.item()

    def memory(self):
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1e3


class Ours:
    """Starts bench_train, or returns None if it was not built."""

    def __init__(self, program, model, kind, threads, precision):
        self.kind, self.process = kind, None
        if os.access(program, os.X_OK):
            self.process = subprocess.Popen([program, model, str(threads), precision], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, text=True)

    def ask(self, question):
        if not self.process:
            return [float("nan")] * 2
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()
        return [float(word) for word in self.process.stdout.readline().split()]

    def step(self):
        return self.ask(self.kind)

    def memory(self):
        return self.ask("memory")[0]


def report_both(measure, ours, theirs, unit):
    if not np.isnan(ours).any():
        report(measure, "whichtool", ours, unit)
        print(f"train_torch: {measure}: {np.median(ours) / np.median(theirs):.3f} x {WHO}", file=sys.stderr)
    report(measure, WHO, theirs, unit)


def measure_kind(kind, precision, model, program, threads):
    theirs, ours = Theirs(model, kind, threads, precision), Ours(program, model, kind, threads, precision)
    name = f"train {kind}" + (" bf16" if precision == "bf16" else "")
    near = 2e-3 if precision == "fp32" else 5e-2
    pairs = []
    for number in range(WARM + ROUNDS):
        mine, other = ours.step(), theirs.step()
        if ours.process and abs(mine[1] - other[1]) > near * max(1.0, abs(other[1])):
            print(f"train_torch: {name}: step {number}: loss {mine[1]:.6f}, {WHO} {other[1]:.6f}", file=sys.stderr)
        if number >= WARM:
            pairs.append((mine[0], other[0]))
    report_both(f"{name}, a step", *map(list, zip(*pairs)), "ms")
    report_both(f"{name}, peak memory", ours.memory(), theirs.memory(), "MB")


def main():
    model = sys.argv[1]
    program = sys.argv[2] if len(sys.argv) > 2 else "build-bench/bench_train"
    threads = int(os.environ.get("BENCH_THREADS", "1"))
    if len(sys.argv) > 4:
        measure_kind(sys.argv[3], sys.argv[4], model, program, threads)
        return
    for kind in ("contrast", "mlc"):  # one process for each kind, to separate their peaks of memory
        for precision in ("fp32", "bf16"):
            subprocess.run([sys.executable, __file__, model, program, kind, precision], check=True)


main()
