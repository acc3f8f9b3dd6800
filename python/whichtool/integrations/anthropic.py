"""Anthropic: a search tool for `client.beta.messages.tool_runner`, which answers with references to deferred tools.

from whichtool.integrations.anthropic import searchable

runner = client.beta.messages.tool_runner(tools=searchable(tools), ...)
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from ._select import Selector, need_version

need_version("anthropic", "0.75")

from anthropic.lib.tools import BetaAsyncFunctionTool, BetaFunctionTool  # noqa: E402

_DESCRIPTION = "Finds tools for a request in plain words, and loads them."
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["query"],
    "properties": {"query": {"type": "string", "description": "What the tool must do, in plain words"}},
}


def searchable(tools: Sequence[Any], *, always: Sequence[str] = (), **options: Any) -> list[Any]:
    """Returns a tool `find_tools`, and the tools, deferred until a search has found them.

    tools: made by beta_tool, or all by beta_async_tool. always: names of tools that are loaded from the start. options:
    those of Selector, such as k and catalogue.
    """
    selector: Selector[Any] = Selector(describe=lambda tool: tool.to_dict(), **options)
    searched = [tool for tool in tools if tool.name not in always]

    def find_tools(query: str) -> Any:
        return _references_to(selector.select(query, searched))

    async def afind_tools(query: str) -> Any:
        return _references_to(await selector.aselect(query, searched))

    shared: dict[str, Any] = {"name": "find_tools", "description": _DESCRIPTION, "input_schema": _SCHEMA}
    asynchronous = any(isinstance(tool, BetaAsyncFunctionTool) for tool in tools)
    finder: Any = (
        BetaAsyncFunctionTool(afind_tools, **shared) if asynchronous else BetaFunctionTool(find_tools, **shared)
    )
    return [finder, *(tool if tool.name in always else _defer(tool) for tool in tools)]


def _references_to(tools: Sequence[Any]) -> Any:
    if not tools:
        return "No tool fits."
    return [{"type": "tool_reference", "tool_name": tool.name} for tool in tools]


def _defer(tool: Any) -> Any:
    deferred = copy.copy(tool)
    deferred._defer_loading = True
    return deferred
