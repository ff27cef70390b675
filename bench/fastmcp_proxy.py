"""fastmcp as a proxy: fastmcp_proxy.py PORT UPSTREAM. One client to the upstream is kept and shared by all requests."""

import asyncio
import sys

from fastmcp import Client
from fastmcp.server import create_proxy


async def main():
    port, upstream = int(sys.argv[1]), sys.argv[2]
    async with Client(upstream) as client:
        proxy = create_proxy(client, name="proxy")
        quiet = {"access_log": False}
        await proxy.run_async(
            transport="http", host="127.0.0.1", port=port, path="/mcp", show_banner=False, log_level="ERROR", uvicorn_config=quiet
        )


asyncio.run(main())
