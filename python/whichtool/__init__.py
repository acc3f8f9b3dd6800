"""Finds the few right tools out of hundreds to a million, for a request in plain words.

>>> import whichtool
>>> with whichtool.Catalogue(model="whichtool-static-v1") as catalogue:
...     _ = catalogue.add([{"name": "book_table", "description": "Reserve a table in a restaurant"}])
...     catalogue.find("a table for two tonight").ids
['book_table']
"""

from .catalogue import Catalogue
from .errors import (
    Busy,
    Cancelled,
    DiskFull,
    Empty,
    Error,
    FormatError,
    InputOutputError,
    InvalidArgument,
    ModelError,
    NetworkError,
    NewerStore,
    NotFound,
    OutOfMemory,
    ReadOnly,
    RecipeError,
    StoreError,
    Timeout,
    TooLong,
)
from .results import Added, Call, Hit, Hits, Picked, Tool
from .version import __version__

__all__ = [
    "Added",
    "Busy",
    "Call",
    "Cancelled",
    "Catalogue",
    "DiskFull",
    "Empty",
    "Error",
    "FormatError",
    "Hit",
    "Hits",
    "InputOutputError",
    "InvalidArgument",
    "ModelError",
    "NetworkError",
    "NewerStore",
    "NotFound",
    "OutOfMemory",
    "Picked",
    "ReadOnly",
    "RecipeError",
    "StoreError",
    "Timeout",
    "Tool",
    "TooLong",
    "__version__",
]
