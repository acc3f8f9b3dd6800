#!/usr/bin/env python3
"""Measures the tools and arguments of `whichtool call`: the tables of docs/verified-calls.md.

    python3 bench/calls.py WHICHTOOL DATA [OPTION...]

    DATA              folder with toolverifier, bfcl-multiple, callnavi, apibank
    --sets A,B        some of these; default all
    --half dev|test   the requests with an even or odd SHA-256; default both. Development used the dev halves of sets without
                      a dev split
    --failures KIND   list failed requests: tool, wrong, asked, invalid
    --options "..."   for `whichtool call`
    --candidates      offer each request only the tools that its row names (bfcl-multiple: two to four)
    --demonstrations  record ToolVerifier's demonstrations first, without those that are requests of the set
    --depth [A,B]     only print the share of gold tools among the first 1, 2, 4, 8, 16 hits of hybrid: alone, with the
                      tools of set A in the same store, and with those of B
    --write FILE      only write the labelled requests for bench_call
    --json            print JSON, one line for each set

Prints for each set: the share of requests with the right first tool (R@1; a request without a tool is wrong) and its
bootstrap interval, compared with the first hit of `find --recipe hybrid`; with the gold tool given, the shares of right,
asked and wrong calls; the same for whole calls; and the number of unasked calls that violate the tool's schema.

A call is right if the labels accept each argument and no required one is missing. For ToolVerifier's tasks this is an F1
of exactly 1 over top-level names and values, as in its evaluators for Home and Booking; Weather and Cat are compared by
parameters, not by answers of their servers. For BFCL, names and values are compared as in its AST match. API-Bank's
visible part has no arguments.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import urllib.parse

SETS = ("toolverifier", "bfcl-multiple", "callnavi", "apibank")
BOOTSTRAPS, SEED, WORKERS = 2000, 22, 2
NOTHING, ASK = 1, 8
DEMONSTRATIONS = 3
DEPTHS = (1, 2, 4, 8, 16)

# ---------------------------------------------------------------- labels

API_NAMES = {
    "select_transportation": "means_of_transportation", "select_booking_type": "booking_type",
    "set_origin": "location_from", "set_destination": "location_to", "set_min_ticket_price": "min_price_ticket",
    "set_max_ticket_price": "max_price_ticket", "set_hotel_location": "location", "set_min_room_price": "min_price_room",
    "set_max_room_price": "max_price_room", "select_room_type": "room_type", "select_home_type": "home_type",
}


def gold_of_lines(call):
    """Parses API.set_x(value) lines; values may be variables set to Loc("...") or Date(m, d, y) before."""
    known, out = {}, {}
    for line in call.splitlines():
        made = re.match(r"(\w+) = (Loc|Date)\((.*)\)$", line.strip())
        if made:
            parts = [p.strip().strip('"') for p in made[3].split(",")]
            known[made[1]] = parts[0] if made[2] == "Loc" else "%04d-%02d-%02d" % (int(parts[2]), int(parts[0]), int(parts[1]))
        put = re.match(r"API\.(\w+)\((.+)\)$", line.strip())
        if put and put[2] != "'None'":
            name = API_NAMES.get(put[1], put[1].removeprefix("set_"))
            out[name] = known[put[2]] if put[2] in known else json.loads(put[2].replace("'", '"'))
    return out


def gold_of_curl(call):
    url = re.search(r"'(https?://[^']*)'", call)[1]
    out = {}
    for part in urllib.parse.urlsplit(url).query.split("&"):
        if "=" in part and not part.startswith("appid="):
            name, value = part.split("=", 1)
            out[name] = urllib.parse.unquote_plus(value)
    data = re.search(r"--data '(\{.*\})'", call)
    if data:
        out.update({k: v for k, v in json.loads(data[1]).items() if k != "value"})
    elif "DELETE" in call:
        out["image_id"] = url.rsplit("/", 1)[1]
    return out


def accepted_toolverifier(row):
    call = row["metadata"]["call"]
    gold = gold_of_curl(call) if call.startswith("curl") else gold_of_lines(call)
    return [{name: [value] for name, value in gold.items()}]


def accepted_bfcl(row):
    calls = row["metadata"]["calls"]
    return [next(iter(calls[0].values()))] if len(calls) == 1 else None


def accepted_callnavi(row):
    """Returns the accepted arguments; "$$$" accepts any value."""
    calls = row["metadata"]["parameters"]
    return [{k: None if v == "$$$" else [v] for k, v in calls[0].items()}] if len(calls) == 1 else None


ACCEPTED = {"toolverifier": accepted_toolverifier, "bfcl-multiple": accepted_bfcl, "callnavi": accepted_callnavi,
            "apibank": lambda row: None}


def plain(value):
    if isinstance(value, str):
        return re.sub(r"[ ,./\-_*^]", "", value).lower().replace("'", '"')
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def same(a, b):
    """Compares values. A number equals its text, because a URL has no types; a value equals a list of it, and a list equals
    its values joined by commas."""
    if not any(isinstance(v, (bool, list, dict)) for v in (a, b)):
        try:
            return float(a) == float(b)
        except (TypeError, ValueError):
            pass
    a, b = plain(a), plain(b)
    if a == b:
        return True
    if isinstance(a, list) and isinstance(b, str):
        return plain("".join(str(x) for x in a)) == b
    return isinstance(a, list) and len(a) == 1 and same(a[0], b)


def mistake(got, accepted):
    """Returns the error of the arguments in words; "" if they are right."""
    for name in got:
        if name not in accepted:
            return f"{name} is not wanted"
    for name, values in accepted.items():
        if values is None:
            continue
        if name not in got:
            if "" not in values:
                return f"{name} is not there, {values} is"
        elif not any(same(got[name], v) for v in values):
            return f"{name} is {got[name]!r}, not {values}"
    return ""


# ---------------------------------------------------------------- runs


def digest(request):
    return hashlib.sha256(request.encode()).digest()


class Run:
    USUAL = {"options": "", "half": None, "demonstrations": False, "candidates": False}

    def __init__(self, options, folder, name):
        for option, value in self.USUAL.items():
            if not hasattr(options, option):
                setattr(options, option, value)
        self.options, self.name = options, name
        self.data = os.path.join(options.data, name)
        self.store = os.path.join(folder, name + ".wt")
        self.command("add", self.data)
        self.ids = {t["source_id"]: t for t in map(json.loads, self.command("list", "--json").splitlines())}
        self.gold = {}
        with open(os.path.join(self.data, "qrels", "test.tsv"), encoding="utf-8") as file:
            for line in list(file)[1:]:
                request, tool, score = line.rstrip("\n").split("\t")
                if float(score) > 0 and tool in self.ids:
                    self.gold.setdefault(request, set()).add(tool)
        with open(os.path.join(self.data, "queries.jsonl"), encoding="utf-8") as file:
            self.rows = [r for r in map(json.loads, file) if r["_id"] in self.gold and self.wanted(r["_id"])]

        if options.demonstrations and name == "toolverifier":
            self.record()

    def record(self):
        """Records the demonstrations as usages. Their names have the tools' words in another order: "Weather Forecast City"."""
        tested = {row["text"].strip() for row in self.rows}
        lines = []
        with open(os.path.join(self.data, "demonstrations.jsonl"), encoding="utf-8") as file:
            for demonstration in map(json.loads, file):
                tool = re.sub(r"[^a-z]+", "_", demonstration["Name"].lower()).replace("weather_forecast", "forecast_weather")
                for i in range(1, DEMONSTRATIONS + 1):
                    text, call = demonstration.get(f"Instruction-{i}"), demonstration.get(f"API-{i}")
                    if text and call and text.strip() not in tested:
                        lines.append(json.dumps({"request": text, "outcome": "ok",
                                                 "tools": [{"tool": tool, "arguments": gold_of_curl(call)}]}))
        self.command("usage", "add", "--strict", "-", stdin="\n".join(lines))

    def wanted(self, request):
        even = digest(request)[-1] % 2 == 0
        return self.options.half is None or even == (self.options.half == "dev")

    def command(self, *arguments, ok=(0,), stdin=None):
        result = subprocess.run([self.options.whichtool, "-q", "--store", self.store, *arguments], input=stdin,
                                capture_output=True, text=True)
        if result.returncode not in ok:
            sys.exit(f"{' '.join(arguments)}: {result.stderr}")
        return result.stdout

    def offered(self, row):
        """Returns the filter options for the row's candidates, with --candidates."""
        if not self.options.candidates:
            return []
        names = [self.ids[t]["name"] for t in row["metadata"]["candidates"] if t in self.ids]
        return [part for name in names for part in ("--only", name)]

    def call(self, request, *arguments):
        options = self.options.options.split()
        return json.loads(self.command("call", "--json", *options, *arguments, "-", ok=(0, NOTHING, ASK), stdin=request))

    def one(self, row):
        """Judges one request: tools by their ids, calls as "right", "asked" or "wrong"."""
        gold = {self.ids[t]["id"] for t in self.gold[row["_id"]]}
        hits = json.loads(self.command("find", "--json", "--recipe", "hybrid", "-k", "1", *self.offered(row), "-",
                                       ok=(0, NOTHING), stdin=row["text"]))["hits"]
        called = self.call(row["text"], *self.offered(row))
        out = {"request": row["text"], "hybrid": bool(hits) and hits[0]["id"] in gold, "tool": called["tool"] in gold,
               "asks_tool": called["asks_tool"], "invalid": called["tool"] and not called["question"] and not called["valid"]}
        accepted = ACCEPTED[self.name](row)
        if accepted and len(gold) == 1:
            filled = self.call(row["text"], "--tool", next(iter(gold)))
            out["arguments"], out["why"] = self.judge(filled, accepted)
            out["filled"] = filled
            out["whole"] = self.judge(called, accepted)[0] if out["tool"] else "asked" if called["question"] else "wrong"
        out["called"] = called
        return out

    @staticmethod
    def judge(called, accepted):
        if called["question"] or called["missing"]:
            return "asked", called["question"] or ""
        why = [mistake(called["arguments"], labels) for labels in accepted]
        return ("right", "") if "" in why else ("wrong", why[0])

    def depths(self, beside):
        """Returns the share of requests with the gold tool among the first hits, for each depth. beside: an added catalogue."""
        if beside:
            self.command("add", "--provider", "beside", os.path.join(self.options.data, beside))
        gold = {r["_id"]: {self.ids[t]["id"] for t in self.gold[r["_id"]]} for r in self.rows}

        def places(row):
            hits = json.loads(self.command("find", "--json", "--recipe", "hybrid", "-k", str(DEPTHS[-1]), "-",
                                           ok=(0, NOTHING), stdin=row["text"]))["hits"]
            return next((h["rank"] for h in hits if h["id"] in gold[row["_id"]]), DEPTHS[-1] + 1)

        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            ranks = list(pool.map(places, self.rows))
        tools = len(self.command("list", "--json").splitlines())
        return {"set": self.name, "beside": beside, "tools": tools,
                "depth": {d: 100 * sum(r <= d for r in ranks) / len(ranks) for d in DEPTHS}}

    def write(self, file):
        """Writes the labelled requests for bench_call. Candidates are in the order of the catalogue. A wrong argument has
        another request's value; a missing minimum has the value of the maximum."""
        names = list(self.ids)
        candidates = [{"name": self.ids[n]["name"], "description": self.ids[n]["description"]} for n in names]
        print(json.dumps({"candidates": candidates}), file=file)
        labelled = [(row, next(iter(self.gold[row["_id"]])), {k: v[0] for k, v in ACCEPTED[self.name](row)[0].items()})
                    for row in self.rows if len(self.gold[row["_id"]]) == 1]
        for row, tool, arguments in labelled:
            hits = json.loads(self.command("find", "--json", "--recipe", "hybrid", "-k", "2", "-", ok=(0, NOTHING),
                                           stdin=row["text"]))["hits"]
            others = [names.index(hit["source_id"]) for hit in hits if hit["source_id"] != tool]
            wrong = {}
            for name, value in arguments.items():
                values = [a[name] for _, t, a in labelled if t == tool and name in a and a[name] != value]
                wrong[name] = values[0] if values else "something else"
            for name, value in arguments.items():  # section 4.3: the maximum is also used as the minimum
                lowest = name.replace("max_", "min_")
                if lowest not in arguments and lowest in self.ids[tool]["schema"].get("properties", {}):
                    wrong[lowest] = value
            print(json.dumps({"request": row["text"], "task": row["metadata"].get("task", ""), "gold": names.index(tool),
                              "nearest": others[0] if others else -1, "schema": self.ids[tool]["schema"],
                              "arguments": arguments, "wrong": wrong}), file=file)

    def all(self):
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            return list(pool.map(self.one, self.rows))


