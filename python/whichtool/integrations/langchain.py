"""LangChain 1.x: a middleware that shows the model only the tools that the conversation needs next.

from whichtool.integrations.langchain import ToolSelection

agent = create_agent(model, tools=tools, middleware=[ToolSelection(k=5)])
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from ._select import Selector, need_version

need_version("langchain", "1.0")

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse  # noqa: E402
from langchain_core.messages import AIMessage, AnyMessage, convert_to_openai_messages  # noqa: E402
from langchain_core.tools import BaseTool  # noqa: E402


class ToolSelection(AgentMiddleware):
    """Selects the tools of each model call.

    Tools that the conversation has called already, those named in `always`, and tools that run at the provider are
    shown in every call. options: those of Selector, such as k and catalogue."""

    def __init__(self, *, always: Iterable[str] = (), **options: Any) -> None:
        super().__init__()
        self._always = frozenset(always)
        self._selector: Selector[BaseTool] = Selector(**options)

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]) -> ModelResponse:
        searched = self._searched_tools(request)
        if len(searched) <= self._selector.k:
            return handler(request)
        return handler(
            self._with_tools(request, self._selector.select("", searched, messages=_chat_of(request.messages)))
        )

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        searched = self._searched_tools(request)
        if len(searched) <= self._selector.k:
            return await handler(request)
        found = await self._selector.aselect("", searched, messages=_chat_of(request.messages))
        return await handler(self._with_tools(request, found))

    def _searched_tools(self, request: ModelRequest) -> list[BaseTool]:
        kept = self._always | _called_tools(request.messages)
        return [tool for tool in request.tools if isinstance(tool, BaseTool) and tool.name not in kept]

    def _with_tools(self, request: ModelRequest, found: list[BaseTool]) -> ModelRequest:
        searched = {tool.name for tool in self._searched_tools(request)}
        kept = [tool for tool in request.tools if not isinstance(tool, BaseTool) or tool.name not in searched]
        return request.override(tools=[*kept, *found])


def _called_tools(messages: Iterable[AnyMessage]) -> set[str]:
    return {call["name"] for message in messages if isinstance(message, AIMessage) for call in message.tool_calls}


def _chat_of(messages: Iterable[AnyMessage]) -> list[dict[str, Any]]:
    converted = convert_to_openai_messages(list(messages))
    return converted if isinstance(converted, list) else [converted]
