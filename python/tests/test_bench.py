"""Measures a small data set, and searches it as a model of MTEB."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import pathlib
import tempfile
import unittest

from whichtool import bench

CORPUS = [
    ("w", "get_weather", "Forecast of the weather in a city"),
    ("m", "send_email", "Send an email to a person"),
    ("i", "create_invoice", "Write an invoice for a customer"),
]
QUERIES = [
    ("1", "will it rain tomorrow, what is the weather"),
    ("2", "mail Anna that I am late"),
    ("3", "nobody judged this"),
]


class Bench(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "qrels").mkdir()
        self.write(
            "corpus.jsonl",
            "".join(json.dumps({"_id": key, "title": title, "text": text}) + "\n" for key, title, text in CORPUS),
        )
        self.write("queries.jsonl", "".join(json.dumps({"_id": key, "text": text}) + "\n" for key, text in QUERIES))
        self.write("qrels/test.tsv", "query-id\tcorpus-id\tscore\n1\tw\t1\n2\tm\t1\n2\ti\t0\n")

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def run_main(self, *arguments: str) -> tuple[int, str, str]:
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            code = bench.main([str(self.folder), "--model", "whichtool-static-v1", *arguments])
        return code, out.getvalue(), errors.getvalue()

    def test_figures_of_one_query(self) -> None:
        for found, grades, recall, ndcg, mrr in [
            (["a", "b"], {"a": 1}, 1, 1, 1),
            (["b", "a"], {"a": 1}, 1, 0.6309, 0.5),
            (["b", "c"], {"a": 1}, 0, 0, 0),
            (["a", "b"], {"a": 1, "b": 2, "c": 0}, 1, 0.7967, 1),
        ]:
            figures = bench.figures_of(found, grades, 2)
            for name, value in [("recall", recall), ("ndcg", ndcg), ("mrr", mrr)]:
                self.assertAlmostEqual(figures[name], value, places=4, msg=f"{name} of {found}, {grades}")

    def test_command(self) -> None:
        code, out, _ = self.run_main("--json", "--k", "1")
        result = json.loads(out)
        self.assertEqual((code, result["tools"], result["queries"], result["recall"]), (0, 3, 2, 1.0))
        code, out, _ = self.run_main()
        self.assertRegex(out, r"(?s)3 tools, 2 queries of test.*recall@5 1\.000  nDCG@5 1\.000")

    def test_faults(self) -> None:
        self.assertIn("dev.tsv", self.run_main("--split", "dev")[2])
        self.assertIn("no-such", self.run_main("--recipe", "no-such")[2])
        self.write("qrels/test.tsv", "query-id\tcorpus-id\tscore\n1\tw\n")
        self.assertIn("test.tsv:2: expected three columns, found 2", self.run_main()[2])
        self.write("qrels/test.tsv", "9\tw\t1\n")
        self.assertIn("no query of test has a relevant document", self.run_main()[2])
        self.write("qrels/test.tsv", "1\tw\t1\n")
        self.write("queries.jsonl", "{\n")
        self.assertIn("queries.jsonl:1: not JSON", self.run_main()[2])

    @unittest.skipUnless(importlib.util.find_spec("mteb"), "mteb is not installed")
    def test_mteb(self) -> None:
        from mteb.models.models_protocols import SearchProtocol
        from whichtool.integrations.mteb import WhichtoolSearch

        model = WhichtoolSearch(model="whichtool-static-v1")
        self.assertIsInstance(model, SearchProtocol)
        model.index([{"id": key, "title": title, "text": text} for key, title, text in CORPUS])
        found = model.search([{"id": key, "text": text} for key, text in QUERIES], top_k=2)
        self.assertEqual(max(found["1"], key=found["1"].__getitem__), "w")
        self.assertLessEqual(len(found["2"]), 2)
        found = model.search([{"id": "1", "text": QUERIES[0][1]}], top_k=2, top_ranked={"1": ["m"]})
        self.assertNotIn("w", found["1"])


if __name__ == "__main__":
    unittest.main()
