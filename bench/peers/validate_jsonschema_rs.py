"""jsonschema-rs on the schemas and arguments of bench_validate: the Rust validator with its Python binding.

    validate_jsonschema_rs.py [WORK_FOLDER]     default build-bench/work

Measures is_valid() of a compiled validator on parsed arguments, in a Python loop. Each call includes the binding's access
to Python objects.
"""
import json
import os
import sys
import time

import jsonschema_rs
from results import report

ROUNDS, PASSES = 31, 10


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "build-bench/work"
    with open(os.path.join(folder, "validate.jsonl")) as file:
        rows = [json.loads(line) for line in file]
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        validators = [jsonschema_rs.Draft202012Validator(row["schema"]) for row in rows]
        times.append((time.process_time() - start) * 1e3)
    report(f"compile {len(rows)} schemas", "jsonschema-rs", times, "ms")
    pairs = [(v.is_valid, i) for v, row in zip(validators, rows) for i in row["instances"]]
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(PASSES):
            for is_valid, instance in pairs:
                is_valid(instance)
        times.append(len(pairs) * PASSES / (time.process_time() - start))
    report(f"validate arguments of {len(pairs)} calls", "jsonschema-rs", times, "/s")
    fit = sum(is_valid(instance) for is_valid, instance in pairs)
    print(f"jsonschema-rs: {fit} of {len(pairs)} fit", file=sys.stderr)


if __name__ == "__main__":
    main()
