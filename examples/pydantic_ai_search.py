#!/usr/bin/env python3
"""whichtool as the tool search of a Pydantic AI agent.

    pip install pydantic-ai-slim
    python3 pydantic_ai_search.py

Tools with defer_loading are hidden from the model until a search names them, with the API's own feature if it has one. Here
the search is a `whichtool find`. The model is a function that imitates a real one: it searches, calls the found tool, and
answers. Replace it by the name of a model; until then no data is sent.
"""
import json
import os
import subprocess
import tempfile
from dataclasses import dataclass

from pydantic_ai import Agent, RunContext, Tool
from pydantic_ai.capabilities import ToolSearch
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.tools import ToolDefinition


@dataclass
class Which:
    """A strategy of ToolSearch: the agent's deferred tools, kept in a store."""

    store: str
    program: str = os.environ.get("WHICHTOOL", "whichtool")
    most: int = 5

    def run(self, *arguments: str, text: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([self.program, "-s", self.store, "-q", *arguments], input=text, capture_output=True,
                              text=True, check=False)

    def __call__(self, ctx: RunContext, queries: list[str], tools: list[ToolDefinition]) -> list[str]:
        known = [{"name": t.name, "description": t.description or "", "inputSchema": t.parameters_json_schema} for t in tools]
        added = self.run("add", "--format", "mcp", "-", text=json.dumps(known))  # unchanged tools are kept
        if added.returncode != 0:
            raise RuntimeError(added.stderr)
        names: list[str] = []
        for query in queries:
            found = self.run("find", "--json", "--none-if-unsure", "-k", str(self.most), "-", text=query)
            if found.returncode not in (0, 1):  # 1: nothing fits
                raise RuntimeError(found.stderr)
            names += [hit["name"] for hit in json.loads(found.stdout)["hits"]]
        return list(dict.fromkeys(names))


def get_forecast(city: str) -> str:
    """The weather forecast of a city for the coming days."""
    return f"rain in {city}"


def book_table(restaurant: str, people: int) -> str:
    """Reserve a table in a restaurant."""
    return f"a table for {people} at {restaurant}"


def convert_currency(amount: float, source: str, target: str) -> float:
    """Convert an amount of money from one currency to another."""
    return amount


def model(messages: list, info: AgentInfo) -> ModelResponse:
    """Searches, calls the first tool found, and answers with its result."""
    returned = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    print("the model sees:", *sorted(tool.name for tool in info.function_tools))
    if not returned:
        return ModelResponse(parts=[ToolCallPart("search_tools", {"queries": ["will it rain in Ghent tomorrow"]})])
    if len(returned) == 1:
        first = returned[0].content["discovered_tools"][0]["name"]
        return ModelResponse(parts=[ToolCallPart(first, {"city": "Ghent"})])
    return ModelResponse(parts=[TextPart(f"The forecast: {returned[1].content}.")])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        agent = Agent(
            FunctionModel(model),
            tools=[Tool(each, defer_loading=True) for each in (book_table, get_forecast, convert_currency)],
            capabilities=[ToolSearch(strategy=Which(os.path.join(folder, "tools.wt")))],
        )
        print(agent.run_sync("Will it rain in Ghent tomorrow?").output)


if __name__ == "__main__":
    main()
