"""A client of bench/sdk_matrix.py by the Python SDK, 1.2 to 2.x: asks the server of its arguments for each feature and
prints them with true, false, or null for one that the SDK does not have, as JSON.

    python3 bench/mcp/sdk/client.py PROGRAM ARGUMENT...
"""
import asyncio
import inspect
import json
import sys

import mcp
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client

LIMIT_S = 30
progress = []


async def answer_question(context, params):
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def answer_sampling(context, params):
    return types.CreateMessageResult(role="assistant", content=types.TextContent(type="text", text="yes"), model="none")


async def answer_roots(context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///ada")])


async def call(session, name, arguments=None, **more):
    result = await session.call_tool(name, arguments or {}, **more)
    return result.content[0].text


async def check_tools(session):
    names = [tool.name for tool in (await session.list_tools()).tools]
    return "add" in names and await call(session, "add", {"a": 2, "b": 3}) == "5"


async def check_resources(session):
    uri = "sdk://text"
    if "AnyUrl" in str(inspect.signature(session.read_resource)):
        from pydantic import AnyUrl
        uri = AnyUrl(uri)
    return (await session.read_resource(uri)).contents[0].text == "a text of the server"


async def check_prompts(session):
    return "Say hello to Ada." in str(await session.get_prompt("hello", {"name": "Ada"}))


async def check_elicitation(session):
    return await call(session, "ask_user") == "Hello, Ada!"


async def check_sampling(session):
    return await call(session, "sample") == "The model says yes"


async def check_roots(session):
    return (await call(session, "roots")).startswith("roots: file:///ada")


async def check_progress(session):
    async def hear(done, total, message=None):
        progress.append(done)

    if "progress_callback" not in inspect.signature(session.call_tool).parameters:
        return None
    return await call(session, "progress", progress_callback=hear) == "done" and progress == [1, 2, 3]


async def send_cancelled(session, number):
    note = types.CancelledNotification(method="notifications/cancelled", params={"requestId": number, "reason": "test"})
    await session.send_notification(types.ClientNotification(note) if hasattr(types.ClientNotification, "model_fields") else note)


async def check_cancel(session):
    """Versions before 2 do not cancel by themselves, but can send the notification."""
    before = await call(session, "count_cancels")
    number = getattr(session, "_request_id", None)
    if number is not None and not hasattr(types, "CancelledNotification"):
        return None
    task = asyncio.ensure_future(call(session, "wait"))
    await asyncio.sleep(0.5)
    if number is None:
        task.cancel()
    else:
        await send_cancelled(session, number)
    for _ in range(50):
        if await call(session, "count_cancels") != before:
            task.cancel()
            return True
        await asyncio.sleep(0.1)
    task.cancel()
    return False


async def drain(session):
    """Versions before 1.4 stop at a notification that nobody reads."""
    async for _ in session.incoming_messages:
        pass


async def main(command):
    wanted = inspect.signature(ClientSession.__init__).parameters
    callbacks = {"sampling": ("sampling_callback", answer_sampling), "roots": ("list_roots_callback", answer_roots),
                 "elicitation": ("elicitation_callback", answer_question)}
    has = {feature: name in wanted for feature, (name, _) in callbacks.items()}
    given = {name: answer for name, answer in callbacks.values() if name in wanted}
    report = {}
    async with stdio_client(StdioServerParameters(command=command[0], args=command[1:])) as (read, write):
        async with ClientSession(read, write, **given) as session:
            drainer = asyncio.ensure_future(drain(session)) if hasattr(session, "incoming_messages") else None
            await session.initialize()
            for name, check in list(globals().items()):
                if not name.startswith("check_"):
                    continue
                feature = name.removeprefix("check_")
                if not has.get(feature, True):
                    report[feature] = None
                    continue
                try:
                    report[feature] = await asyncio.wait_for(check(session), LIMIT_S)
                except Exception as error:
                    print(f"{feature}: {type(error).__name__}: {error}", file=sys.stderr)
                    report[feature] = False
            if drainer:
                drainer.cancel()
    print(json.dumps(report))


asyncio.run(main(sys.argv[1:]))
