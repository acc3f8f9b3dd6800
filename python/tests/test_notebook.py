"""Runs the cells of docs/agent.ipynb in their order."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import unittest
from typing import Any

NOTEBOOK = pathlib.Path(__file__).resolve().parents[2] / "docs" / "agent.ipynb"


class Notebook(unittest.TestCase):
    def test_cells(self) -> None:
        cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
        names: dict[str, Any] = {}
        out = io.StringIO()
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(NOTEBOOK.parent)
        os.environ.setdefault("MPLBACKEND", "agg")
        for number, cell in enumerate(cells):
            source = "".join(cell["source"])
            if "matplotlib" in source and not importlib.util.find_spec("matplotlib"):
                continue
            with self.subTest(cell=number), contextlib.redirect_stdout(out):
                exec(compile(source, f"cell {number}", "exec"), names)
        self.assertEqual(len(names["catalogue"]), 300)
        self.assertIn("The result is 2.", out.getvalue())
        self.assertLess(names["shown"] * 20, names["everything"])
        self.assertGreater(names["recall"][names["ks"].index(5)], 0.8)


if __name__ == "__main__":
    unittest.main()
