"""Loads the C library and calls it."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Callable, Iterator
from typing import Any

from . import _api, errors

Progress = Callable[[str, int, int], Any]
"""Called with the phase, the work done and the work in total (0 if unknown). A true result cancels the work."""


def _library_paths() -> Iterator[str]:
    """Yields the places of the library, best first."""
    named = os.environ.get("WHICHTOOL_LIBRARY")
    if named:
        yield named
        return
    yield os.path.join(os.path.dirname(__file__), "lib", "libwhichtool.so")
    yield "libwhichtool.so.0"


def _load() -> ctypes.CDLL:
    why = ""
    for path in _library_paths():
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            why = str(error)
            continue
        _api.declare(library)
        version = library.wt_version().decode()
        if version == _api.VERSION:
            return library
        why = f"{path} has version {version}, and this package needs {_api.VERSION}"
    raise ImportError(
        f"cannot load the library of whichtool: {why}; install the package again, or set WHICHTOOL_LIBRARY"
    )


library = _load()


def make_error(error: _api.wt_error, code: int) -> errors.Error:
    """Returns the exception for a failed call."""
    name = library.wt_code_name(code).decode()
    kind = errors.BY_CODE.get(name, errors.Error)
    message = error.message.decode(errors="replace") or name
    return kind(message, pointer=error.pointer.decode(errors="replace"), line=error.line, byte=error.byte)


class Watch:
    """A progress callback for the library. Keeps an exception of the Python callback, such as KeyboardInterrupt, for
    `check`, because an exception cannot pass through C code."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress, self._raised = progress, None  # type: ignore[var-annotated]
        self.callback = _api.wt_progress_fn(self._report)

    def _report(self, _context: int | None, phase: bytes | None, done: int, total: int) -> int:
        try:
            return int(bool(self._progress and self._progress((phase or b"").decode(), done, total)))
        except BaseException as raised:  # noqa: BLE001  (raised again by check)
            self._raised = raised
            return 1

    def report_training(self, _context: int | None, state: int | None) -> int:
        """Reports the state of a training, a wt_train_progress."""
        if not state:
            return 0
        now = ctypes.cast(state, ctypes.POINTER(_api.wt_train_progress)).contents
        return self._report(None, b"%s: %s" % (now.lesson, now.phase), now.done, now.total)

    def check(self, code: int, error: _api.wt_error) -> None:
        """Raises the exception of the callback, or that of a failed call."""
        if self._raised:
            raise self._raised
        if code < 0:
            raise make_error(error, code)


class _Handle(ctypes.c_void_p):
    """An open engine of the C library. A running call holds it, so a catalogue can be closed at any time. PyPy closes
    it at its next collection. In a child process after a fork, it is left to the parent."""

    process = 0

    def __del__(self, close: Callable[[Any], None] = library.wt_close, process: Callable[[], int] = os.getpid) -> None:
        if self.value and process() == self.process:
            close(self.value)


class Engine:
    """Opens an engine, for any thread. After a fork, the child cannot use it."""

    def __init__(self, path: str, options: dict[str, Any]) -> None:
        given = _api.wt_open_options(size=ctypes.sizeof(_api.wt_open_options))
        for name, value in options.items():
            if value is not None:
                setattr(given, name, value.encode() if isinstance(value, str) else value)
        handle, error = _Handle(), _api.wt_error()
        handle.process = os.getpid()
        code = library.wt_open(ctypes.byref(handle), os.fsencode(path), ctypes.byref(given), ctypes.byref(error))
        if code < 0:
            raise make_error(error, code)
        self._handle: _Handle | None = handle

    @property
    def handle(self) -> ctypes.c_void_p:
        handle = self._handle
        if handle is None:
            raise ValueError("the catalogue is closed")
        if os.getpid() != handle.process:
            raise RuntimeError("the catalogue was opened before a fork; open it again in this process")
        return handle

    def close(self) -> None:
        """Closes the engine, once no call of another thread uses it."""
        self._handle = None

    def run(self, verb: str, members: dict[str, Any]) -> Any:
        """Runs an operation of wt_json and returns its result."""
        body = json.dumps(members, ensure_ascii=False).encode("utf-8", "surrogatepass")
        out, error = ctypes.c_void_p(), _api.wt_error()
        code = library.wt_json(self.handle, verb.encode(), body, len(body), ctypes.byref(out), ctypes.byref(error))
        if code < 0:
            raise make_error(error, code)
        try:
            return json.loads(ctypes.string_at(out.value or 0))
        finally:
            library.wt_string_free(out)
