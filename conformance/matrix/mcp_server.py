"""A server on the official SDK with a tool for every scene.

    mcp_server.py HOST:PORT
"""

import asyncio
import base64
import json
import sys
from typing import Annotated

import mcp_types as types
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from notes import note
from pydantic import BaseModel
from scenes import ANSWER, BACK_BYTES, BACK_LINK, BYTES, FAILURE, PAUSE, PIECES, QUESTION, REPORT, SLOW

server = MCPServer("matrix", log_level="ERROR")
READS = types.ToolAnnotations(read_only_hint=True)


class Day(BaseModel):
    day: str


def ask_day() -> Elicit[Day]:
    return Elicit(QUESTION, Day)


@server.tool(description="Tell the number of everything.", annotations=READS)
def answer() -> str:
    return ANSWER


@server.tool(description="Count aloud.", annotations=READS)
async def stream(ctx: Context) -> str:
    for number, piece in enumerate(PIECES, 1):
        await ctx.report_progress(number, len(PIECES), piece)
        await asyncio.sleep(PAUSE)
    return "".join(PIECES)


@server.tool(description="Pick some weekday.", annotations=READS)
def question(day: Annotated[Day, Resolve(ask_day)]) -> str:
    return f"heard {day.day}"


@server.tool(description="Jam again.", annotations=READS)
def failure() -> str:
    raise ToolError(FAILURE)


@server.tool(description="Take hours.", annotations=READS)
async def slow() -> str:
    note("begun")
    try:
        await asyncio.sleep(SLOW)
    except asyncio.CancelledError:
        note("stopped")
        raise
    return "at last"


@server.tool(description="Paint pictures.", annotations=READS, structured_output=False)
def large() -> list[types.ContentBlock]:
    data = base64.b64encode(BYTES).decode()
    return [types.TextContent(type="text", text="Here it is."), types.ImageContent(type="image", data=data, mime_type="image/png")]


@server.tool(description="Write reports.", annotations=READS, structured_output=False)
def artifact() -> list[types.ContentBlock]:
    contents = types.TextResourceContents(uri="matrix://report", mime_type="text/plain", text=REPORT)
    return [types.EmbeddedResource(type="resource", resource=contents)]


@server.tool(description="Echo richest sayings.", annotations=READS, structured_output=False)
def richest(text: str = "", held: dict | None = None) -> list[types.ContentBlock]:
    data = base64.b64encode(BACK_BYTES).decode()
    return [
        types.TextContent(type="text", text="heard " + json.dumps({"text": text, "held": held})),
        types.ImageContent(type="image", data=data, mime_type="image/png"),
        types.ResourceLink(type="resource_link", uri=BACK_LINK, name="lambda"),
    ]


def main():
    host, port = sys.argv[1].rsplit(":", 1)
    uvicorn.run(server.streamable_http_app(), host=host, port=int(port), log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
