"""The class Catalogue."""

from __future__ import annotations

import ctypes
import importlib
import json
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from ctypes import byref
from functools import partial
from typing import Any, TypeVar, cast

from . import _api
from ._native import Engine, Progress, Watch, library, make_error
from .definitions import source_of
from .results import (
    Added,
    Call,
    Hits,
    Picked,
    Tool,
    added_of_library,
    audit_of_library,
    hits_of_library,
    picked_of_json,
    trained_of_library,
)

_PAGE = 1000  # tools per page of `tools`
_FIND_OPTIONS_BYTES = ctypes.sizeof(_api.wt_find_options)
_HITS = ctypes.POINTER(_api.wt_hits)
_T = TypeVar("_T")


class Catalogue:
    """Tools in a store, and searches over them.

    >>> from whichtool import Catalogue
    >>> catalogue = Catalogue(model="whichtool-static-v1")
    >>> catalogue.add([{"name": "get_weather", "description": "Weather of a city"}])
    <Added 1, updated 0, unchanged 0, skipped 0>
    >>> catalogue.find("will it rain in Oslo").ids
    ['get_weather']

    path: the store, created if missing; None for one in memory. model: name or folder of the encoder; "" to search by
    words only; None for the default. trained: folder of trained models. Any thread may use a catalogue. A process
    that was started by fork must open its own."""

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        model: str | None = None,
        read_only: bool = False,
        models_dir: str | None = None,
        trained: str | None = None,
        threads: int = 0,
        chat_url: str | None = None,
        chat_model: str | None = None,
        chat_key: str | None = None,
    ) -> None:
        self.path = os.fspath(path) if path is not None else ":memory:"
        self._engine = Engine(
            self.path,
            {
                "model": model,
                "read_only": int(read_only),
                "models_dir": models_dir,
                "trained": trained,
                "threads": threads,
                "chat_url": chat_url,
                "chat_model": chat_model,
                "chat_key": chat_key,
            },
        )

    def close(self) -> None:
        """Closes the catalogue, once the calls of other threads have ended. Further calls raise ValueError."""
        self._engine.close()

    def __enter__(self) -> Catalogue:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---------------------------------------------------------------- tools

    def add(
        self,
        source: Any,
        *,
        format: str | None = None,
        provider: str | None = None,
        source_name: str | None = None,
        sync: bool = False,
        strict: bool = False,
        vectors: bool = True,
        progress: Progress | None = None,
    ) -> Added:
        """Imports tools. A bad tool is skipped and listed in the result's `issues`.

        source: a file or folder; definitions in any format that the command imports; or functions and pydantic
        models. sync: remove tools of earlier imports with this source_name that the source lacks. vectors: encode
        now; if False, the tools are found by words until `embed_missing`. Ctrl-C stops the import and leaves the
        store sound."""
        watch, error = Watch(progress), _api.wt_error()
        options = _api.wt_add_options(
            size=ctypes.sizeof(_api.wt_add_options),
            format=_encode(format),
            provider=_encode(provider),
            source_name=_encode(source_name),
            sync=int(sync),
            strict=int(strict),
            no_vectors=int(not vectors),
            progress=watch.callback,
        )
        report = ctypes.POINTER(_api.wt_add_report)()
        if isinstance(source, (str, os.PathLike)):
            code = library.wt_add_path(
                self._engine.handle,
                os.fsencode(cast("str | os.PathLike[str]", source)),
                byref(options),
                byref(report),
                byref(error),
            )
        else:
            text = source_of(source).encode()
            code = library.wt_add(self._engine.handle, text, len(text), byref(options), byref(report), byref(error))
        try:
            watch.check(code, error)
            return Added([report.contents])
        finally:
            library.wt_add_report_free(report)

    def add_mcp(
        self,
        source: str | os.PathLike[str] | Mapping[str, Any] | Sequence[str],
        *,
        provider: str | None = None,
        sync: bool = False,
        strict: bool = False,
        vectors: bool = True,
        timeout_ms: int = 0,
        progress: Progress | None = None,
    ) -> Added:
        """Imports the tools that MCP servers list. Starts the programs that the source names.

        source: the file of an MCP client's configuration, or its contents as a mapping; the URL of a server; or a
        list, the program of a server and its arguments. `add` never starts programs, whatever its file contains."""
        watch = Watch(progress)
        options = _api.wt_add_mcp_options(
            size=ctypes.sizeof(_api.wt_add_mcp_options),
            provider=_encode(provider),
            sync=int(sync),
            strict=int(strict),
            no_vectors=int(not vectors),
            timeout_ms=timeout_ms,
            progress=watch.callback,
        )
        if isinstance(source, Mapping):
            # Imported on use: it takes half as long as the rest of this package.
            import tempfile

            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:  # which only this user can read
                json.dump(source, file)
                file.flush()
                return self._add_servers(file.name.encode(), options, watch)
        if isinstance(source, (str, os.PathLike)):
            return self._add_servers(os.fsencode(source), options, watch)
        options.command = (ctypes.c_char_p * (len(source) + 1))(*(argument.encode() for argument in source))
        return self._add_servers(None, options, watch)

    def _add_servers(self, source: bytes | None, options: _api.wt_add_mcp_options, watch: Watch) -> Added:
        report, error = ctypes.POINTER(_api.wt_mcp_report)(), _api.wt_error()
        code = library.wt_add_mcp(self._engine.handle, source, byref(options), byref(report), byref(error))
        try:
            watch.check(code, error)
            return added_of_library(report.contents)
        finally:
            library.wt_mcp_report_free(report)

    def embed_missing(self, progress: Progress | None = None) -> int:
        """Encodes the tools that have no vector, and returns their number."""
        watch, error = Watch(progress), _api.wt_error()
        count = library.wt_embed_missing(self._engine.handle, watch.callback, None, byref(error))
        watch.check(count, error)
        return count

    def tools(self, *, provider: str | None = None, pattern: str | None = None) -> Iterator[Tool]:
        """Yields the tools in the order of import."""
        offset: int | None = 0
        while offset is not None:
            page = self._engine.run("tools", _given(provider=provider, pattern=pattern, limit=_PAGE, offset=offset))
            yield from (Tool(data.__getitem__) for data in page["tools"])
            offset = page["next_offset"]

    def tool(self, name: str) -> Tool:
        """Returns a tool by its id, exported name, or unique bare name. Raises NotFound."""
        return Tool(self._engine.run("tool", {"name": name}).__getitem__)

    def export(self, names: Iterable[str], format: str) -> list[Any]:
        """Returns the definitions of tools as an API accepts them."""
        return [
            definition for name in names for definition in self._engine.run("tool", {"name": name, "format": format})
        ]

    def remove(self, name: str | None = None, *, provider: str | None = None) -> None:
        """Removes a tool, or all tools of a provider."""
        self._engine.run("remove", _given(name=name, provider=provider))

    def status(self) -> dict[str, Any]:
        """Returns the number of tools, the encoder, the recipe, sizes, ... as `whichtool status --json` prints them."""
        return self._engine.run("status", {})

    def __len__(self) -> int:
        return self.status()["tools"]

    def __contains__(self, name: str) -> bool:
        try:
            self.tool(name)
        except LookupError:
            return False
        return True

    def __iter__(self) -> Iterator[Tool]:
        return self.tools()

    def check(
        self,
        *,
        provider: str | None = None,
        rules: Sequence[str] = (),
        ignored: Sequence[str] = (),
        searches: int = 0,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Finds problems in the tools, and says what to write instead. Returns what `whichtool check --json` prints.

        rules: ids of the rules to check; empty for all. ignored: rules to skip, or "RULE:PATTERN" to skip one for some
        tools. searches: the most requests of each kind to search.
        """
        watch, error, kept = Watch(progress), _api.wt_error(), list[Any]()
        options = _api.wt_audit_options(
            size=ctypes.sizeof(_api.wt_audit_options),
            provider=_encode(provider),
            rule_count=len(rules),
            rules=_texts_of(rules, kept),
            ignored_count=len(ignored),
            ignored=_texts_of(ignored, kept),
            searches=searches,
            seed=seed,
            progress=watch.callback,
        )
        audit = ctypes.POINTER(_api.wt_audit_result)()
        code = library.wt_audit(self._engine.handle, byref(options), byref(audit), byref(error))
        try:
            watch.check(code, error)
            return audit_of_library(audit.contents)
        finally:
            library.wt_audit_free(audit)

    # ---------------------------------------------------------------- searches

    def find(
        self,
        query: str,
        k: int = 5,
        *,
        recipe: str | None = None,
        provider: str | None = None,
        only: Sequence[str] = (),
        exclude: Sequence[str] = (),
        exclude_providers: Sequence[str] = (),
        messages: Sequence[dict[str, Any]] | None = None,
        have: Sequence[str] = (),
        max_per_provider: int = 0,
        max_tokens: int = 0,
        format: str | None = None,
        none_if_unsure: bool = False,
        all_copies: bool = False,
        as_typed: bool = False,
        abstain: float = 0,
        time_limit_ms: int = 0,
    ) -> Hits:
        """Finds the k tools that the request needs most, best first.

        recipe: the search method; None for the best that the store can run. provider, only, exclude,
        exclude_providers: which tools may be found; only and exclude are patterns such as "github/get_*". messages: a
        conversation, whose next step needs the tools. have: tools that are loaded already. max_tokens: budget for the
        definitions in this format. none_if_unsure: omit weak hits. abstain: share of false alarms at which no hit is
        shown, such as .05."""
        kept: list[Any] = []  # memory that the options point to
        options = _api.wt_find_options(_FIND_OPTIONS_BYTES, k)
        if only or exclude or exclude_providers:
            options.filter = _filter_of(only, exclude, exclude_providers, kept)
        if messages is not None:
            options.messages = conversation = json.dumps(messages).encode()
            options.messages_len = len(conversation)
        if have:
            options.have, options.have_count = _texts_of(have, kept), len(have)
        options.max_per_provider, options.max_tokens = max_per_provider, max_tokens
        options.none_if_unsure, options.copies, options.as_typed = none_if_unsure, all_copies, as_typed
        options.abstain, options.time_limit_ms = abstain, time_limit_ms
        if recipe or provider or format:
            options.recipe, options.provider, options.format = _encode(recipe), _encode(provider), _encode(format)
        text, hits, error = query.encode("utf-8", "surrogatepass"), _HITS(), _api.wt_error()
        code = library.wt_find(self._engine.handle, text, len(text), byref(options), byref(hits), byref(error))
        if code < 0:
            raise make_error(error, code)
        return hits_of_library(hits, self.export)

    def find_batch(
        self, queries: Sequence[str], k: int = 5, *, threads: int | None = None, **options: Any
    ) -> list[Hits]:
        """Finds the tools of several requests in parallel, in their order."""
        # Imported on use: it takes longer than the rest of this package.
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
            return list(pool.map(partial(self.find, k=k, **options), queries))

    async def afind(self, query: str, k: int = 5, **options: Any) -> Hits:
        """Works like `find`, in a thread."""
        return await _in_thread(self.find, query, k, **options)

    def pick(self, query: str, **options: Any) -> Picked:
        """Picks the exact set of tools that the request needs; empty if no tool fits. options: members of POST
        /v1/pick, such as complete and abstain."""
        return picked_of_json(self._engine.run("pick", _given(query=query, **options)), self.export)

    async def apick(self, query: str, **options: Any) -> Picked:
        """Works like `pick`, in a thread."""
        return await _in_thread(self.pick, query, **options)

    def call(self, query: str, **options: Any) -> Call:
        """Writes the call that the request asks for. Does not call the tool. options: members of POST /v1/call, such
        as tool, format and language_model."""
        return Call(self._engine.run("call", _given(query=query, **options)))

    async def acall(self, query: str, **options: Any) -> Call:
        """Works like `call`, in a thread."""
        return await _in_thread(self.call, query, **options)

    # ---------------------------------------------------------------- recorded use

    def record(
        self,
        query: str,
        tools: Sequence[str],
        *,
        outcome: str | None = None,
        arguments: Sequence[dict[str, Any] | None] | None = None,
        client: str | None = None,
        key: str | None = None,
    ) -> None:
        """Records that a request used these tools, so that later searches learn from it. outcome: "ok" or "failed"."""
        usage = _given(request=query, tools=list(tools), outcome=outcome, arguments=arguments, client=client, key=key)
        result = self._engine.run("usage", {"usages": [usage]})
        if result.get("issues"):
            raise ValueError(result["issues"][0]["reason"])

    def train(
        self,
        lesson: str = "all",
        *,
        data: str | None = None,
        out: str | None = None,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> list[dict[str, Any]]:
        """Trains models on the recorded use, or on the data set in a folder, and returns their figures. Ctrl-C stops
        the training, and the last good model stays."""
        watch, error = Watch(progress), _api.wt_error()
        report = ctypes.POINTER(_api.wt_train_report)()
        callback = _api.wt_train_progress_fn(watch.report_training)
        options = _api.wt_train_options(
            size=ctypes.sizeof(_api.wt_train_options),
            data=_encode(data),
            out=_encode(out),
            seed=seed,
            progress=callback,
        )
        code = library.wt_train(self._engine.handle, lesson.encode(), byref(options), byref(report), byref(error))
        try:
            watch.check(code, error)
            return [trained_of_library(report.contents.items[i].contents) for i in range(report.contents.len)]
        finally:
            library.wt_train_report_free(report)

    # ---------------------------------------------------------------- texts

    def embed(self, texts: Sequence[str], *, documents: bool = False) -> Any:
        """Returns the unit vectors of texts: a float32 array [n, D] of numpy, or without numpy a list of array('f').

        documents: encode with the encoder's prompt for documents, if it has one, and not with that for requests.
        """
        error = _api.wt_error()
        width = library.wt_dimension(self._engine.handle, byref(error))
        if width < 0:
            raise make_error(error, width)
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        values = array("f", bytes(4 * width * len(encoded)))
        encode = library.wt_embed_documents if documents else library.wt_embed
        code = encode(
            self._engine.handle,
            (ctypes.c_char_p * len(encoded))(*encoded),
            (ctypes.c_size_t * len(encoded))(*map(len, encoded)),
            len(encoded),
            (ctypes.c_float * len(values)).from_buffer(values),
            byref(error),
        )
        if code < 0:
            raise make_error(error, code)
        try:
            # Imported on use: it takes ten times longer than this package.
            numpy: Any = importlib.import_module("numpy")
        except ImportError:
            return [values[i * width : (i + 1) * width] for i in range(len(encoded))]
        return numpy.frombuffer(values, dtype=numpy.float32).reshape(len(encoded), width)

    def encode_query(self, sentences: str | Sequence[str]) -> Any:
        """Works like `embed`, with the name and the arguments of sentence-transformers: one text gives one vector."""
        return self.embed([sentences])[0] if isinstance(sentences, str) else self.embed(sentences)

    def encode_document(self, sentences: str | Sequence[str]) -> Any:
        """Works like `encode_query`, with the encoder's prompt for documents."""
        if isinstance(sentences, str):
            return self.embed([sentences], documents=True)[0]
        return self.embed(sentences, documents=True)

    def rerank(self, query: str, texts: Sequence[str], top_n: int | None = None) -> list[tuple[int, float]]:
        """Orders texts by relevance to the query: (index in texts, score between 0 and 1), best first."""
        body = _given(model="default", query=query, documents=list(texts), top_n=top_n)
        return [(row["index"], row["relevance_score"]) for row in self._engine.run("rerank", body)["results"]]

    def rank(self, query: str, documents: Sequence[str], top_k: int | None = None) -> list[dict[str, Any]]:
        """Works like `rerank`, with the result of sentence-transformers' CrossEncoder.rank."""
        return [{"corpus_id": index, "score": score} for index, score in self.rerank(query, documents, top_k)]

    def __repr__(self) -> str:
        return f"<Catalogue {self.path}>"


async def _in_thread(work: Callable[..., _T], *arguments: Any, **options: Any) -> _T:
    # Imported on use: it takes longer than the rest of this package.
    import asyncio

    return await asyncio.to_thread(work, *arguments, **options)


def _encode(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _given(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _texts_of(texts: Sequence[str], kept: list[Any]) -> Any:
    """Returns an array of C strings, and adds it to `kept`, which keeps its memory; None for no text."""
    if not texts:
        return None
    array_of_texts = (ctypes.c_char_p * len(texts))(*(text.encode() for text in texts))
    kept.append(array_of_texts)
    return ctypes.cast(array_of_texts, ctypes.POINTER(ctypes.c_char_p))


def _filter_of(only: Sequence[str], exclude: Sequence[str], exclude_providers: Sequence[str], kept: list[Any]) -> Any:
    """Returns a pointer to a filter, and adds its memory to `kept`."""
    filter = _api.wt_filter(
        size=ctypes.sizeof(_api.wt_filter),
        only=_texts_of(only, kept),
        only_count=len(only),
        excluded=_texts_of(exclude, kept),
        excluded_count=len(exclude),
        excluded_providers=_texts_of(exclude_providers, kept),
        excluded_provider_count=len(exclude_providers),
    )
    kept.append(filter)
    return ctypes.pointer(filter)
