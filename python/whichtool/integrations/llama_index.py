"""LlamaIndex: an ObjectRetriever over tools, for `FunctionAgent(tool_retriever=...)` and query engines.

from whichtool.integrations.llama_index import ToolRetriever

agent = FunctionAgent(llm=llm, tool_retriever=ToolRetriever(tools, k=5))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._select import Selector, need_version

need_version("llama-index-core", "0.12")

from llama_index.core.objects import ObjectRetriever, SimpleToolNodeMapping  # noqa: E402
from llama_index.core.retrievers import BaseRetriever  # noqa: E402
from llama_index.core.schema import NodeWithScore, QueryBundle  # noqa: E402
from llama_index.core.tools import BaseTool  # noqa: E402


class _NodeRetriever(BaseRetriever):
    def __init__(self, tools: Sequence[BaseTool], mapping: SimpleToolNodeMapping, **options: Any) -> None:
        super().__init__()
        self._tools, self._mapping = list(tools), mapping
        self._selector: Selector[BaseTool] = Selector(
            name=lambda tool: tool.metadata.get_name(),
            describe=lambda tool: tool.metadata.to_openai_tool(skip_length_check=True),
            **options,
        )

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            NodeWithScore(node=self._mapping.to_node(tool))
            for tool in self._selector.select(query_bundle.query_str, self._tools)
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            NodeWithScore(node=self._mapping.to_node(tool))
            for tool in await self._selector.aselect(query_bundle.query_str, self._tools)
        ]


class ToolRetriever(ObjectRetriever[BaseTool]):
    """Retrieves the tools that a request needs. options: those of Selector, such as k and catalogue."""

    def __init__(self, tools: Sequence[BaseTool], **options: Any) -> None:
        mapping = SimpleToolNodeMapping.from_objects(tools)
        super().__init__(_NodeRetriever(tools, mapping, **options), mapping)
