"""FastMCP: a transform that replaces a server's list of tools by a search.

from whichtool.integrations.fastmcp import ToolSearch

server = FastMCP("office", transforms=[ToolSearch(max_results=5)])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from ._select import Selector, need_version

need_version("fastmcp", "3.1")

from fastmcp.server.context import Context  # noqa: E402
from fastmcp.server.transforms.search.base import BaseSearchTransform  # noqa: E402
from fastmcp.tools.base import Tool  # noqa: E402


class ToolSearch(BaseSearchTransform):
    """Lists a search tool and a tool that calls the found ones. options: those of BaseSearchTransform.

    catalogue, model: as in Selector.
    """

    def __init__(self, *, catalogue: Any = None, model: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._selector: Selector[Tool] = Selector(catalogue=catalogue, model=model, k=self._max_results)

    def _make_search_tool(self) -> Tool:
        async def search_tools(
            query: Annotated[str, "What the tool must do, in plain words"], ctx: Context = None
        ) -> Any:  # type: ignore[assignment]
            """Finds tools for a request in plain words, and returns their definitions, best first."""
            return await self._render_results(await self._search(await self._get_visible_tools(ctx), query))

        return Tool.from_function(fn=search_tools, name=self._search_tool_name)

    async def _search(self, tools: Sequence[Tool], query: str) -> Sequence[Tool]:
        return await self._selector.aselect(query, tools)
