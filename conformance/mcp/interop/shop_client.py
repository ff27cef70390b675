"""The official Python SDK, version 2, before a hub with the two servers of shop.py behind it, as a model's client uses it.

    shop_client.py [--mode auto|legacy] [--searches] http://127.0.0.1:7447/mcp      with a token in INTERLINGUA_TOKEN
    shop_client.py [--mode auto|legacy] [--searches] interlingua mcp --data data

Either all twelve tools of the servers are listed and nothing else; or, above `search_above`, how to search them.
"""

import argparse
import asyncio
import json
import os

from checks import Checks, same, text, within
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

SEARCH = ["hub__call_skill", "hub__find_skills"]


class Model:
    """What a model does with a client that it was given."""

    def __init__(self, client):
        self.client = client

    async def sees_the_servers_alone(self):
        names = [tool.name for tool in (await self.client.list_tools()).tools]
        same(len(names), 12)
        same([name for name in names if not name.startswith(("orders__", "stock__"))], [])

    async def is_told_of_the_servers(self):
        within("Connected now: orders, stock.", self.client.instructions)
        same("find_skills" in self.client.instructions, False)

    async def calls(self):
        same(text(await self.client.call_tool("orders__get_order", {"order_id": 1001})), "order 1001 is open")
        same(text(await self.client.call_tool("stock__item_price", {"item": "lamp"})), "lamp costs 12 EUR")

    async def sees_how_to_search(self):
        tools = (await self.client.list_tools()).tools
        same([tool.name for tool in tools], SEARCH)
        call, find = tools
        within("Use this first", find.description)
        same((call.annotations.read_only_hint, call.annotations.destructive_hint), (False, True))
        same(find.annotations.read_only_hint, True)

    async def is_told_to_search(self):
        within("Connected now: orders, stock.", self.client.instructions)
        for name in SEARCH:
            within(name, self.client.instructions)

    async def finds_and_calls(self):
        found = await self.client.call_tool("hub__find_skills", {"query": "get one order by its number"})
        skills = {skill["skill"]: skill for skill in found.structured_content["skills"]}
        within("orders/get_order", skills)
        same(skills["orders/get_order"]["input"]["required"], ["order_id"])
        called = await self.client.call_tool("hub__call_skill", {"skill": "orders/get_order", "arguments": {"order_id": 1002}})
        same(text(called), "order 1002 is shipped")

    async def is_told_what_is_wrong(self):
        called = await self.client.call_tool("hub__call_skill", {"skill": "orders/get_order", "arguments": {}})
        same(called.is_error, True)
        within("order_id", json.dumps([block.text for block in called.content]))


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", default="auto")
    parser.add_argument("--searches", action="store_true", help="the list is how to search")
    parser.add_argument("target", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    target = options.target
    if target[0].startswith("http"):
        shown = {"Authorization": f"Bearer {os.environ['INTERLINGUA_TOKEN']}"}
        server = streamable_http_client(target[0], http_client=create_mcp_http_client(headers=shown))
    else:
        server = StdioServerParameters(command=target[0], args=target[1:])
    checks = Checks()
    async with Client(server, mode=options.mode) as client:
        model = Model(client)
        if options.searches:
            await checks.holds("sees how to search", model.sees_how_to_search)
            await checks.holds("is told to search", model.is_told_to_search)
            await checks.holds("finds and calls", model.finds_and_calls)
            await checks.holds("is told what is wrong", model.is_told_what_is_wrong)
        else:
            await checks.holds("sees the servers alone", model.sees_the_servers_alone)
            await checks.holds("is told of the servers", model.is_told_of_the_servers)
            await checks.holds("calls by name", model.calls)
    checks.end()


asyncio.run(main())
