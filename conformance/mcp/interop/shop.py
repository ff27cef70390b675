"""Two small servers, as somebody writes them with the official SDK, version 2: `shop.py orders` and `shop.py stock`. Six tools each."""

import sys

from mcp.server import MCPServer

orders = MCPServer("orders")
stock = MCPServer("stock")
status = {1001: "open", 1002: "shipped"}


@orders.tool()
def get_order(order_id: int) -> str:
    """Get one order by its number."""
    return f"order {order_id} is {status[order_id]}"


@orders.tool()
def list_orders(state: str = "open") -> str:
    """List the orders that are in a state."""
    return ", ".join(str(number) for number, of in status.items() if of == state)


@orders.tool()
def cancel_order(order_id: int) -> str:
    """Cancel an order. This cannot be undone."""
    status[order_id] = "cancelled"
    return f"order {order_id} is cancelled"


@orders.tool()
def create_order(item: str, count: int) -> str:
    """Create an order for a number of items."""
    status[max(status) + 1] = "open"
    return f"ordered {count} of {item}"


@orders.tool()
def order_history(customer: str, limit: int = 10) -> str:
    """List the earlier orders of a customer, newest first."""
    return f"{customer} has no more than {limit} orders"


@orders.tool()
def shipping_cost(country: str, grams: int) -> float:
    """Work out what sending a parcel costs, in euros."""
    return 4.5 if country == "DE" else 9.0 + grams / 1000


@stock.tool()
def count_items(item: str) -> int:
    """Count how many of an item are in the warehouse."""
    return len(item)


@stock.tool()
def find_item(words: str) -> str:
    """Find items by words of their description."""
    return f"one item fits {words!r}"


@stock.tool()
def reserve_item(item: str, count: int) -> str:
    """Reserve a number of an item for one day."""
    return f"{count} of {item} reserved"


@stock.tool()
def release_item(item: str) -> str:
    """Release what was reserved of an item."""
    return f"{item} released"


@stock.tool()
def item_price(item: str, currency: str = "EUR") -> str:
    """Tell the price of one item."""
    return f"{item} costs 12 {currency}"


@stock.tool()
def low_stock(below: int = 5) -> str:
    """List the items of which few are left."""
    return f"nothing is below {below}"


if __name__ == "__main__":
    {"orders": orders, "stock": stock}[sys.argv[1]].run("stdio")
