"""decisions.py: measures POST /v1/decisions on a data set in the layout of BEIR.

    python3 bench/decisions.py COMMAND DATA... [--split dev] [--requests N] [--options N] [--model NAME]

Each request is asked twice: among its tool and others drawn at random, and among the others alone. Prints how often the
right tool is chosen, also with the cosine alone (/v1/rerank); the mean probability of the right tool; the expected
calibration error of this probability; and how well the probability of none tells the two cases apart (AUC)."""
import argparse
import json
import pathlib
import random
import subprocess
import tempfile
import urllib.request

BINS = 10


class Server:
    def __init__(self, command, model, folder):
        words = [command, "-s", f"{folder}/tools.wt", "serve", "-q", "--json", "--listen", "127.0.0.1:0", "--until-eof"]
        self.process = subprocess.Popen([*words, *(["--model", model] if model else [])], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.url = json.loads(self.process.stdout.readline())["listening"]

    def post(self, path, body):
        with urllib.request.urlopen(self.url + path, json.dumps(body).encode()) as answer:
            return json.load(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def read_data(folder, split):
    def lines(name):
        return [json.loads(line) for line in open(folder / name)]
    tools = {item["_id"]: (item.get("title") or item["_id"], item.get("text", "")) for item in lines("corpus.jsonl")}
    texts = {item["_id"]: item["text"] for item in lines("queries.jsonl")}
    needed = {}
    for line in (folder / "qrels" / f"{split}.tsv").read_text().splitlines()[1:]:
        request, tool, grade = line.split("\t")[:3]
        if int(grade) > 0:
            needed.setdefault(request, []).append(tool)
    return tools, [(texts[request], right[0]) for request, right in needed.items() if len(right) == 1]


def ask(server, text, names, tools):
    choices = [{"value": name[:200], "description": tools[name][1]} for name in names]
    question = {"type": "choice", "instructions": "Which tool does the request need?", "choices": choices}
    return server.post("/v1/decisions", {"input": text, "model": "default", "questions": [question]})["answers"][0]


def calibration_error(pairs):
    bins = [[] for _ in range(BINS)]
    for probability, right in pairs:
        bins[min(int(probability * BINS), BINS - 1)].append((probability, right))
    return sum(abs(sum(p for p, _ in one) - sum(r for _, r in one)) for one in bins) / len(pairs)


def area_under_curve(low, high):
    """The probability that a value of `high` exceeds one of `low`."""
    return sum((h > x) + (h == x) / 2 for h in high for x in low) / (len(low) * len(high))


def measure(server, folder, options):
    tools, requests = read_data(folder, options.split)
    draw = random.Random(1)
    draw.shuffle(requests)
    right, right_by_cosine, pairs, none_with, none_without, log = 0, 0, [], [], [], []
    for text, tool in requests[:options.requests]:
        others = draw.sample([name for name in tools if name != tool], options.options)
        names = [tool, *others[1:]]
        answer = ask(server, text, names, tools)
        shares = {one["value"]: one["probability"] for one in answer["probabilities"]}
        right += answer["choice"] == tool[:200]
        some = 1 - answer["none_probability"]
        pairs += [(share * some, name == tool[:200]) for name, share in shares.items()]
        none_with.append(answer["none_probability"])
        none_without.append(ask(server, text, others, tools)["none_probability"])
        ranked = server.post("/v1/rerank", {"query": text, "documents": [f"{name}: {tools[name][1]}" for name in names]})
        right_by_cosine += ranked["results"][0]["index"] == 0
        log.append(shares[tool[:200]])
    count = len(log)
    print(f"| {folder.name} | {count} | {options.options} | {100 * right / count:.1f} % | "
          f"{100 * right_by_cosine / count:.1f} % | {sum(log) / count:.3f} | {calibration_error(pairs):.3f} | "
          f"{area_under_curve(none_with, none_without):.3f} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("data", nargs="+", type=pathlib.Path)
    parser.add_argument("--split", default="dev")
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--options", type=int, default=10)
    parser.add_argument("--model")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(options.command, options.model, folder)
        print("| requests of | number | options | right tool | by cosine alone | its mean probability | "
              "calibration error | none: AUC |\n|---|---|---|---|---|---|---|---|")
        for data in options.data:
            measure(server, data, options)
        server.close()


if __name__ == "__main__":
    main()
