"""Haystack: a SearchableToolset that searches with whichtool.

from whichtool.integrations.haystack import WhichtoolToolset

agent = Agent(chat_generator=generator, tools=WhichtoolToolset(catalog=tools))
"""

from __future__ import annotations

from typing import Any

from ._select import Selector, need_version

need_version("haystack-ai", "2.24")

from haystack.tools import SearchableToolset, Tool  # noqa: E402

_DESCRIPTION = "Finds tools and loads them. Use it before you say that you cannot do something."


class WhichtoolToolset(SearchableToolset):
    """Shows the agent a search tool, and each tool once a search has found it. options: those of SearchableToolset.

    catalogue, model: as in Selector.
    """

    def __init__(self, catalog: Any, *, catalogue: Any = None, model: str | None = None, **options: Any) -> None:
        super().__init__(catalog, **options)
        self._selector: Selector[Tool] = Selector(catalogue=catalogue, model=model, k=self._top_k)

    def _create_search_tool(self) -> Tool:
        def search_tools(request: str, k: int | None = None) -> str:
            allowed = self._selected_tool_names
            tools = [tool for tool in self._catalog if allowed is None or tool.name in allowed]
            found = self._selector.select(request, tools, k)
            self._discovered_tools.update({tool.name: tool for tool in found})
            if not found:
                return "No tool fits. Say what the tool must do in other words."
            return f"Loaded {len(found)} tools: {', '.join(tool.name for tool in found)}. Call them directly."

        parameters = {
            "type": "object",
            "required": ["request"],
            "properties": {
                "request": {"type": "string", "description": "What the tool must do, in plain words"},
                "k": {"type": "integer", "description": f"Number of tools (default: {self._top_k})"},
            },
        }
        return Tool(
            name=self._search_tool_name,
            description=self._search_tool_description or _DESCRIPTION,
            parameters=parameters,
            function=search_tools,
        )
