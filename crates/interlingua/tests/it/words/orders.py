"""An ordinary MCP server on the official SDK: orders that can be looked up, listed and cancelled. Nothing is annotated.

    orders.py            on stdio
    orders.py schemas    prints the input of each tool
"""

import asyncio
import json
import sys
from typing import Literal

from mcp.server import MCPServer

server = MCPServer("orders", log_level="ERROR")
ORDERS = {1001: "open", 1002: "shipped", 1003: "open"}


@server.tool()
def get_order(order_id: int) -> str:
    """Get one order with its lines and its state."""
    return f"order {order_id}: {ORDERS.get(order_id, 'unknown')}"


@server.tool()
def list_orders(status: Literal["open", "shipped", "cancelled"] | None = None) -> str:
    """List orders, all of them or by status."""
    found = [number for number, state in ORDERS.items() if status in (None, state)]
    return f"{status or 'all'} orders: {found}"


@server.tool()
def cancel_order(order_id: int) -> str:
    """Cancel an order. This cannot be undone."""
    return f"order {order_id} cancelled"


if sys.argv[1:] == ["schemas"]:
    tools = asyncio.run(server.list_tools())
    print(json.dumps([tool.model_dump(mode="json", by_alias=True) for tool in getattr(tools, "tools", tools)], indent=1))
else:
    server.run()
