"""OpenAI Agents: tools that an agent sees once it has found them.

    from whichtool.integrations.openai_agents import searchable

    agent = Agent("assistant", tools=searchable(tools))

The runner does not execute client-side tool searches of the Responses API. `tool_search_output` answers them for
callers who run that loop themselves."""

from __future__ import annotations

import dataclasses
import json
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from ._select import Selector, need_version

need_version("openai-agents", "0.3")

from agents import FunctionTool, RunContextWrapper, function_tool  # noqa: E402


class _FoundTools:
    """The tools that each run has found. A run is known by its usage counter, which all its contexts share."""

    def __init__(self) -> None:
        self._of_run: dict[int, set[str]] = {}

    def of_run(self, context: RunContextWrapper[Any]) -> set[str]:
        key = id(context.usage)
        if key not in self._of_run:
            self._of_run[key] = set()
            weakref.finalize(context.usage, self._of_run.pop, key, None)
        return self._of_run[key]


def searchable(tools: Sequence[FunctionTool], *, always: Sequence[str] = (), **options: Any) -> list[FunctionTool]:
    """Returns a tool `find_tools`, and copies of the tools that are enabled in a run after it has found them.

    always: names of tools that are enabled from the start. options: those of Selector, such as k and catalogue.
    """
    selector: Selector[FunctionTool] = Selector(**options)
    searched = [tool for tool in tools if tool.name not in always]
    found = _FoundTools()

    @function_tool
    async def find_tools(context: RunContextWrapper[Any], query: str) -> str:
        """Finds tools and makes them available. Call it before you say that you cannot do something.

        Args:
            query: What the tool must do, in plain words.
        """
        names = [tool.name for tool in await selector.aselect(query, searched)]
        found.of_run(context).update(names)
        return f"Available now: {', '.join(names)}" if names else "No tool fits."

    def reveal(tool: FunctionTool) -> FunctionTool:
        async def enabled(context: RunContextWrapper[Any], agent: Any) -> bool:
            if tool.name not in found.of_run(context) or tool.is_enabled is False:
                return False
            if tool.is_enabled is True:
                return True
            answer = tool.is_enabled(context, agent)
            return bool(await answer if hasattr(answer, "__await__") else answer)

        return dataclasses.replace(tool, is_enabled=enabled)

    return [find_tools, *(tool if tool.name in always else reveal(tool) for tool in tools)]


def tool_search_output(call: Any, tools: Sequence[FunctionTool], selector: Selector[FunctionTool]) -> dict[str, Any]:
    """Returns the item that answers a `tool_search_call` with execution "client": the definitions of the found
    tools."""
    arguments = call["arguments"] if isinstance(call, Mapping) else call.arguments
    call_id = call["call_id"] if isinstance(call, Mapping) else call.call_id
    if isinstance(arguments, str):
        arguments = json.loads(arguments)
    query = " ".join(str(value) for value in arguments.values()) if isinstance(arguments, Mapping) else str(arguments)
    found = [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.params_json_schema,
            "strict": tool.strict_json_schema,
            "defer_loading": True,
        }
        for tool in selector.select(query, tools)
    ]
    return {
        "type": "tool_search_output",
        "call_id": call_id,
        "execution": "client",
        "status": "completed",
        "tools": found,
    }
