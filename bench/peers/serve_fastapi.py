"""The usual way to serve a search by meaning from Python: FastAPI, ONNX Runtime with the same weights, FAISS.

    serve_fastapi.py MODEL CORPUS PORT        MODEL: a folder of the hub; CORPUS: corpus.jsonl of a data set

POST /v1/find {"query", "k"} returns the k nearest tools with their texts. The best configuration: the graph is fused for
BERT (onnx_bert.py) and runs on one thread, with one process for each processor (uvicorn --workers), the index is exact, and the tokenizer
is the Rust one. Vectors of the tools are computed at the start, and cached beside the corpus' folder."""
import json
import os
import sys
import tempfile

import faiss
import numpy as np
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from tokenizers import Tokenizer

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from encode_onnx import MAX_TOKENS, open_session  # noqa: E402
from onnx_bert import write  # noqa: E402

KEPT = os.path.join(tempfile.gettempdir(), "serve_fastapi")


class Request(BaseModel):
    query: str
    k: int = 5


class Encoder:
    def __init__(self, model):
        self.tokenizer = Tokenizer.from_file(os.path.join(model, "tokenizer.json"))
        self.tokenizer.enable_truncation(MAX_TOKENS)
        self.tokenizer.no_padding()
        self.run = open_session(os.path.join(KEPT, "graph.onnx"))

    def __call__(self, text):
        return self.run(np.array([self.tokenizer.encode(text).ids]))[1]


def make(model, corpus):
    """Loads the graph and the tools' vectors once."""
    os.makedirs(KEPT, exist_ok=True)
    graph, vectors = os.path.join(KEPT, "graph.onnx"), os.path.join(KEPT, "vectors.npy")
    if not os.path.exists(graph):
        os.replace(write(model, graph + ".part"), graph)
    if not os.path.exists(vectors):
        encode = Encoder(model)
        with open(corpus, encoding="utf-8") as file:
            tools = [json.loads(line) for line in file]
        np.save(vectors, np.concatenate([encode(f"{tool.get('title', '')} {tool['text']}") for tool in tools]))


def application(model, corpus):
    encode, app = Encoder(model), FastAPI()
    vectors = np.load(os.path.join(KEPT, "vectors.npy"))
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    faiss.omp_set_num_threads(1)
    with open(corpus, encoding="utf-8") as file:
        tools = [json.loads(line) for line in file]

    @app.post("/v1/find")
    def find(request: Request):
        scores, rows = index.search(encode(request.query), request.k)
        return {"hits": [{"score": float(score), "id": tools[row]["_id"], "text": tools[row]["text"]}
                         for score, row in zip(scores[0], rows[0])]}

    return app


def served():
    return application(os.environ["PEER_MODEL"], os.environ["PEER_CORPUS"])


if __name__ == "__main__":
    os.environ["PEER_MODEL"], os.environ["PEER_CORPUS"] = sys.argv[1:3]
    make(*sys.argv[1:3])
    uvicorn.run("serve_fastapi:served", factory=True, port=int(sys.argv[3]), workers=os.cpu_count(), log_level="warning")
