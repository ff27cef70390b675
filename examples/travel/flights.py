"""A flight timetable as an MCP server, with the official SDK (`pip install mcp`).

A hub starts it by itself and speaks to it over standard input and output:

    peers:
      flights: { mcp: { command: python3, args: [flights.py] }, effects: reads }
"""

from mcp.server.mcpserver import MCPServer

TIMETABLE = {
    ("New York", "Paris"): [
        {"flight": "AF 7", "airline": "Air France", "departure": "19:10", "price": 650},
        {"flight": "UA 57", "airline": "United", "departure": "18:30", "price": 720},
    ],
}

server = MCPServer("flights")


@server.tool()
def search_flights(origin: str, destination: str, date: str) -> list[dict]:
    """Finds flights between two cities on a day (YYYY-MM-DD)."""
    return [{**flight, "date": date} for flight in TIMETABLE.get((origin, destination), [])]


if __name__ == "__main__":
    server.run()
