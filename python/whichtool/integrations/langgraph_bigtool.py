"""langgraph-bigtool: the functions that retrieve tools from its registry.

from whichtool.integrations.langgraph_bigtool import retrieve_functions

retrieve, aretrieve = retrieve_functions(registry)
builder = create_agent(model, registry, retrieve_tools_function=retrieve, retrieve_tools_coroutine=aretrieve)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ..definitions import definition_of
from ._select import Selector, need_version

need_version("langgraph-bigtool", "0.0.3")


def retrieve_functions(
    registry: Mapping[str, Any], **options: Any
) -> tuple[Callable[[str], list[str]], Callable[[str], Awaitable[list[str]]]]:
    """Returns a function and a coroutine that find ids of the registry. options: those of Selector, such as k."""
    selector: Selector[str] = Selector(
        name=lambda key: key, describe=lambda key: {**definition_of(registry[key]), "name": key}, **options
    )
    keys = list(registry)

    def retrieve_tools(query: str) -> list[str]:
        """Finds tools for a request in plain words."""
        return selector.select(query, keys)

    async def aretrieve_tools(query: str) -> list[str]:
        """Finds tools for a request in plain words."""
        return await selector.aselect(query, keys)

    return retrieve_tools, aretrieve_tools
