"""Tools of an office, for the tests of the adaptors. npm/tests has the same tools."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

CALLED: list[str] = []
"""Cities that get_weather was called with."""


def get_weather(city: str) -> str:
    CALLED.append(city)
    return f"Rain in {city}"


def _make(name: str, description: str) -> Callable[..., str]:
    def tool(text: str) -> str:
        return f"{name} done"

    function = get_weather if name == get_weather.__name__ else tool
    function.__name__, function.__doc__ = name, description
    return function


FUNCTIONS: list[Callable[..., str]] = [
    _make(*tool) for tool in json.loads(Path(__file__).with_name("office.json").read_text(encoding="utf-8")).items()
]
REQUEST = "will it rain in Oslo tomorrow?"
