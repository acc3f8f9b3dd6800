"""Exceptions of the C library. Each one also derives from the builtin exception that Python code expects."""

from __future__ import annotations


class Error(Exception):
    """Base of all exceptions of this package.

    code: the name in the C library, such as "WT_EFORMAT". pointer: JSON Pointer to the wrong value, or "". line and
    byte: place in the input, or 0.
    """

    code = "WT_E?"

    def __init__(self, message: str, *, pointer: str = "", line: int = 0, byte: int = 0) -> None:
        super().__init__(message)
        self.message, self.pointer, self.line, self.byte = message, pointer, line, byte

    def __str__(self) -> str:
        return self.message


class InvalidArgument(Error, ValueError):
    code = "WT_EINVAL"


class FormatError(Error, ValueError):
    """Malformed input, such as JSON that does not parse."""

    code = "WT_EFORMAT"


class TooLong(Error, ValueError):
    code = "WT_ETOOLONG"


class NotFound(Error, LookupError):
    """No such file, tool, provider or model."""

    code = "WT_ENOTFOUND"


class Empty(Error, LookupError):
    """The catalogue has no tools, or there is no data to work on."""

    code = "WT_EEMPTY"


class StoreError(Error, OSError):
    code = "WT_ESTORE"


class NewerStore(Error, OSError):
    """A newer version of whichtool wrote the store."""

    code = "WT_ENEWER"


class ReadOnly(Error, PermissionError):
    code = "WT_EREADONLY"


class Busy(Error, TimeoutError):
    """Another process held the store for too long."""

    code = "WT_EBUSY"


class ModelError(Error, RuntimeError):
    """A model is missing, damaged or unsupported, or a language model gave no usable answer."""

    code = "WT_EMODEL"


class RecipeError(Error, ValueError):
    """The recipe is unknown, or its requirements are missing."""

    code = "WT_ERECIPE"


class InputOutputError(Error, OSError):
    code = "WT_EIO"


class DiskFull(Error, OSError):
    code = "WT_EFULL"


class OutOfMemory(Error, MemoryError):
    code = "WT_ENOMEM"


class Cancelled(Error):
    """A progress callback returned True."""

    code = "WT_ECANCELLED"


class NetworkError(Error, ConnectionError):
    code = "WT_ENETWORK"


class Timeout(Error, TimeoutError):
    code = "WT_ETIMEOUT"


def _subclasses() -> dict[str, type[Error]]:
    return {kind.code: kind for kind in Error.__subclasses__()}


BY_CODE = _subclasses()
