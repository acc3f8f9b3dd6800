"""What the adaptors share: the choice among a framework's tool objects."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Generic, TypeVar, cast

from ..catalogue import Catalogue
from ..definitions import definition_of, source_of

KEPT_CATALOGUES = 8
"""How many sets of tools a Selector keeps in memory. Frameworks show each user a different set."""
_SPARE = 10  # hits of a shared catalogue that are read per wanted tool, as the catalogue may have others

T = TypeVar("T")


class UnsupportedVersion(ImportError):
    """The installed version of a framework lacks the hook that an adaptor needs."""


def need_version(distribution: str, oldest: str) -> None:
    """Raises UnsupportedVersion unless the distribution is installed in this version or a later one."""
    try:
        found = version(distribution)
    except PackageNotFoundError:
        raise UnsupportedVersion(f"{distribution} is not installed: pip install '{distribution}>={oldest}'") from None
    if _numbers_of(found) < _numbers_of(oldest):
        raise UnsupportedVersion(
            f"{distribution} {found} is too old for whichtool, which needs {oldest}: "
            f"pip install --upgrade '{distribution}>={oldest}'"
        )


def _numbers_of(version_text: str) -> list[int]:
    numbers: list[int] = []
    for part in version_text.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
    return numbers


def name_of(tool: Any) -> str:
    return cast("Any", tool)["name"] if isinstance(tool, dict) else getattr(tool, "name", None) or tool.__name__


class Selector(Generic[T]):
    """Selects the tools for a request among the objects of a framework.

    The tools of each call are imported into a catalogue in memory the first time that they are seen. catalogue: one
    that has them already, with its recorded use; its other tools are passed over. name, describe: functions that
    return the name and the definition of a tool. options: passed to `Catalogue.find`. Any thread may use a selector.
    """

    def __init__(
        self,
        *,
        catalogue: Catalogue | None = None,
        model: str | None = None,
        k: int = 5,
        name: Callable[[T], str] = name_of,
        describe: Callable[[T], Any] = definition_of,
        **options: Any,
    ) -> None:
        self.k = k
        self._catalogue, self._model, self._options = catalogue, model, options
        self._name, self._describe = name, describe
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Catalogue] = OrderedDict()
        self._last: tuple[list[T], Catalogue] | None = None

    def select(self, query: str, tools: Sequence[T], k: int | None = None, **options: Any) -> list[T]:
        """Returns the tools that the request needs most, best first, at most k."""
        k = self.k if k is None else k
        options = {**self._options, **options}
        if not tools:
            return []
        named = {self._name(tool): tool for tool in tools}
        if self._catalogue is None:
            hits = self._catalogue_of(list(tools)).find(query, k, **options)
        else:
            hits = self._catalogue.find(query, k * _SPARE, **options)
        return [named[hit.name] for hit in hits if hit.name in named][:k]

    async def aselect(self, query: str, tools: Sequence[T], k: int | None = None, **options: Any) -> list[T]:
        """Works like `select`, in a thread."""
        return await asyncio.to_thread(self.select, query, tools, k, **options)

    def _catalogue_of(self, tools: list[T]) -> Catalogue:
        with self._lock:
            # The same objects as in the last call need no comparison of their definitions.
            if self._last is not None and len(self._last[0]) == len(tools) and all(map(_is, self._last[0], tools)):
                return self._last[1]
            source = source_of([self._describe(tool) for tool in tools])
            catalogue = self._kept.pop(source, None)
            if catalogue is None:
                catalogue = Catalogue(model=self._model)
                catalogue.add([self._describe(tool) for tool in tools])
            self._kept[source] = catalogue
            while len(self._kept) > KEPT_CATALOGUES:
                self._kept.popitem(last=False)
            self._last = (tools, catalogue)
            return catalogue


def _is(one: object, other: object) -> bool:
    return one is other
