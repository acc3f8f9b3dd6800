#!/usr/bin/env python3
"""The tables of ToolVerifier's paper (Mekala et al. 2024) for our runs, beside the paper's: docs/verified-calls.md.

    python3 bench/call_tables.py WHICHTOOL DATA BENCH_CALL

    DATA         folder with toolverifier
    BENCH_CALL   build-bench/bench_call

Our runs are `whichtool call` without a language model, and with a stand-in that knows the labels and has a given error
rate (tests/call/call_oracle.h). The stand-in shows the effect of verification, not the quality of a real model. The rate
applies to every step; with "last looks 2 %", the last answer, decision and choice have a fifth of it. Each figure is the
mean of sixty seeds, with its 95 % bootstrap interval over requests, and the value of the closed form.
"""
import argparse
import json
import os
import subprocess
import tempfile

import calls

TASKS = ("weather", "booking", "home", "cat")
SEEDS = 60  # seeds of bench_call
SHOWN = (.1, .5)  # error rate and repeat rate of the tables by task
SETTINGS = [(error, repeat) for error in (0, .1, .2) for repeat in ((0, .5, 1) if error else (0,))]
WITHOUT_MODEL = "`whichtool call`, no language model"

PAPER_WHOLE = (
    ("ToolLLM 7B", 18, 0, 0, 11, 6.9), ("NexusRaven-V2 13B", 55, 27.5, 43, 82, 50.71),
    ("Qwen1.5-Chat-72B", 74, 55, 52, 89, 66.9), ("Llama-2 70B, one step, 1-shot", 70, 7.5, 85, 83, 58.81),
    ("Llama-2 70B, two steps, 1-shot", 80, 34.17, 85, 78, 67.62),
    ("Llama-2-Chat-70B, two steps, 0-shot", 77, 64.17, 84, 83, 76.43), ("without verification", 76, 82.5, 85, 82, 81.43),
    ("tool verified", 84, 82.5, 85, 83, 83.57), ("arguments verified", 81, 84.17, 88, 96, 87.14),
    ("both verified", 90, 84.17, 88, 97, 89.52))
PAPER_SELECTION = (
    ("ToolLLM 7B", 27, 22, 84, 26, 38.9), ("NexusRaven-V2 13B", 84, 93.33, 100, 98, 93.81),
    ("Qwen1.5-Chat-72B", 93, 95, 99, 96, 95.71), ("Llama-2 70B, one step, 1-shot", 79, 43.3, 100, 98, 78.32),
    ("Llama-2 70B, two steps, 1-shot", 86, 45, 100, 92, 79.05),
    ("Llama-2-Chat-70B, two steps, 0-shot", 83, 75.8, 99, 97, 88.09), ("without verification", 82, 98.33, 100, 96, 94.28),
    ("verified", 91, 98.33, 100, 97, 96.67), ("a choice of two, no question (4.2)", 70),
    ("the question sees the request (4.2)", 89))
PAPER_ARGUMENTS = (
    ("GPT-4", 93, 96.7, 97, 96, 95.72), ("GPT-3.5-Turbo", 90, 85.8, 80, 92, 86.9),
    ("Llama-2 70B", 93, 84.17, 85, 86, 86.91), ("Llama-2-Chat-70B", 89, 45, 91, 88, 76.67),
    ("verified", 99, 85.8, 88, 100, 92.85))
PAPER_OTHERS = (  # Tables 3 and 4: averages, without and with verification
    ("ToolLLM 7B", 38.9, 47.14, 6.9, 13.33), ("NexusRaven-V2 13B", 93.81, 98.1, 50.7, 59.29),
    ("Qwen1.5-Chat-72B", 95.71, 99.05, 66.9, 70.24))
PAPER_CONSISTENT = (("Llama-2 70B, self-consistency@3", 84, 80.83, 85, 83, 83.09), ("both verified", 90, 84.17, 88, 97, 89.52))

# ---------------------------------------------------------------- closed form (call_oracle.h)


def selection_form(rates, method):
    a, repeat, last = rates["error"], rates["repeat"], rates["last"]

    def f(x):
        return (1 - repeat) * x

    def g(x):
        return repeat + (1 - repeat) * x

    def v(x):
        return (1 - x) * (1 - last) + x * last

    if method in ("once", "one-shot"):
        return 1 - a
    if method == "direct":
        return (1 - a) * (1 - f(last)) + a * (1 - a) * (1 - g(last))
    if method == "consistent":
        return (1 - a) * (1 - f(a) ** 2) + a * (1 - g(a)) ** 2
    return (1 - a) * v(f(last)) + a * (1 - a) * v(g(last))


