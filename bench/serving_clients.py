#!/usr/bin/env python3
"""serving_clients.py: tests unchanged third-party clients against `whichtool serve`, and validates its description.

    pip install openai cohere openapi-spec-validator
    bench/serving_clients.py [--whichtool build/whichtool]

Starts a server over the samples and prints a line for each request: the package and version, and the result. Exits with 1
if one fails. Missing packages are skipped and reported."""
import argparse
import importlib.metadata
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEXTS = ["Weather forecast for a city", "Book a table in a restaurant", "Convert an amount of money"]


def near(a, b):
    return max(abs(x - y) for x, y in zip(a, b)) < 1e-6


def ask(url, path, body):
    request = urllib.request.Request(url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def openai_embeds(url):
    import openai
    client = openai.OpenAI(base_url=url + "/v1", api_key="unused")
    usual = client.embeddings.create(model="default", input=TEXTS)  # requests base64 by default
    plain = client.embeddings.create(model="default", input=TEXTS, encoding_format="float")
    short = client.embeddings.create(model="default", input=TEXTS[0], dimensions=64)
    assert len(usual.data) == 3 and usual.usage.total_tokens > 0 and usual.object == "list"
    assert all(near(a.embedding, b.embedding) for a, b in zip(usual.data, plain.data))
    assert len(short.data[0].embedding) == 64 and near([math.hypot(*short.data[0].embedding)], [1])
    try:
        client.embeddings.create(model="text-embedding-3-small", input="a")
    except openai.NotFoundError as error:
        assert "there is no model" in error.body["message"]
    else:
        raise AssertionError("another model's vectors were given")
    return f"{len(usual.data)} vectors of {len(usual.data[0].embedding)} by {usual.model}"


def cohere_reranks(url):
    import cohere
    results = []
    for client in (cohere.ClientV2(api_key="unused", base_url=url), cohere.Client(api_key="unused", base_url=url)):
        answer = client.rerank(model="default", query="will it rain tomorrow", documents=TEXTS, top_n=2)
        assert [r.index for r in answer.results][0] == 0 and len(answer.results) == 2
        assert 0 <= answer.results[1].relevance_score <= answer.results[0].relevance_score <= 1
        results.append(answer.results[0].relevance_score)
    return f"first of 3 with {results[0]:.3f}, by both versions of its API"


def jina_form(url):
    body = {"model": "default", "query": "will it rain", "documents": [{"text": t} for t in TEXTS], "top_n": 1,
            "return_documents": True}
    answer = ask(url, "/v1/rerank", body)
    assert answer["results"][0]["document"]["text"] == TEXTS[0] and answer["usage"]["total_tokens"] > 0
    return "documents come back"


def description(url):
    from openapi_spec_validator import OpenAPIV31SpecValidator
    with urllib.request.urlopen(url + "/openapi.json") as answer:
        document = json.load(answer)
    OpenAPIV31SpecValidator(document).validate()
    return f"OpenAPI {document['openapi']} with {sum(len(p) for p in document['paths'].values())} operations"


ROWS = [("POST /v1/embeddings", "openai", openai_embeds), ("POST /v2/rerank, /v1/rerank", "cohere", cohere_reranks),
        ("POST /v1/rerank, Jina's form", "", jina_form), ("GET /openapi.json", "openapi-spec-validator", description)]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--whichtool", default=str(ROOT / "build/whichtool"))
    whichtool = options.parse_args().whichtool
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        store = folder + "/tools.wt"
        subprocess.run([whichtool, "-q", "-s", store, "add", ROOT / "samples/catalogue"], check=True,
                       stdout=subprocess.DEVNULL)
        server = subprocess.Popen([whichtool, "-q", "--json", "-s", store, "serve", "--listen", "127.0.0.1:0"],
                                  stdout=subprocess.PIPE, text=True)
        url = json.loads(server.stdout.readline())["listening"]
        for row, package, run in ROWS:
            try:
                version = importlib.metadata.version(package) if package else ""
                print(f"{row:32} {package} {version}: {run(url)}")
            except importlib.metadata.PackageNotFoundError:
                print(f"{row:32} skipped: {package} is not installed")
            except Exception as error:
                failed = True
                print(f"{row:32} FAILED: {error!r}")
        server.terminate()
        failed |= server.wait() != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
