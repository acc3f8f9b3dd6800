"""Writes the texts whose vectors bench_dense reads: one text a line.

   dense_texts.py CORPUS REQUESTS FOLDER

Writes FOLDER/dense-tools.txt from corpus.jsonl, and FOLDER/dense-requests.txt from queries.jsonl. Without REQUESTS, the
first sentences of tools are the requests.
"""
import json
import os
import sys

REQUESTS = 385  # more than bench_dense searches


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def write(path, texts):
    texts = dict.fromkeys(" ".join(text.split())[:2000] for text in texts)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(text + "\n" for text in texts if text)


def main():
    corpus, requests, folder = sys.argv[1:4]
    tools = read(corpus)
    write(f"{folder}/dense-tools.txt", (f"{tool.get('title', '')}: {tool.get('text', '')}" for tool in tools))
    if os.path.exists(requests):
        asked = [request["text"] for request in read(requests)]
    else:
        asked = [tool["text"].split(".")[0] for tool in tools]
    write(f"{folder}/dense-requests.txt", asked[:: max(1, len(asked) // REQUESTS)])


if __name__ == "__main__":
    main()
