"""Lists and calls tools with the Python SDK of MCP (`mcp`, PyPI).

    python call_tools.py MODE CALLS URL | MODE CALLS COMMAND...

MODE: legacy, auto, or a revision. CALLS: a JSON object of tool name to arguments. Prints a JSON object: the revision, the
number of tools, and for each call the first 200 bytes of its text, or null if it failed.
"""
import json
import sys

import anyio
from mcp import Client, StdioServerParameters


async def main(mode, calls, target):
    server = target[0] if target[0].startswith("http") else StdioServerParameters(command=target[0], args=target[1:])
    async with Client(server, mode=mode) as client:
        listed, cursor = 0, None
        while True:
            page = await client.list_tools(cursor=cursor)
            listed, cursor = listed + len(page.tools), page.next_cursor
            if not cursor:
                break
        said = {}
        for name, arguments in calls.items():
            result = await client.call_tool(name, arguments)
            said[name] = None if result.is_error else (result.content[0].text[:200] if result.content else "")
        print(json.dumps({"revision": client.protocol_version, "listed": listed, "said": said}))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:])
