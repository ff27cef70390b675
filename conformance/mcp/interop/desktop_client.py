"""The official Python SDK, version 2, as a desktop client that reads its own file: it starts every server of its list, from a directory of its
own choice and with the variables that the file sets, and lists their tools.

    desktop_client.py mcpServers ~/.cursor/mcp.json /

All twelve tools of the two servers of shop.py have to be listed, each once, and nothing else at any moment.
"""

import asyncio
import json
import sys

from checks import Checks, same, text
from mcp import Client, StdioServerParameters

TOOLS = 12
# A hub answers before its peers have started.
TRIES = 600


class Desktop:
    """What a person sees of one server in the list of their client."""

    def __init__(self, client):
        self.client = client

    async def shows_the_servers_alone(self):
        for _ in range(TRIES):
            names = [tool.name for tool in (await self.client.list_tools()).tools]
            same([name for name in names if not name.startswith(("orders__", "stock__"))], [])
            if len(names) == TOOLS:
                break
            await asyncio.sleep(0.1)
        same((len(names), len(set(names))), (TOOLS, TOOLS))

    async def calls(self):
        same(text(await self.client.call_tool("orders__get_order", {"order_id": 1001})), "order 1001 is open")
        same(text(await self.client.call_tool("stock__item_price", {"item": "lamp"})), "lamp costs 12 EUR")


async def main():
    key, file, directory = sys.argv[1:4]
    with open(file, encoding="utf-8") as read:
        servers = {name: server for name, server in json.load(read)[key].items() if not server.get("disabled")}
    checks = Checks()
    print(f"starts {', '.join(servers)} in {directory}")
    same(list(servers), ["interlingua"])
    for server in servers.values():
        started = StdioServerParameters(command=server["command"], args=server["args"], env=server.get("env"), cwd=directory)
        async with Client(started) as client:
            desktop = Desktop(client)
            await checks.holds("shows the tools of the servers and nothing else", desktop.shows_the_servers_alone)
            await checks.holds("calls both", desktop.calls)
    checks.end()


asyncio.run(main())
