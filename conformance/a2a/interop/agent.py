"""An agent on the official SDK, behaving by the first word it is told.

    agent.py HOST:PORT [BINDING:VERSION]...

The interfaces stand on its card in this order; without any, JSONRPC and HTTP+JSON of 1.0. Every binding and version is served
whatever the card says, GRPC on a port of its own. Words: echo, work, ask, auth, slow, fail, reject.
"""

import asyncio
import sys

import grpc
import uvicorn
from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc
from a2a.compat.v0_3.grpc_handler import CompatGrpcHandler
from a2a.helpers import new_data_part, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import a2a_pb2_grpc
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Task, TaskState, TaskStatus
from starlette.applications import Starlette

PATHS = {"JSONRPC": "/rpc", "HTTP+JSON": "/rest"}


class Actor(AgentExecutor):
    async def execute(self, context, event_queue):
        text = context.get_user_input()
        word, _, rest = text.partition(" ")
        if context.current_task is None and word == "echo":
            await event_queue.enqueue_event(new_text_message(rest, context_id=context.context_id))
            return
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        if context.current_task is None:
            status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
            task = Task(id=context.task_id, context_id=context.context_id, status=status, history=[context.message])
            await event_queue.enqueue_event(task)
        else:
            await updater.start_work()
            await updater.add_artifact([new_text_part(f"you said {text}")], artifact_id="answer", last_chunk=True)
            await updater.complete()
            return
        await self.play(word, rest, updater)

    async def play(self, word, rest, updater):
        def says(text):
            return updater.new_agent_message([new_text_part(text)])

        if word == "work":
            await updater.start_work(says("looking"))
            await updater.add_artifact([new_text_part("one ")], artifact_id="page", name="page", append=False, last_chunk=False)
            await updater.add_artifact([new_text_part(rest)], artifact_id="page", append=True, last_chunk=True)
            await updater.add_artifact([new_data_part({"rest": rest})], artifact_id="facts", name="facts", last_chunk=True)
            await updater.complete()
        elif word == "ask":
            await updater.requires_input(says("Which dates?"))
        elif word == "auth":
            await updater.requires_auth(says("Log in first"))
        elif word == "slow":
            await updater.start_work(says("this takes long"))
            await asyncio.sleep(600)
        elif word == "fail":
            await updater.failed(says("no room"))
        elif word == "reject":
            await updater.reject(says("not here"))
        else:
            await updater.complete(says(f"done: {word}"))

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


async def main():
    address, *wanted = sys.argv[1:]
    host, port = address.rsplit(":", 1)
    calls = grpc.aio.server()
    services = f"{host}:{calls.add_insecure_port(f'{host}:0')}"
    interfaces = [
        AgentInterface(
            url=services if binding == "GRPC" else f"http://{address}{PATHS[binding]}",
            protocol_binding=binding,
            protocol_version=version,
        )
        for binding, version in (one.rsplit(":", 1) for one in wanted or ["JSONRPC:1.0", "HTTP+JSON:1.0"])
    ]
    card = AgentCard(
        name="SDK agent",
        description="Does what its first word says.",
        version="1.0.0",
        supported_interfaces=interfaces,
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain", "application/json"],
        default_output_modes=["text/plain", "application/json"],
        skills=[AgentSkill(id="act", name="Act", description="Does what its first word says.", tags=["test"])],
    )
    handler = DefaultRequestHandler(agent_executor=Actor(), task_store=InMemoryTaskStore(), agent_card=card)
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(handler), calls)
    a2a_v0_3_pb2_grpc.add_A2AServiceServicer_to_server(CompatGrpcHandler(handler), calls)
    await calls.start()
    routes = [
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, PATHS["JSONRPC"], enable_v0_3_compat=True),
        *create_rest_routes(handler, path_prefix=PATHS["HTTP+JSON"], enable_v0_3_compat=True),
    ]
    config = uvicorn.Config(Starlette(routes=routes), host=host, port=int(port), log_level="warning", access_log=False)
    await uvicorn.Server(config).serve()
    await calls.stop(None)


if __name__ == "__main__":
    asyncio.run(main())
