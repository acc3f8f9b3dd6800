"""The version of the package, which is that of the library."""

from . import _api

__version__: str = _api.VERSION
