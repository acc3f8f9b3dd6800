"""Pydantic AI: a strategy of its ToolSearch capability.

from pydantic_ai.capabilities import ToolSearch
from whichtool.integrations.pydantic_ai import search_strategy

agent = Agent(model, toolsets=[tools.defer_loading()], capabilities=[ToolSearch(strategy=search_strategy())])
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from ._select import Selector, need_version

need_version("pydantic-ai-slim", "2.0")

from pydantic_ai import RunContext  # noqa: E402
from pydantic_ai.tools import ToolDefinition  # noqa: E402


def search_strategy(
    **options: Any,
) -> Callable[[RunContext[Any], Sequence[str], Sequence[ToolDefinition]], Awaitable[list[str]]]:
    """Returns a strategy that finds deferred tools with whichtool. options: those of Selector, such as k and
    catalogue."""
    selector: Selector[ToolDefinition] = Selector(**options)

    async def search(_context: RunContext[Any], queries: Sequence[str], tools: Sequence[ToolDefinition]) -> list[str]:
        found: dict[str, None] = {}
        for query in queries:
            found.update(dict.fromkeys(tool.name for tool in await selector.aselect(query, tools)))
        return list(found)

    return search
