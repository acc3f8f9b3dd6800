#!/usr/bin/env python3
"""Counts the tools of ToolBank's three collections that the readers of documentation find: the table of
docs/formats.md.

    python3 bench/toolbank_names.py DATA

DATA has the folders numpybank, pandasbank-catalogue and awsbank-catalogue; metadata.original in their corpus.jsonl names
the library's function of a tool. Runs readers/python_api.py and readers/aws_api.py with this Python, which needs numpy,
pandas and botocore in the versions of the docs, and prints Markdown.

    --missing      also print missing names on stderr
"""
import importlib.util
import json
import os
import subprocess
import sys

READERS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "readers")
NUMPY = [word for module in ("", ".lib", ".linalg", ".fft", ".testing", ".strings") for word in ("--module", f"numpy{module}")]
PANDAS = ["pandas", "--methods"] + [word for part in ("core", "compat", "util", "api.typing", "api.extensions")
                                    for word in ("--exclude", f"pandas.{part}*")]
ROWS = (
    ("NumPy: `numpy`, `.lib`, `.linalg`, `.fft`, `.testing`, `.strings`", "numpybank", ["python_api.py", "numpy", *NUMPY]),
    ("pandas, `--methods`, without `core`, `compat`, `util`, `api.typing`, `api.extensions`", "pandasbank-catalogue",
     ["python_api.py", *PANDAS]),
    ("the same with `--import`", "pandasbank-catalogue", ["python_api.py", *PANDAS, "--import"]),
    ("EC2, RDS, IAM, S3, SNS", "awsbank-catalogue", ["aws_api.py", "ec2", "rds", "iam", "s3", "sns"]),
)


def toolbanks(folder):
    """Returns the names as in the documentation, without boto3's common part "client"."""
    with open(os.path.join(folder, "corpus.jsonl"), encoding="utf-8") as file:
        return {json.loads(line)["metadata"]["original"].replace(".client.", ".", 1) for line in file}


def ours(reader):
    done = subprocess.run([sys.executable, os.path.join(READERS, reader[0]), *reader[1:]], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(reader[:2])}: {done.stderr.strip()}")
    return {f"{tool['provider']}.{tool['name']}" for tool in map(json.loads, done.stdout.splitlines())}


def main():
    arguments = [word for word in sys.argv[1:] if word != "--missing"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    for package in ("numpy", "pandas", "botocore"):
        if not importlib.util.find_spec(package):
            sys.exit(f"{sys.executable} has no {package}: pip install numpy==2.4.6 pandas==3.1.1 botocore==1.44.8")
    print("| | ToolBank's | ours | shared | of ToolBank's |\n|---|---|---|---|---|")
    for label, folder, reader in ROWS:
        want, have = toolbanks(os.path.join(arguments[0], folder)), ours(reader)
        print(f"| {label} | {len(want):,} | {len(have):,} | {len(want & have):,} | {100 * len(want & have) / len(want):.1f} % |",
              flush=True)
        if "--missing" in sys.argv:
            print(label, *sorted(want - have), sep="\n    ", file=sys.stderr)


if __name__ == "__main__":
    main()
