"""The server of bench/sdk_matrix.py by the Python SDK, 1.2 to 2.x, on standard input and output."""
import asyncio

try:
    from mcp.server.fastmcp import Context, FastMCP
except ImportError:
    from mcp.server import MCPServer as FastMCP
    from mcp.server.mcpserver import Context
from mcp import types
from pydantic import BaseModel

server = FastMCP("sdk")
cancels = 0


class Person(BaseModel):
    name: str


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
async def progress(ctx: Context) -> str:
    """Reports progress three times."""
    for done in (1, 2, 3):
        await ctx.report_progress(done, 3)
        await asyncio.sleep(0.05)  # the TypeScript SDK drops what comes together with the result
    return "done"


@server.tool()
async def wait() -> str:
    """Waits until it is cancelled."""
    global cancels
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        cancels += 1
        raise
    return "waited"


@server.tool()
def count_cancels() -> str:
    """Counts the calls of wait that were cancelled."""
    return str(cancels)


@server.tool()
async def ask_user(ctx: Context) -> str:
    """Asks the user for a name."""
    answer = await ctx.elicit(message="What is your name?", schema=Person)
    return f"Hello, {answer.data.name}!"


@server.tool()
async def sample(ctx: Context) -> str:
    """Asks the client's model."""
    question = types.SamplingMessage(role="user", content=types.TextContent(type="text", text="Say yes."))
    answer = await ctx.session.create_message(messages=[question], max_tokens=9)
    return f"The model says {answer.content.text}"


@server.tool()
async def roots(ctx: Context) -> str:
    """Lists the client's roots."""
    return "roots: " + " ".join(str(root.uri) for root in (await ctx.session.list_roots()).roots)


@server.resource("sdk://text")
def text() -> str:
    """A text."""
    return "a text of the server"


@server.prompt()
def hello(name: str) -> str:
    """Greets somebody."""
    return f"Say hello to {name}."


server.run()
