"""An agent on the official SDK, for programs that say what it does: it behaves by the first word it is told.

Every binding and version is served whatever the card says, GRPC on a port of its own.
"""

import grpc
import uvicorn
from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc
from a2a.compat.v0_3.grpc_handler import CompatGrpcHandler
from a2a.helpers import new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import a2a_pb2_grpc
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Task, TaskState, TaskStatus
from starlette.applications import Starlette

PATHS = {"JSONRPC": "/rpc", "HTTP+JSON": "/rest"}


class Worded(AgentExecutor):
    """What is said at once, what is played, and what is said of an answer are the program's."""

    def said(self, context, word, rest):
        """A message that is the whole answer; nothing for a word that begins a task."""
        return None

    async def play(self, word, rest, updater):
        raise NotImplementedError

    def heard(self, text):
        return f"heard {text}"

    async def execute(self, context, event_queue):
        text = context.get_user_input()
        word, _, rest = text.partition(" ")
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        if context.current_task is not None:
            await updater.start_work()
            await updater.add_artifact([new_text_part(self.heard(text))], artifact_id="answer", name="answer", last_chunk=True)
            await updater.complete()
        elif message := self.said(context, word, rest):
            await event_queue.enqueue_event(message)
        else:
            status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
            task = Task(id=context.task_id, context_id=context.context_id, status=status, history=[context.message])
            await event_queue.enqueue_event(task)
            await self.play(word, rest, updater)

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


async def serve(executor, address, wanted, name, modes):
    """Until it is ended. The interfaces (`BINDING:VERSION`) stand on its card in the order that is wanted."""
    host, port = address.rsplit(":", 1)
    calls = grpc.aio.server()
    services = f"{host}:{calls.add_insecure_port(f'{host}:0')}"
    interfaces = [
        AgentInterface(
            url=services if binding == "GRPC" else f"http://{address}{PATHS[binding]}",
            protocol_binding=binding,
            protocol_version=version,
        )
        for binding, version in (one.rsplit(":", 1) for one in wanted)
    ]
    card = AgentCard(
        name=name,
        description="Does what its first word says.",
        version="1.0.0",
        supported_interfaces=interfaces,
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=modes,
        default_output_modes=modes,
        skills=[AgentSkill(id="act", name="Act", description="Does what its first word says.", tags=["test"])],
    )
    handler = DefaultRequestHandler(agent_executor=executor, task_store=InMemoryTaskStore(), agent_card=card)
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
