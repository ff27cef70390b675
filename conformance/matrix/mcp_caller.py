"""Calls through a hub with the official SDK, in the newest revision that both speak.

    INTERLINGUA_TOKEN=… mcp_caller.py URL
"""

import asyncio
import contextvars
import os
import sys

import httpx2
import mcp_types as types
from lines import serve
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

ASKED = contextvars.ContextVar("asked")


async def elicit(_context, params):
    """A yes where one is wanted, else the answer of this call, in every field."""
    seen, answer = ASKED.get()
    seen.question = params.message
    fields = params.requested_schema["properties"]
    filled = {name: True if field.get("type") == "boolean" else answer for name, field in fields.items()}
    return types.ElicitResult(action="accept", content=filled)


async def read(client, result, seen):
    for block in result.content:
        if name := (block.meta or {}).get("interlingua/name"):
            seen.names.append(name)
        match block.type:
            case "text":
                seen.texts.append(block.text)
            case "image" | "audio":
                seen.blob(block.data)
            case "resource":
                seen.names.append(str(block.resource.uri))
                if hasattr(block.resource, "text"):
                    seen.texts.append(block.resource.text)
                else:
                    seen.blob(block.resource.blob)
            case "resource_link":
                seen.names.append(block.name)
                for contents in (await client.read_resource(block.uri)).contents:
                    if hasattr(contents, "text"):
                        seen.texts.append(contents.text)
                    else:
                        seen.blob(contents.blob)
    if result.structured_content is not None:
        seen.data.append(result.structured_content)
    meta = result.meta or {}
    seen.lost(meta.get("interlingua/losses", []))
    seen.task = meta.get("interlingua/task")
    if result.is_error:
        seen.outcome = "failed"
        seen.fault = meta.get("interlingua/fault", {}).get("kind")


async def main():
    shown = {"authorization": f"Bearer {os.environ['INTERLINGUA_TOKEN']}"}
    http = httpx2.AsyncClient(headers=shown, timeout=httpx2.Timeout(30, read=600))
    hub = streamable_http_client(f"{sys.argv[1]}/mcp", http_client=http)
    async with http, Client(hub, mode="auto", elicitation_callback=elicit) as client:

        async def call(command, seen):
            ASKED.set((seen, command.get("answer")))
            arguments = {command["argument"]: command["words"]} if command["agent"] else command["arguments"]
            meta = {"interlingua/deadline": command["deadline"]} if command.get("deadline") else None

            async def told(progress, total, message):
                seen.pieces.append(f"{progress} of {total}: {message}")

            name = f"{command['peer']}__{command['skill']}"
            try:
                result = await client.call_tool(name, arguments, progress_callback=told, meta=meta)
            except MCPError as error:
                seen.outcome, seen.fault, seen.unsure = "failed", error.error.message, True
                return
            await read(client, result, seen)

        await serve(call)


asyncio.run(main())
