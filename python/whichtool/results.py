"""Results of searches and imports. Their attributes are read when they are used, because most callers need few of
them."""

from __future__ import annotations

import ctypes
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, overload

from . import _api
from ._native import library

Export = Callable[[list[str], str], list[Any]]
_Read = Callable[[str], Any]


def text_of(value: bytes | None) -> str:
    return (value or b"").decode(errors="replace")


def number_of(value: float) -> float | None:
    return None if math.isnan(value) else value


class Tool:
    """A tool of the catalogue."""

    __slots__ = ("_read",)

    def __init__(self, read: _Read) -> None:
        self._read = read

    @property
    def id(self) -> str:
        """PROVIDER/NAME, or NAME if the tool has no provider."""
        return self._read("id")

    @property
    def name(self) -> str:
        return self._read("name")

    @property
    def export_name(self) -> str:
        """The name in the formats of language models: PROVIDER__NAME."""
        return self._read("export_name")

    @property
    def provider(self) -> str:
        return self._read("provider")

    @property
    def title(self) -> str:
        return self._read("title")

    @property
    def description(self) -> str:
        return self._read("description")

    @property
    def source_id(self) -> str:
        """Identifier in the source, such as the _id of a BEIR corpus, or ""."""
        return self._read("source_id")

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        return self._read("schema")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}>"


class Hit(Tool):
    """A tool that a search found."""

    __slots__ = ()

    @property
    def score(self) -> float:
        """Orders the hits of one request only."""
        return self._read("score")

    @property
    def probability(self) -> float | None:
        """Probability that the request needs the tool, comparable across requests; None if unknown."""
        return self._read("probability")

    @property
    def weak(self) -> bool:
        """True if the tool hardly fits."""
        return self._read("weak")


class Hits(Sequence[Hit]):
    """The tools that a search found, best first. False if there are none."""

    def __init__(self, load: Callable[[], list[Hit]], read: _Read, export: Export) -> None:
        self._load, self._read, self._export = load, read, export
        self._loaded: list[Hit] | None = None

    @property
    def _hits(self) -> list[Hit]:
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Hit]: ...
    def __getitem__(self, index: int | slice) -> Hit | Sequence[Hit]:
        return self._hits[index]

    def __len__(self) -> int:
        return len(self._hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self._hits)

    @property
    def ids(self) -> list[str]:
        return [hit.id for hit in self._hits]

    @property
    def recipe(self) -> str:
        """The recipe that ran."""
        return self._read("recipe")

    @property
    def notice(self) -> str | None:
        """Anything missing or left out, in a sentence for people."""
        return self._read("notice")

    @property
    def read_as(self) -> str | None:
        """The request as searched, if spelling was corrected or a long request was shortened."""
        return self._read("read_as")

    @property
    def total_ms(self) -> float:
        return self._read("total_ms")

    def to(self, format: str) -> list[Any]:
        """Returns the definitions as an API accepts them: "openai", "openai-responses", "anthropic", "gemini", "mcp",
        ..."""
        return self._export(self.ids, format)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.ids}>"


class Picked(Hits):
    """The exact set of tools that a request needs. False if no tool fits."""

    @property
    def no_tool_probability(self) -> float | None:
        return self._read("no_tool_probability")

    @property
    def complete_probability(self) -> float | None:
        """Probability that the set has all needed tools; None if unknown."""
        return self._read("complete_probability")


class _LibraryHits:
    """A wt_hits, which is freed with its last hit."""

    __slots__ = ("_pointer", "_struct")

    def __init__(self, pointer: Any) -> None:
        self._pointer, self._struct = pointer, pointer.contents

    def __del__(self, free: Callable[[Any], None] = library.wt_hits_free) -> None:
        free(self._pointer)

    def read(self, member: str) -> Any:
        value = getattr(self._struct, member)
        return text_of(value) if isinstance(value, bytes) else value

    def load(self) -> list[Hit]:
        return [Hit(_LibraryHit(self, self._struct.items[i].contents).read) for i in range(self._struct.len)]


