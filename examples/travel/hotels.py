"""A hotel expert as an A2A agent, with the official SDK (`pip install a2a-sdk uvicorn starlette`).

    python3 hotels.py 9102

    peers:
      hotels: { a2a: { url: "http://127.0.0.1:9102" }, effects: reads }
"""

import sys

import uvicorn
from a2a.helpers import new_data_part, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Task, TaskState, TaskStatus
from starlette.applications import Starlette

ROOM = {"hotel": "Hotel du Nord", "room": "a double room over the canal", "price_per_night": 140}


class HotelExpert(AgentExecutor):
    async def execute(self, context, event_queue):
        """Every request becomes a task: it says that it looks, offers a room as an artifact, and is done."""
        status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
        task = Task(id=context.task_id, context_id=context.context_id, status=status, history=[context.message])
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work(updater.new_agent_message([new_text_part("Looking for a free room.")]))
        offer = f"{ROOM['hotel']}: {ROOM['room']}, {ROOM['price_per_night']} a night"
        await updater.add_artifact([new_text_part(offer), new_data_part(ROOM)], name="offer", last_chunk=True)
        await updater.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def main(port):
    skill = AgentSkill(id="find_room", name="Find a room", description="Finds a hotel room in a city.", tags=["travel"])
    card = AgentCard(
        name="Hotel expert",
        description="Knows every free room in Paris.",
        version="1.0.0",
        supported_interfaces=[
            AgentInterface(url=f"http://127.0.0.1:{port}/rpc", protocol_binding="JSONRPC", protocol_version="1.0")
        ],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain", "application/json"],
        skills=[skill],
    )
    handler = DefaultRequestHandler(agent_executor=HotelExpert(), task_store=InMemoryTaskStore(), agent_card=card)
    routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/rpc")]
    uvicorn.run(Starlette(routes=routes), host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main(int(sys.argv[1]))
