"""A flight expert asks a hotel expert, through a hub.

    interlingua serve &
    INTERLINGUA_TOKEN=$(interlingua token owner) python3 examples/agents/flight_and_hotel.py [http://127.0.0.1:7447]

Neither agent listens anywhere: each fetches what waits for it. Both are then peers of the hub like any other, so
`interlingua call agent_hotel/search_hotels '{"location": "Paris", "checkin": "2025-05-01"}'` reaches the same function
while this runs. Only the standard library is used.
"""

import json
import os
import sys
import threading
import urllib.request
import uuid


class Hub:
    """The few requests that agents need."""

    def __init__(self, url):
        self.url = url
        token = os.environ.get("INTERLINGUA_TOKEN")
        self.shown = {"Authorization": f"Bearer {token}"} if token else {}

    def send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json", **self.shown}, method=method)
        with urllib.request.urlopen(request) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def register(self, card):
        return self.send("POST", "/api/agents", card)

    def discover(self, capability):
        return self.send("GET", f"/api/agents?capability={capability}")["items"]

    def post(self, **message):
        return self.send("POST", "/api/messages", message)

    def messages(self, agent):
        """What waits for an agent, and what comes: server-sent events, one message each."""
        request = urllib.request.Request(f"{self.url}/api/messages?agent={agent}", headers={"Accept": "text/event-stream", **self.shown})
        with urllib.request.urlopen(request) as stream:
            for line in stream:
                if line.startswith(b"data: "):
                    yield json.loads(line[len(b"data: "):])


class Agent:
    """Does what it is asked, one message after another."""

    def __init__(self, hub, card, **functions):
        self.hub, self.id, self.functions = hub, card["agent_id"], functions
        hub.register(card)

    def work(self):
        threading.Thread(target=self._work, daemon=True).start()
        return self

    def _work(self):
        for message in self.hub.messages(self.id):
            if message["message_type"] in ("request", "query"):
                self._answer(message)

    def _answer(self, message):
        try:
            result = self.functions[message["capability"]](**message["content"])
            content = {"status": "success", "result": result}
        except Exception as error:  # whatever went wrong is the answer
            content = {"status": "error", "error": str(error)}
        self.hub.post(
            from_agent=self.id,
            to_agent=message["from_agent"],
            message_type="response",
            content=content,
            correlation_id=message["message_id"],
        )

    def ask(self, to, capability, **content):
        return self.hub.post(
            message_id=str(uuid.uuid4()),
            from_agent=self.id,
            to_agent=to,
            message_type="request",
            capability=capability,
            content=content,
        )


def card(agent, name, does, capability, takes, gives):
    return {
        "agent_id": agent,
        "name": name,
        "description": does,
        "capabilities": [
            {"name": capability, "description": does, "input_schema": takes, "output_schema": gives},
        ],
        "owner": "TravelCo",
        "contact": "travel@example.com",
    }


FLIGHT = card(
    "agent_flight",
    "Flight Expert",
    "Searches flights",
    "search_flights",
    {"origin": "string", "destination": "string"},
    {"flights": "array"},
)
HOTEL = card(
    "agent_hotel",
    "Hotel Expert",
    "Searches hotels",
    "search_hotels",
    {"location": "string", "checkin": "string"},
    {"hotels": "array"},
)


def search_flights(origin, destination):
    return [{"airline": "Air France", "price": 650}]


def search_hotels(location, checkin):
    return [{"name": f"Hotel {location}", "price_per_night": 180}]


def main():
    hub = Hub(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:7447")
    flight = Agent(hub, FLIGHT, search_flights=search_flights).work()
    Agent(hub, HOTEL, search_hotels=search_hotels).work()
    found = hub.discover("search_hotels")
    print("found:", ", ".join(agent["agent_id"] for agent in found))
    response = flight.ask(found[0]["agent_id"], "search_hotels", location="Paris", checkin="2025-05-01")
    print("response:", json.dumps(response["content"]))


if __name__ == "__main__":
    main()