def argument_form(rates, way):
    """Returns the closed form for one argument. Errors of a second model are independent."""
    p, repeat, choice = rates["error"], rates["repeat"], rates["last"]
    after_right, after_wrong = (p, p) if way == "second-model" else ((1 - repeat) * p, repeat + (1 - repeat) * p)
    choice_right, choice_wrong = (1 - repeat) * choice, repeat + (1 - repeat) * choice
    if way == "alone":
        return 1 - p
    return ((1 - p) * (1 - after_right) + (1 - p) * after_right * (1 - choice_right) +
            p * (1 - after_wrong) * (1 - choice_wrong))


# ---------------------------------------------------------------- runs


class Oracle:
    """Returns the outcomes of bench_call by setting and method: one bit a seed for each request."""

    def __init__(self, program, labels):
        with open(labels, encoding="utf-8") as file:
            self.rows = [json.loads(line) for line in file][1:]
        self.arguments = [len({*row["arguments"], *row["wrong"]}) for row in self.rows]
        self.lines, self.averages = {}, {}
        for line in subprocess.run([program, labels], capture_output=True, text=True, check=True).stdout.splitlines():
            got = json.loads(line)
            kind = "select" if "select" in got else "generate"
            better = got["last"] < got["error"]
            self.lines[got["error"], got["repeat"], better, kind, got[kind]] = got

    def line(self, setting, better, kind, name):
        """Returns the outcomes of a method. Without a last look, better ones make no difference."""
        return self.lines.get((*setting, better, kind, name)) or self.lines[*setting, False, kind, name]

    def outcome(self, setting, better, method=None, way=None):
        """Returns for each request the share of right seeds, the closed form, and the number of questions."""
        bits, forms, questions = [2 ** SEEDS - 1] * len(self.rows), [1] * len(self.rows), 0
        for kind, name in (("select", method), ("generate", way)):
            if not name:
                continue
            line = self.line(setting, better, kind, name)
            bits = [a & b for a, b in zip(bits, line["right"])]
            forms = [form * (selection_form(line, name) if kind == "select" else argument_form(line, name) ** n)
                     for form, n in zip(forms, self.arguments)]
            questions += line["questions"]
        return [bin(b).count("1") / SEEDS for b in bits], forms, questions

    def average(self, *of, **ways):
        shares, forms, _ = self.outcome(*of, **ways)
        low, high = calls.interval(shares)
        form = sum(forms) / len(forms)
        self.averages[tuple(shares)] = low - 1e-9 <= form <= high + 1e-9
        return f"{mean(shares)} ({100 * low:.1f} to {100 * high:.1f}; {100 * form:.1f})"

    def by_task(self, better=False, **ways):
        shares, _, questions = self.outcome(SHOWN, better, **ways)
        cells = [mean([s for s, row in zip(shares, self.rows) if row["task"] == task]) for task in TASKS]
        return [*cells, self.average(SHOWN, better, **ways), f"{questions:.1f}"]


def mean(values):
    return f"{100 * sum(values) / len(values):.1f}"


def without_model(judged, key):
    """Returns a row of `whichtool call`, with intervals over requests."""
    values = [(row["metadata"]["task"], j[key] in (True, "right")) for row, j in judged]
    low, high = calls.interval([v for _, v in values])
    return [*(mean([v for t, v in values if t == task]) for task in TASKS),
            f"{mean([v for _, v in values])} ({100 * low:.1f} to {100 * high:.1f})", "0"]


# ---------------------------------------------------------------- tables


def last_looks(error):
    return f", last looks {100 * error / 5:.0f} %"


def print_table(title, head, rows):
    print(f"\n{title}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join([*map(str, row), *[''] * (len(head) - len(row))])} |")


def print_tasks(title, paper, ours):
    print_table(title, ("", *(task.capitalize() for task in TASKS), "average", "questions"),
                [(f"paper: {name}", *figures) for name, *figures in paper] + ours)


