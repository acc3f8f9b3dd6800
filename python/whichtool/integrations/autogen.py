"""AutoGen: a workbench whose tools appear once they have been found.

from whichtool.integrations.autogen import SearchWorkbench

agent = AssistantAgent("assistant", model_client=client, workbench=SearchWorkbench(StaticWorkbench(tools)))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._select import Selector, need_version

need_version("autogen-core", "0.6")

from autogen_core import CancellationToken  # noqa: E402
from autogen_core.tools import TextResultContent, ToolResult, ToolSchema, Workbench  # noqa: E402

_FINDER: ToolSchema = {
    "name": "find_tools",
    "description": "Finds tools and makes them available. Call it before you say that you cannot do something.",
    "parameters": {
        "type": "object",
        "required": ["query"],
        "properties": {"query": {"type": "string", "description": "What the tool must do, in plain words"}},
    },
}


class SearchWorkbench(Workbench):
    """Lists a tool `find_tools`, and those tools of another workbench that it has found. options: those of Selector.

    The found tools are part of the state, and `reset` forgets them.
    """

    def __init__(self, workbench: Workbench, **options: Any) -> None:
        self._workbench = workbench
        self._found: dict[str, None] = {}
        self._selector: Selector[ToolSchema] = Selector(**options)

    async def list_tools(self) -> list[ToolSchema]:
        return [_FINDER, *(tool for tool in await self._workbench.list_tools() if tool["name"] in self._found)]

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        cancellation_token: CancellationToken | None = None,
        call_id: str | None = None,
    ) -> ToolResult:
        if name != _FINDER["name"]:
            return await self._workbench.call_tool(name, arguments, cancellation_token, call_id)
        query = str((arguments or {}).get("query", ""))
        names = [tool["name"] for tool in await self._selector.aselect(query, await self._workbench.list_tools())]
        self._found.update(dict.fromkeys(names))
        text = f"Available now: {', '.join(names)}" if names else "No tool fits."
        return ToolResult(name=name, result=[TextResultContent(content=text)])

    async def start(self) -> None:
        await self._workbench.start()

    async def stop(self) -> None:
        await self._workbench.stop()

    async def reset(self) -> None:
        self._found.clear()
        await self._workbench.reset()

    async def save_state(self) -> Mapping[str, Any]:
        return {"found": list(self._found), "workbench": await self._workbench.save_state()}

    async def load_state(self, state: Mapping[str, Any]) -> None:
        self._found = dict.fromkeys(state["found"])
        await self._workbench.load_state(state["workbench"])