class _LibraryHit:
    __slots__ = ("_hit", "_owner", "_tool")

    def __init__(self, owner: _LibraryHits, hit: _api.wt_hit) -> None:
        self._owner, self._hit, self._tool = owner, hit, hit.tool.contents

    def read(self, member: str) -> Any:
        if member == "schema":
            return json.loads(self._tool.schema or b"{}")
        if member == "score":
            return self._hit.score
        if member == "probability":
            return number_of(self._hit.probability)
        return bool(self._hit.weak) if member == "weak" else text_of(getattr(self._tool, member))


def hits_of_library(pointer: Any, export: Export) -> Hits:
    """Returns the hits of a wt_hits."""
    found = _LibraryHits(pointer)
    return Hits(found.load, found.read, export)


def picked_of_json(data: Mapping[str, Any], export: Export) -> Picked:
    return Picked(lambda: [Hit(hit.__getitem__) for hit in data["hits"]], data.__getitem__, export)


class Call:
    """A written call. True if it can be made: the arguments are valid, and nothing has to be asked. `data` has all
    members of docs/json.md."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def __bool__(self) -> bool:
        return self.tool is not None and self.valid and self.question is None

    @property
    def tool(self) -> str | None:
        """Id of the tool, or None if no tool fits."""
        return self.data["tool"]

    @property
    def arguments(self) -> dict[str, Any]:
        return self.data["arguments"] or {}

    @property
    def valid(self) -> bool:
        return self.data["valid"]

    @property
    def missing(self) -> list[str]:
        """Required arguments that the request does not give."""
        return self.data["missing"]

    @property
    def question(self) -> str | None:
        """Question for the author of the request, or None."""
        return self.data["question"]

    def __repr__(self) -> str:
        return f"<Call {self.tool} {self.arguments}>"


class Added:
    """The outcome of an import: numbers of tools, and the issues of the skipped ones. `servers` has the outcome of
    each MCP server; it is empty for other sources."""

    def __init__(self, reports: Sequence[_api.wt_add_report], servers: list[dict[str, Any]] | None = None) -> None:
        self.added = sum(report.added for report in reports)
        self.updated = sum(report.updated for report in reports)
        self.unchanged = sum(report.unchanged for report in reports)
        self.removed = sum(report.removed for report in reports)
        self.skipped = sum(report.skipped for report in reports)
        self.issues = [members_of(report.issues[i].contents) for report in reports for i in range(report.issue_count)]
        self.servers = servers or []

    def __repr__(self) -> str:
        return f"<Added {self.added}, updated {self.updated}, unchanged {self.unchanged}, skipped {self.skipped}>"


def members_of(struct: ctypes.Structure) -> dict[str, Any]:
    """Returns the numbers and texts of a struct of the library by name; None for NaN and NULL."""
    members: dict[str, Any] = {}
    for name, kind in ((field[0], field[1]) for field in struct._fields_):
        value = getattr(struct, name)
        if kind is ctypes.c_char_p:
            members[name] = None if value is None else text_of(value)
        elif isinstance(value, (int, float)):
            members[name] = number_of(value)
    return members


def added_of_library(report: _api.wt_mcp_report) -> Added:
    servers = [report.servers[i].contents for i in range(report.server_count)]
    added = Added([server.added.contents for server in servers if server.added], [members_of(one) for one in servers])
    added.removed += report.removed
    return added


_LEVELS = {1: "note", 2: "warning", 3: "error"}


def audit_of_library(audit: _api.wt_audit_result) -> dict[str, Any]:
    """Returns the members that `whichtool check --json` prints, except for its `sound`."""
    findings: list[dict[str, Any]] = []
    for i in range(audit.finding_count):
        finding = audit.findings[i].contents
        row = members_of(finding)
        row.update(level=_LEVELS[finding.level], tools=[text_of(finding.tools[t]) for t in range(finding.tool_count)])
        del row["tool_count"]
        findings.append(row)
    members = members_of(audit)
    del members["finding_count"], members["cost_count"]
    return {
        **members,
        "findings": findings,
        "costs": [members_of(audit.costs[i].contents) for i in range(audit.cost_count)],
    }


def trained_of_library(trained: _api.wt_trained) -> dict[str, Any]:
    """Returns the outcome of one lesson."""
    return members_of(trained)