def print_by_task(oracle, judged):
    print_tasks("Table 1: whole calls", PAPER_WHOLE, [
        (WITHOUT_MODEL, *without_model(judged, "whole")),
        ("stand-in, without verification", *oracle.by_task(method="once", way="alone")),
        ("tool verified", *oracle.by_task(method="verified", way="alone")),
        ("arguments verified", *oracle.by_task(method="once", way="react")),
        ("both verified", *oracle.by_task(method="verified", way="react")),
        ("both verified, last looks 2 %", *oracle.by_task(True, method="verified", way="react"))])
    print_tasks("Table 2 and section 4.2: the tool alone", PAPER_SELECTION, [
        (WITHOUT_MODEL, *without_model(judged, "tool")),
        ("stand-in: `once` (0-shot)", *oracle.by_task(method="once")),
        *((f"`{method}`", *oracle.by_task(method=method))
          for method in ("one-shot", "direct", "conditioned", "consistent", "verified")),
        *((f"`{method}`, last looks 2 %", *oracle.by_task(True, method=method)) for method in ("direct", "verified"))])
    print_tasks("Table 5: the arguments alone, the tool given; and the three sources of a second prediction",
                PAPER_ARGUMENTS, [
                    (WITHOUT_MODEL, *without_model(judged, "arguments")),
                    ("stand-in: `alone`", *oracle.by_task(way="alone")),
                    *((f"`{way}`", *oracle.by_task(way=way)) for way in ("react", "sampled", "second-model")),
                    ("`sampled`, the call `written` (A.4.7)", *oracle.by_task(way="written")),
                    ("`react`, last looks 2 %", *oracle.by_task(True, way="react"))])
    print_tasks("Table 6: self-consistency, whole calls", PAPER_CONSISTENT, [
        ("stand-in: `consistent`, arguments alone", *oracle.by_task(method="consistent", way="alone")),
        ("`consistent`, arguments verified", *oracle.by_task(method="consistent", way="react")),
        ("both verified", *oracle.by_task(method="verified", way="react")),
        ("both verified, last looks 2 %", *oracle.by_task(True, method="verified", way="react"))])


def print_by_rate(oracle):
    print_table("Tables 3 and 4: what verification makes of other models (averages)",
                ("", "tool", "tool verified", "whole call", "both verified"),
                [(f"paper: {name}", *figures) for name, *figures in PAPER_OTHERS] +
                [(f"stand-in, {100 * e:.0f} %, {100 * r:.0f} % repeated{last_looks(e) if better else ''}",
                  oracle.average((e, r), better, method="once"), oracle.average((e, r), better, method="verified"),
                  oracle.average((e, r), better, method="once", way="alone"),
                  oracle.average((e, r), better, method="verified", way="react"))
                 for e, r in SETTINGS for better in ((False, True) if e else (False,))])
    print_table("Where verification stops helping: the tool, and one set of arguments, by how often a mistake is repeated",
                ("error", "repeated", "`once`", "`consistent`", "`direct`", "`verified`", "arguments `alone`", "`react`",
                 "`second-model`"),
                [(f"{100 * e:.0f} %", f"{100 * r:.0f} %",
                  *(oracle.average((e, r), False, method=m) for m in ("once", "consistent", "direct", "verified")),
                  *(oracle.average((e, r), False, way=w) for w in ("alone", "react", "second-model")))
                 for e, r in SETTINGS if e])


def print_ranges(oracle, run, judged):
    """Prints section 4.3: requests of Booking and Home with a maximum but no minimum of the same quantity."""
    places = [i for i, row in enumerate(oracle.rows)
              if any(name.startswith("min_") and name not in row["arguments"] for name in row["wrong"])]

    def count(setting, way, better):
        extra = oracle.line(setting, better, "generate", way)["extra"]
        return f"{sum(bin(extra[i]).count('1') for i in places) / SEEDS:.1f}"

    rows = [(f"stand-in, {100 * error:.0f} %, {100 * repeat:.0f} % repeated", count((error, repeat), "alone", False),
             count((error, repeat), "react", False), count((error, repeat), "react", True))
            for error, repeat in SETTINGS if error]
    texts = {oracle.rows[i]["request"] for i in places}
    filled = sum(any(name.startswith("min_") and name not in labels for name in j["filled"]["arguments"])
                 for row, j in judged if row["text"] in texts
                 for labels in calls.ACCEPTED[run.name](row)[:1])
    print_table(f"Section 4.3: of {len(places)} requests that give a highest value alone, how many get a lowest one",
                ("", "`alone`", "`react`", "`react`, last looks a fifth"), [(WITHOUT_MODEL, filled), *rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("whichtool")
    parser.add_argument("data")
    parser.add_argument("bench_call")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run, labels = calls.Run(options, folder, "toolverifier"), os.path.join(folder, "labels.jsonl")
        with open(labels, "w", encoding="utf-8") as file:
            run.write(file)
        oracle, judged = Oracle(options.bench_call, labels), list(zip(run.rows, run.all()))
    print(f"{len(run.rows)} requests: " + ", ".join(
        f"{sum(r['metadata']['task'] == t for r in run.rows)} {t.capitalize()}" for t in TASKS) +
        f". By task the stand-in errs at {100 * SHOWN[0]:.0f} %, of which {100 * SHOWN[1]:.0f} % are repeated.")
    print_by_task(oracle, judged)
    print_by_rate(oracle)
    print_ranges(oracle, run, judged)
    within = list(oracle.averages.values())
    print(f"\nOf {len(within)} different averages {sum(within)} have their closed form within the interval.")


if __name__ == "__main__":
    main()