def interval(values):
    rng = random.Random(SEED)
    means = sorted(sum(rng.choices(values, k=len(values))) / len(values) for _ in range(BOOTSTRAPS))
    return means[int(.025 * BOOTSTRAPS)], means[int(.975 * BOOTSTRAPS)]


def shares(judged, key):
    of = [j[key] for j in judged if key in j]
    return {kind: 100 * of.count(kind) / len(of) for kind in ("right", "asked", "wrong")} if of else None


def figures(name, judged):
    tool = [j["tool"] for j in judged]
    low, high = interval(tool)
    return {"set": name, "requests": len(judged), "tool": 100 * sum(tool) / len(tool), "tool_interval": [100 * low, 100 * high],
            "hybrid": 100 * sum(j["hybrid"] for j in judged) / len(judged),
            "asks_tool": 100 * sum(j["asks_tool"] for j in judged) / len(judged),
            "tool_of_not_asked": 100 * sum(j["tool"] for j in judged if not j["asks_tool"]) /
            max(1, sum(not j["asks_tool"] for j in judged)),
            "arguments": shares(judged, "arguments"), "whole": shares(judged, "whole"),
            "invalid": sum(bool(j["invalid"]) for j in judged)}


def print_row(f):
    print(f"{f['set']}: {f['requests']} requests; tool {f['tool']:.1f} ({f['tool_interval'][0]:.1f} to "
          f"{f['tool_interval'][1]:.1f}), hybrid {f['hybrid']:.1f}; asks which tool {f['asks_tool']:.1f}, right where it "
          f"does not {f['tool_of_not_asked']:.1f}; invalid {f['invalid']}")
    for key in ("arguments", "whole"):
        if f[key]:
            done = f[key]["right"] + f[key]["wrong"]
            print(f"  {key}: right {f[key]['right']:.1f}, asked {f[key]['asked']:.1f}, wrong {f[key]['wrong']:.1f}; "
                  f"wrong of those not asked {100 * f[key]['wrong'] / done if done else 0:.1f}")


