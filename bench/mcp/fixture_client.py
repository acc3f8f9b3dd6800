#!/usr/bin/env python3
"""Tests our server with the client of the Python SDK of MCP: both eras, over pipes and over HTTP.

    python3 bench/mcp/fixture_client.py FIXTURE_SERVER        with a Python that has `pip install mcp==2.3.0`

Tests in each of the four cells: the list of tools, a call, progress, an answered question to the user, a resource, a
prompt, a cancel that reaches the tool, and a change notification. Prints a table; exits with 1 on failure.
"""
import asyncio
import subprocess
import sys

import mcp
from mcp import types

MODES = {"legacy": "legacy", "modern": "2026-07-28"}
LIMIT_S = 30


def text_of(result):
    return result.content[0].text


async def answer_question(context, params):
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def list_tools(client):
    tools = (await client.list_tools()).tools
    return len(tools) > 20 and tools[0].name == "test_simple_text"


async def call(client):
    return "simple text" in text_of(await client.call_tool("test_simple_text", {}))


async def progress(client):
    heard = []

    async def hear(done, total, message):
        heard.append((done, total))

    await client.call_tool("test_tool_with_progress", {}, progress_callback=hear)
    return heard == [(0, 100), (50, 100), (100, 100)]


async def question(client):
    return "Hello, Ada!" in text_of(await client.call_tool("test_input_required_result_elicitation", {}))


async def resource(client):
    return "static text" in (await client.read_resource("test://static-text")).contents[0].text


async def prompt(client):
    return "arg1='x'" in str(await client.get_prompt("test_prompt_with_arguments", {"arg1": "x", "arg2": "y"}))


async def cancel(client):
    before = int(text_of(await client.call_tool("count_cancels", {})))
    task = asyncio.ensure_future(client.call_tool("wait", {}))
    await asyncio.sleep(0.3)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass
    for _ in range(100):
        if int(text_of(await client.call_tool("count_cancels", {}))) > before:
            return True
        await asyncio.sleep(0.05)
    return False


CHECKS = (list_tools, call, progress, question, resource, prompt, cancel)


async def check_notice(target, mode):
    heard = asyncio.Event()

    async def hear(message):
        if isinstance(message, types.ToolListChangedNotification) or "list_changed" in str(message):
            heard.set()

    async with mcp.Client(target, mode=mode, message_handler=hear) as client:
        if mode == "legacy":
            await asyncio.sleep(0.3)  # its stream opens in the background
            await client.call_tool("test_trigger_tool_change", {})
            await asyncio.wait_for(heard.wait(), LIMIT_S)
            return True
        async with client.listen(tools_list_changed=True) as subscription:
            await client.call_tool("test_trigger_tool_change", {})
            async for event in subscription:
                return bool(event)
    return False


async def run_cell(target, mode):
    results = {}
    async with mcp.Client(target, mode=mode, elicitation_callback=answer_question) as client:
        for check in CHECKS:
            try:
                results[check.__name__] = await asyncio.wait_for(check(client), LIMIT_S)
            except Exception as error:  # report each check separately
                results[check.__name__] = f"{type(error).__name__}: {error}"
    try:
        results["notice"] = await asyncio.wait_for(check_notice(target, mode), LIMIT_S)
    except Exception as error:
        results["notice"] = f"{type(error).__name__}: {error}"
    return results


async def main(program):
    server = subprocess.Popen([program, "127.0.0.1:0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    url = f"http://{server.stdout.readline().strip()}/mcp"
    targets = {"stdio": mcp.StdioServerParameters(command=program, args=[]), "http": url}
    good = True
    names = [check.__name__ for check in CHECKS] + ["notice"]
    print("| era | wire | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 2) + "|")
    for era, mode in MODES.items():
        for wire, target in targets.items():
            results = await run_cell(target, mode)
            good &= all(result is True for result in results.values())
            print(f"| {era} | {wire} | " + " | ".join("yes" if results[n] is True else str(results[n]) for n in names) + " |")
    server.stdin.close()
    server.wait(LIMIT_S)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1])))
