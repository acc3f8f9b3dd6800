#!/usr/bin/env python3
"""Compares the estimate of tokens, a quarter of a definition's bytes, with GPT-4o's tokenizer: the table of
docs/find.md.

    python3 bench/token_estimate.py WHICHTOOL MODULES DATA...

    WHICHTOOL      the command
    MODULES        a node_modules with gpt-tokenizer (npm install gpt-tokenizer@4.0.0), whose o200k_base counts
    DATA           catalogues for `whichtool add`
    --sample N     number of tools sampled from each (1000)
    --seed N       default 1

A definition is the output of `show --format openai`. Prints Markdown: total bytes by total tokens, and the 5th, 50th and
95th percentile of estimate by tokens. Needs node.
"""
import argparse
import concurrent.futures
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

COUNT = """
const { countTokens } = require(process.argv[1] + '/gpt-tokenizer/cjs/encoding/o200k_base.js');
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(texts.map((text) => countTokens(text))));
"""
BYTES_A_TOKEN = 4  # src/query/budget.h


def run(command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command[:4])} ...: {done.stderr.strip()}")
    return done.stdout


def definitions(program, data, sample, seed):
    with tempfile.TemporaryDirectory() as folder:
        store = [program, "-q", "-s", os.path.join(folder, "tools.wt")]
        run([*store, "add", "--no-vectors", data])
        ids = [json.loads(line)["id"] for line in run([*store, "list", "--json"]).splitlines()]
        drawn = random.Random(seed).sample(ids, min(sample, len(ids)))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(lambda tool: run([*store, "show", "--format", "openai", tool]).strip(), drawn))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("whichtool")
    parser.add_argument("modules")
    parser.add_argument("data", nargs="+")
    parser.add_argument("--sample", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not os.path.exists(os.path.join(options.modules, "gpt-tokenizer")):
        sys.exit(f"{options.modules} has no gpt-tokenizer: npm install gpt-tokenizer@4.0.0")
    if not shutil.which("node"):
        sys.exit("there is no node: install Node.js 18 or newer")
    print("| catalogue | definitions | bytes a token | estimate / tokens: 5 %, median, 95 % |\n|---|---|---|---|")
    for data in options.data:
        texts = definitions(options.whichtool, data, options.sample, options.seed)
        tokens = json.loads(run(["node", "-e", COUNT, os.path.abspath(options.modules)], json.dumps(texts)))
        sizes = [len(text.encode()) for text in texts]
        ratios = [-(-size // BYTES_A_TOKEN) / count for size, count in zip(sizes, tokens)]
        cuts = statistics.quantiles(ratios, n=20, method="inclusive")
        print(f"| {os.path.basename(os.path.normpath(data))} | {len(texts):,} | {sum(sizes) / sum(tokens):.2f} | "
              f"{cuts[0]:.2f}, {cuts[9]:.2f}, {cuts[18]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
