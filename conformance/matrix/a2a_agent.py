"""An agent on the official SDK, which plays the scene its first word names.

    a2a_agent.py HOST:PORT
"""

import asyncio
import json
import sys

import uvicorn
from a2a.helpers import new_raw_part, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Task, TaskState, TaskStatus
from google.protobuf.json_format import MessageToDict
from scenes import ANSWER, BYTES, FAILURE, PIECES, QUESTION, REPORT, SLOW
from starlette.applications import Starlette


class Theatre(AgentExecutor):
    async def execute(self, context, event_queue):
        text = context.get_user_input()
        scene = text.split(" ")[0]
        if context.current_task is None and scene in ("answer", "richest"):
            told = ANSWER if scene == "answer" else json.dumps(MessageToDict(context.message))
            await event_queue.enqueue_event(new_text_message(told, context_id=context.context_id))
            return
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        if context.current_task is None:
            status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
            task = Task(id=context.task_id, context_id=context.context_id, status=status, history=[context.message])
            await event_queue.enqueue_event(task)
            await self.play(scene, updater)
        else:
            await updater.start_work()
            await self.gives(updater, "answer", new_text_part(f"heard {text}"))

    async def play(self, scene, updater):
        def says(text):
            return updater.new_agent_message([new_text_part(text)])

        if scene == "stream":
            await updater.start_work(says("begun"))
            for number, piece in enumerate(PIECES):
                last = number == len(PIECES) - 1
                part = [new_text_part(piece)]
                await updater.add_artifact(part, artifact_id="song", name="song", append=number > 0, last_chunk=last)
            await updater.complete()
        elif scene == "question":
            await updater.requires_input(says(QUESTION))
        elif scene == "failure":
            await updater.failed(says(FAILURE))
        elif scene == "slow":
            await updater.start_work(says("this takes long"))
            await asyncio.sleep(SLOW)
        elif scene == "large":
            await self.gives(updater, "picture", new_raw_part(BYTES, media_type="image/png"))
        elif scene == "artifact":
            await self.gives(updater, "report", new_text_part(REPORT))
        else:
            await updater.complete(says(f"heard {scene}"))

    async def gives(self, updater, name, part):
        await updater.add_artifact([part], artifact_id=name, name=name, last_chunk=True)
        await updater.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def main():
    address = sys.argv[1]
    host, port = address.rsplit(":", 1)
    card = AgentCard(
        name="Theatre",
        description="Plays the scene its first word names.",
        version="1.0.0",
        supported_interfaces=[
            AgentInterface(url=f"http://{address}/rpc", protocol_binding="JSONRPC", protocol_version="1.0")
        ],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain", "application/json", "image/png"],
        default_output_modes=["text/plain", "application/json", "image/png"],
        skills=[AgentSkill(id="act", name="Act", description="Plays a scene.", tags=["test"])],
    )
    handler = DefaultRequestHandler(agent_executor=Theatre(), task_store=InMemoryTaskStore(), agent_card=card)
    routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/rpc")]
    uvicorn.run(Starlette(routes=routes), host=host, port=int(port), log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
