"""Runs the loop of an agent in each framework, with the framework's own fake model. A test whose framework is not
installed is skipped by name."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import unittest
from typing import Any

from office import CALLED, FUNCTIONS, REQUEST
from whichtool.integrations._select import KEPT_CATALOGUES, Selector, UnsupportedVersion, need_version

STATIC = "whichtool-static-v1"


def needs(module: str) -> Any:
    return unittest.skipUnless(importlib.util.find_spec(module.partition(".")[0]), f"{module} is not installed")


class Loop(unittest.TestCase):
    def setUp(self) -> None:
        CALLED.clear()
        self.shown: list[set[str]] = []
        """Names of the tools that the model saw, per call."""

    def assert_found(self, search_tool: str | None) -> None:
        """The model saw few tools at a time, found the weather, and called it."""
        self.assertEqual(CALLED, ["Oslo"])
        self.assertTrue(any("get_weather" in names for names in self.shown))
        self.assertLess(max(map(len, self.shown)), 8)
        if search_tool:
            self.assertIn(search_tool, self.shown[0])
            self.assertNotIn("get_weather", self.shown[0])

    @needs("pydantic_ai")
    def test_pydantic_ai(self) -> None:
        from pydantic_ai import Agent
        from pydantic_ai.capabilities import ToolSearch
        from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
        from pydantic_ai.models.function import FunctionModel
        from pydantic_ai.toolsets import FunctionToolset
        from whichtool.integrations.pydantic_ai import search_strategy

        def answer(messages: Any, info: Any) -> ModelResponse:
            names = {tool.name for tool in info.function_tools}
            self.shown.append(names)
            if len(self.shown) == 1:
                return ModelResponse(parts=[ToolCallPart("search_tools", {"queries": [REQUEST]})])
            if len(self.shown) == 2:
                return ModelResponse(parts=[ToolCallPart("get_weather", {"city": "Oslo"})])
            return ModelResponse(parts=[TextPart("Take an umbrella.")])

        tools = FunctionToolset(FUNCTIONS).defer_loading()
        agent = Agent(
            FunctionModel(answer),
            toolsets=[tools],
            capabilities=[ToolSearch(strategy=search_strategy(k=3, model=STATIC))],
        )
        self.assertEqual(agent.run_sync(REQUEST).output, "Take an umbrella.")
        self.assert_found("search_tools")

    @needs("langchain")
    def test_langchain(self) -> None:
        from langchain.agents import create_agent
        from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
        from langchain_core.messages import AIMessage
        from whichtool.integrations.langchain import ToolSelection

        shown = self.shown

        class Model(GenericFakeChatModel):
            def bind_tools(self, tools: Any, **_: Any) -> Any:
                shown.append({tool.name for tool in tools})
                return self

        for asynchronous in (False, True):
            with self.subTest(asynchronous=asynchronous):
                self.setUp()
                shown = self.shown
                model = Model(
                    messages=iter(
                        [
                            AIMessage("", tool_calls=[{"name": "get_weather", "args": {"city": "Oslo"}, "id": "1"}]),
                            AIMessage("Take an umbrella."),
                        ]
                    )
                )
                agent = create_agent(
                    model, tools=FUNCTIONS, middleware=[ToolSelection(k=3, model=STATIC, always=["send_email"])]
                )
                question: Any = {"messages": [("user", REQUEST)]}
                result = asyncio.run(agent.ainvoke(question)) if asynchronous else agent.invoke(question)
                self.assertEqual(result["messages"][-1].content, "Take an umbrella.")
                self.assert_found(None)
                self.assertTrue(all("send_email" in names for names in self.shown))

    @needs("langgraph_bigtool")
    def test_langgraph_bigtool(self) -> None:
        from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
        from langchain_core.messages import AIMessage
        from langchain_core.tools import tool
        from langgraph.prebuilt import ToolNode
        from langgraph_bigtool import create_agent
        from whichtool.integrations.langgraph_bigtool import retrieve_functions

        if not hasattr(ToolNode, "inject_tool_args"):
            self.skipTest("langgraph-bigtool needs langgraph-prebuilt below 1.0.2")
        shown = self.shown

        class Model(GenericFakeChatModel):
            def bind_tools(self, tools: Any, **_: Any) -> Any:
                shown.append({tool.name for tool in tools})
                return self

        registry = {f"id-{function.__name__}": tool(function) for function in FUNCTIONS}
        retrieve, aretrieve = retrieve_functions(registry, k=3, model=STATIC)
        model = Model(
            messages=iter(
                [
                    AIMessage("", tool_calls=[{"name": "retrieve_tools", "args": {"query": REQUEST}, "id": "1"}]),
                    AIMessage("", tool_calls=[{"name": "get_weather", "args": {"city": "Oslo"}, "id": "2"}]),
                    AIMessage("Take an umbrella."),
                ]
            )
        )
        agent = create_agent(
            model, registry, retrieve_tools_function=retrieve, retrieve_tools_coroutine=aretrieve
        ).compile()
        result = agent.invoke({"messages": [("user", REQUEST)]})
        self.assertEqual(result["messages"][-1].content, "Take an umbrella.")
        self.assert_found("retrieve_tools")
        self.assertIn("id-get_weather", asyncio.run(aretrieve(REQUEST)))

    @needs("llama_index.core")
    def test_llama_index(self) -> None:
        from llama_index.core.agent.workflow import FunctionAgent
        from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
        from llama_index.core.llms.mock import MockFunctionCallingLLM
        from llama_index.core.tools import FunctionTool
        from whichtool.integrations.llama_index import ToolRetriever

        def answer(messages: Any, **options: Any) -> ChatMessage:
            self.shown.append({tool.metadata.get_name() for tool in options.get("tools") or []})
            if len(self.shown) == 1:
                return ChatMessage(
                    role="assistant",
                    blocks=[ToolCallBlock(tool_call_id="1", tool_name="get_weather", tool_kwargs={"city": "Oslo"})],
                )
            return ChatMessage(role="assistant", content="Take an umbrella.")

        tools = [FunctionTool.from_defaults(function) for function in FUNCTIONS]
        retriever = ToolRetriever(tools, k=3, model=STATIC)
        self.assertEqual(retriever.retrieve(REQUEST)[0].metadata.name, "get_weather")
        agent = FunctionAgent(
            llm=MockFunctionCallingLLM(response_generator=answer), tool_retriever=retriever, streaming=False
        )

        async def run() -> str:
            return str(await agent.run(REQUEST))

        self.assertEqual(asyncio.run(run()), "Take an umbrella.")
        self.assert_found(None)

    @needs("fastmcp")
    def test_fastmcp(self) -> None:
        from fastmcp import Client, FastMCP
        from whichtool.integrations.fastmcp import ToolSearch

        server = FastMCP("office", transforms=[ToolSearch(max_results=3, model=STATIC)])
        for function in FUNCTIONS:
            server.tool(function)

        async def run() -> None:
            async with Client(server) as client:
                self.shown.append({tool.name for tool in await client.list_tools()})
                found = await client.call_tool("search_tools", {"query": REQUEST})
                definitions = json.loads(found.content[0].text)
                self.shown.append({tool["name"] for tool in definitions})
                result = await client.call_tool("call_tool", {"name": "get_weather", "arguments": {"city": "Oslo"}})
                self.assertEqual(result.content[0].text, "Rain in Oslo")

        asyncio.run(run())
        self.assert_found("search_tools")

    @needs("agents")
    def test_openai_agents(self) -> None:
        from agents import Agent, Runner, function_tool, set_tracing_disabled
        from agents.testing import ScriptedModel
        from openai.types.responses import (
            ResponseFunctionToolCall,
            ResponseOutputMessage,
            ResponseOutputText,
        )
        from whichtool.integrations.openai_agents import searchable, tool_search_output

        def call(name: str, **arguments: str) -> ResponseFunctionToolCall:
            return ResponseFunctionToolCall(
                type="function_call", call_id=name, name=name, arguments=json.dumps(arguments)
            )

        set_tracing_disabled(True)
        said = ResponseOutputMessage(
            id="m",
            type="message",
            role="assistant",
            status="completed",
            content=[ResponseOutputText(type="output_text", text="Take an umbrella.", annotations=[])],
        )
        steps: list[Any] = [[call("find_tools", query=REQUEST)], [call("get_weather", city="Oslo")], [said]]
        tools = [function_tool(function) for function in FUNCTIONS]
        agent = Agent("office", tools=list(searchable(tools, k=3, model=STATIC)))
        for _ in range(2):  # the second run starts without the tools of the first
            self.setUp()
            model = ScriptedModel(steps)
            result = Runner.run_sync(agent.clone(model=model), REQUEST)
            self.assertEqual(result.final_output, "Take an umbrella.")
            self.shown = [{tool.name for tool in one.tools} for one in model.calls]
            self.assert_found("find_tools")
        output = tool_search_output(
            {"call_id": "7", "arguments": {"query": REQUEST}}, tools, Selector(k=2, model=STATIC)
        )
        self.assertEqual((output["call_id"], output["tools"][0]["name"]), ("7", "get_weather"))

    @needs("openai")
    def test_openai_decisions(self) -> None:
        try:
            from openai.types import Decision
        except ImportError:
            self.skipTest("this version of openai has no decisions")
        from whichtool import Catalogue

        levels = [{"label": "calm"}, {"label": "angry"}]
        questions = [
            {"type": "choice", "name": "t", "instructions": "?", "choices": [{"value": "a"}, {"value": True}]},
            {"type": "predicate", "instructions": "The weather"},
            {"type": "score", "instructions": "?", "levels": levels},
        ]
        with Catalogue(model=STATIC) as catalogue:
            answer = catalogue._engine.run("decide", {"model": "default", "input": REQUEST, "questions": questions})
        decision = Decision.model_validate(answer, strict=True)
        self.assertEqual([one.type for one in decision.answers], ["choice", "predicate", "score"])
        more = {name for one in decision.answers for name in one.model_extra or {}}
        self.assertEqual(more, {"none_probability"})

    @needs("anthropic")
    def test_anthropic(self) -> None:
        import anthropic
        from anthropic import beta_tool

        try:
            import httpx2 as httpx  # which newer versions of anthropic use
        except ImportError:
            import httpx

        from whichtool.integrations.anthropic import searchable

        results: list[Any] = []

        def answer(request: httpx.Request) -> httpx.Response:
            body = json.loads(request.content)
            results.append(body["messages"][-1]["content"])
            self.shown.append({tool["name"] for tool in body.get("tools", []) if not tool.get("defer_loading")})
            content: list[dict[str, Any]] = [{"type": "text", "text": "Take an umbrella."}]
            if len(self.shown) <= 2:
                name, arguments = [("find_tools", {"query": REQUEST}), ("get_weather", {"city": "Oslo"})][
                    len(self.shown) - 1
                ]
                content = [{"type": "tool_use", "id": f"t{len(self.shown)}", "name": name, "input": arguments}]
            return httpx.Response(
                200,
                json={
                    "id": "m",
                    "type": "message",
                    "role": "assistant",
                    "model": "m",
                    "content": content,
                    "stop_reason": "tool_use" if content[0]["type"] == "tool_use" else "end_turn",
                    "stop_sequence": None,
                    "usage": {"input_tokens": 1, "output_tokens": 1},
                },
            )

        client = anthropic.Anthropic(api_key="none", http_client=httpx.Client(transport=httpx.MockTransport(answer)))
        tools = searchable([beta_tool(function) for function in FUNCTIONS], k=3, model=STATIC)
        runner = client.beta.messages.tool_runner(
            model="m", max_tokens=99, tools=tools, messages=[{"role": "user", "content": REQUEST}]
        )
        self.assertEqual(runner.until_done().content[0].text, "Take an umbrella.")
        self.assertEqual(CALLED, ["Oslo"])
        self.assertEqual(self.shown[0], {"find_tools"})
        self.assertEqual(results[1][0]["content"][0], {"type": "tool_reference", "tool_name": "get_weather"})

    @needs("haystack")
    def test_haystack(self) -> None:
        from haystack.components.agents import Agent
        from haystack.components.generators.chat.mock import MockChatGenerator
        from haystack.dataclasses import ChatMessage, ToolCall
        from haystack.tools import create_tool_from_function
        from whichtool.integrations.haystack import WhichtoolToolset

        def answer(messages: Any, tools: Any) -> ChatMessage:
            self.shown.append({tool.name for tool in tools})
            calls = [("search_tools", {"request": REQUEST}), ("get_weather", {"city": "Oslo"})]
            if len(self.shown) <= len(calls):
                name, arguments = calls[len(self.shown) - 1]
                return ChatMessage.from_assistant(tool_calls=[ToolCall(tool_name=name, arguments=arguments)])
            return ChatMessage.from_assistant("Take an umbrella.")

        tools = [create_tool_from_function(function) for function in FUNCTIONS]
        agent = Agent(
            chat_generator=MockChatGenerator(response_fn=answer), tools=WhichtoolToolset(catalog=tools, model=STATIC)
        )
        result = agent.run(messages=[ChatMessage.from_user(REQUEST)])
        self.assertEqual(result["last_message"].text, "Take an umbrella.")
        self.assert_found("search_tools")

    @needs("autogen_agentchat")
    def test_autogen(self) -> None:
        from autogen_agentchat.agents import AssistantAgent
        from autogen_core import FunctionCall
        from autogen_core.models import CreateResult, RequestUsage
        from autogen_core.tools import FunctionTool, StaticWorkbench
        from autogen_ext.models.replay import ReplayChatCompletionClient
        from whichtool.integrations.autogen import SearchWorkbench

        shown = self.shown

        class Model(ReplayChatCompletionClient):
            async def create(self, messages: Any, *, tools: Any = (), **options: Any) -> CreateResult:
                shown.append({tool["name"] for tool in tools})
                return await super().create(messages, tools=tools, **options)

        def call(name: str, **arguments: str) -> CreateResult:
            return CreateResult(
                finish_reason="function_calls",
                usage=RequestUsage(0, 0),
                cached=False,
                content=[FunctionCall(id=name, name=name, arguments=json.dumps(arguments))],
            )

        model = Model(
            [call("find_tools", query=REQUEST), call("get_weather", city="Oslo"), "Take an umbrella."],
            model_info={
                "vision": False,
                "function_calling": True,
                "json_output": False,
                "family": "unknown",
                "structured_output": False,
            },
        )
        tools = [FunctionTool(function, function.__doc__ or "", name=function.__name__) for function in FUNCTIONS]
        workbench = SearchWorkbench(StaticWorkbench(tools), k=3, model=STATIC)
        agent = AssistantAgent("office", model_client=model, workbench=workbench, max_tool_iterations=3)

        async def run() -> None:
            result = await agent.run(task=REQUEST)
            self.assertIn("Take an umbrella.", str(result.messages[-1]))
            state = await workbench.save_state()
            await workbench.reset()
            self.assertEqual(len(await workbench.list_tools()), 1)
            await workbench.load_state(state)
            self.assertEqual(len(await workbench.list_tools()), 4)

        asyncio.run(run())
        self.assert_found("find_tools")

    @needs("semantic_kernel")
    def test_semantic_kernel(self) -> None:
        from semantic_kernel import Kernel
        from semantic_kernel.agents import ChatCompletionAgent
        from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
        from semantic_kernel.connectors.ai.prompt_execution_settings import PromptExecutionSettings
        from semantic_kernel.contents import ChatMessageContent, FunctionCallContent, TextContent
        from semantic_kernel.functions import KernelArguments, KernelFunctionFromMethod, kernel_function
        from whichtool.integrations.semantic_kernel import FunctionSelection

        shown = self.shown

        class Model(ChatCompletionClientBase):
            SUPPORTS_FUNCTION_CALLING = True

            async def _inner_get_chat_message_contents(
                self, chat_history: Any, settings: Any
            ) -> list[ChatMessageContent]:
                if not CALLED:
                    item: Any = FunctionCallContent(id="1", name="office-get_weather", arguments='{"city": "Oslo"}')
                else:
                    item = TextContent(text="Take an umbrella.")
                return [ChatMessageContent(role="assistant", items=[item])]

            def _update_function_choice_settings_callback(self) -> Any:
                return lambda configuration, settings, kind: shown.append(
                    {function.name for function in configuration.available_functions}
                )

        kernel = Kernel()
        kernel.add_functions(
            "office",
            [
                KernelFunctionFromMethod(
                    kernel_function(name=function.__name__, description=function.__doc__)(function), "office"
                )
                for function in FUNCTIONS
            ],
        )
        selection = FunctionSelection(kernel, k=3, model=STATIC)
        settings = PromptExecutionSettings(function_choice_behavior=selection.behavior(REQUEST))
        agent = ChatCompletionAgent(
            service=Model(ai_model_id="m"), kernel=kernel, name="office", arguments=KernelArguments(settings=settings)
        )

        async def run() -> None:
            self.assertEqual(str((await agent.get_response(messages=REQUEST)).message), "Take an umbrella.")

        asyncio.run(run())
        self.assert_found(None)


class Select(unittest.TestCase):
    def test_versions(self) -> None:
        with self.assertRaisesRegex(UnsupportedVersion, "no-such-library is not installed: pip install"):
            need_version("no-such-library", "1.0")
        with self.assertRaisesRegex(UnsupportedVersion, "is too old for whichtool, which needs 999.1"):
            need_version("pip", "999.1")
        need_version("pip", "1.2rc1")

    def test_sets_of_tools(self) -> None:
        selector: Selector[Any] = Selector(k=2, model=STATIC)
        self.assertIs(selector.select(REQUEST, FUNCTIONS)[0], FUNCTIONS[0])
        self.assertNotIn(FUNCTIONS[0], selector.select(REQUEST, FUNCTIONS[1:]))
        for count in range(2, KEPT_CATALOGUES + 4):
            selector.select(REQUEST, FUNCTIONS[:count])
        self.assertEqual(len(selector._kept), KEPT_CATALOGUES)
        self.assertEqual(selector.select(REQUEST, []), [])

    def test_shared_catalogue(self) -> None:
        from whichtool import Catalogue

        with Catalogue(model=STATIC) as catalogue:
            catalogue.add(FUNCTIONS)
            selector: Selector[Any] = Selector(catalogue=catalogue, k=1)
            self.assertEqual(selector.select(REQUEST, FUNCTIONS[:3]), [FUNCTIONS[0]])
            self.assertNotIn(FUNCTIONS[0], selector.select(REQUEST, FUNCTIONS[1:]))


if __name__ == "__main__":
    unittest.main()
