"""MTEB: a search model, for `mteb.evaluate(WhichtoolSearch(recipe="hybrid"), tasks)`."""

from __future__ import annotations

import json
import tempfile
from typing import Any

from ..catalogue import Catalogue
from ._select import need_version

need_version("mteb", "2.0")

from mteb.models.model_meta import ModelMeta  # noqa: E402

LARGEST_K = 1000
"""Documents per query that whichtool returns at most."""


class WhichtoolSearch:
    """Implements MTEB's SearchProtocol. model: name or folder of the encoder. recipe: the search method."""

    def __init__(self, *, recipe: str | None = None, model: str | None = None) -> None:
        self._recipe, self._model = recipe, model
        self._catalogue: Catalogue | None = None

    def index(self, corpus: Any, **_: Any) -> None:
        """Imports a corpus into a catalogue in memory, in place of the one before."""
        if self._catalogue is not None:
            self._catalogue.close()
        self._catalogue = Catalogue(model=self._model)
        uses: dict[str, int] = {}
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as lines:
            for row in corpus:
                title = row.get("title") or str(row["id"])
                uses[title] = uses.get(title, 0) + 1
                if uses[title] > 1:  # a catalogue has one tool of a name
                    title = f"{title} {uses[title]}"
                text = row.get("text") or row.get("body") or ""
                print(json.dumps({"_id": str(row["id"]), "title": title, "text": text}), file=lines)
            lines.flush()
            self._catalogue.add(lines.name, format="beir")

    def search(self, queries: Any, *, top_k: int, top_ranked: Any = None, **_: Any) -> dict[str, dict[str, float]]:
        """Returns the scores of the best documents of each query."""
        if self._catalogue is None:
            raise ValueError("call index before search")
        k = LARGEST_K if top_ranked is not None else min(top_k, LARGEST_K)
        results: dict[str, dict[str, float]] = {}
        for row in queries:
            hits = self._catalogue.find(row["text"], k, recipe=self._recipe)
            allowed = None if top_ranked is None else set(top_ranked.get(row["id"], ()))
            # MTEB sorts by score: the rank keeps the order of hits that are equal in a recipe's scores.
            results[row["id"]] = {
                hit.source_id: 1 / rank
                for rank, hit in enumerate(hits, 1)
                if allowed is None or hit.source_id in allowed
            }
        return results

    @property
    def mteb_model_meta(self) -> ModelMeta:
        return ModelMeta.create_empty({"name": "whichtool/" + (self._recipe or "auto"), "revision": "1"})