def print_failures(judged, kind):
    for j in judged:
        if kind == "tool" and not j["tool"]:
            print(j["request"][:200], "|", j["called"]["tool"])
        elif kind in ("wrong", "asked") and j.get("arguments") == kind:
            print(j["request"][:300].replace("\n", " "), "|", json.dumps(j["filled"]["arguments"]), "|", j["why"])
        elif kind == "invalid" and j["invalid"]:
            print(j["request"][:200], "|", j["called"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("whichtool")
    parser.add_argument("data")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--half", choices=("dev", "test"))
    parser.add_argument("--failures", choices=("tool", "wrong", "asked", "invalid"))
    parser.add_argument("--options", default="")
    parser.add_argument("--candidates", action="store_true")
    parser.add_argument("--demonstrations", action="store_true")
    parser.add_argument("--write")
    parser.add_argument("--depth", nargs="?", const="")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.sets.split(","):
            if options.depth is not None:
                for beside in ["", *filter(None, options.depth.split(","))]:
                    with tempfile.TemporaryDirectory(dir=folder) as own:
                        print(json.dumps(Run(options, own, name).depths(beside)), flush=True)
                continue
            if options.write:
                with open(options.write, "w", encoding="utf-8") as file:
                    Run(options, folder, name).write(file)
                continue
            judged = Run(options, folder, name).all()
            f = figures(name, judged)
            print(json.dumps(f)) if options.json else print_row(f)
            if options.failures:
                print_failures(judged, options.failures)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
