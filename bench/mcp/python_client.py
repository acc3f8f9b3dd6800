"""Tests whichtool as a server with the Python SDK of MCP (`mcp`, PyPI): list, search, call, ask, progress, cancel.

    python python_client.py MODE URL | MODE COMMAND...     MODE: legacy, auto, or a revision

Prints a JSON object: the working features, and the negotiated revision.
"""
import json
import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult

ISSUE = {"request": "open an issue", "tool": "branchwork__create_issue"}
ANSWER = {"repository": "ada/engine", "title": "It stops at noon"}


async def main(mode, target):
    done, asked, steps = {}, [], []

    async def elicit(_context, params):
        asked.append(params.message)
        return ElicitResult(action="accept", content=ANSWER)

    async def progress(value, _total, _message):
        steps.append(value)

    server = target[0] if target[0].startswith("http") else StdioServerParameters(command=target[0], args=target[1:])
    async with Client(server, mode=mode, elicitation_callback=elicit) as client:
        tools = (await client.list_tools()).tools
        done["list"] = [tool.name for tool in tools] == ["search_tools", "get_tool_details", "write_call"]
        found = await client.call_tool("search_tools", {"query": "is it going to rain?"}, progress_callback=progress)
        done["search"] = "skycast" in found.structured_content["tools"][0]["name"]
        done["progress"] = bool(steps)
        called = await client.call_tool("write_call", ISSUE)
        done["call"] = called.structured_content["call"]["arguments"] == ANSWER and bool(asked)
        with anyio.move_on_after(0.001) as scope:
            await client.call_tool("search_tools", {"query": "a search that nobody waits for"})
        after = await client.call_tool("get_tool_details", {"names": ["goodtable__book_table"]})
        done["cancel"] = scope.cancelled_caught and not after.is_error
        read = await client.read_resource("whichtool://tools/goodtable/book_table")
        done["resource"] = "book_table" in read.contents[0].text
        print(json.dumps({"client": "python", "mode": mode, "revision": client.protocol_version, **done}))
    return all(done.values())


if __name__ == "__main__":
    sys.exit(0 if anyio.run(main, sys.argv[1], sys.argv[2:]) else 1)
