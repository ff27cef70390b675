"""A client on the official SDK against a hub whose front door is the script beside it; ends with 0 when all is as it should be.

    client.py URL BINDING VERSION
"""

import asyncio
import sys
import uuid

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers import get_artifact_text, get_message_text, new_data_part, new_message, new_text_part
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskState,
)
from a2a.utils.errors import TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError
from a2a.utils.grpc_status import status_from_call
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Struct
from google.rpc import error_details_pb2

OURS = "urn:interlingua:hub:1"


def said(text, task=None, metadata=None, parts=None):
    """A request that says something; `task`: goes on with it."""
    message = new_message(parts or [new_text_part(text)], role=Role.ROLE_USER)
    message.message_id = str(uuid.uuid4())
    if task is not None:
        message.task_id, message.context_id = task.id, task.context_id
    if metadata:
        message.metadata.CopyFrom(ParseDict(metadata, Struct()))
    return SendMessageRequest(message=message, configuration=SendMessageConfiguration())


async def heard(stream):
    return [update async for update in stream]


async def whole(client, request):
    """The one answer of a call that is not streamed."""
    updates = await heard(client.send_message(request))
    assert len(updates) == 1, updates
    return updates[0]


def state(task):
    return TaskState.Name(task.status.state)


def beside(error, binding):
    """What stands beside the reason of an error. By gRPC the SDK leaves it in the status."""
    if binding != "GRPC":
        return error.data
    info = error_details_pb2.ErrorInfo()
    assert status_from_call(error.__cause__).details[0].Unpack(info), error
    return dict(info.metadata)


class Checks:
    def __init__(self, once, streaming, binding, version):
        self.once, self.streaming, self.binding, self.version = once, streaming, binding, version

    async def answers(self):
        answer = await whole(self.once, said("hello"))
        text = get_message_text(answer.message) if answer.HasField("message") else get_artifact_text(answer.task.artifacts[0])
        assert text == "Hello there", answer

    async def artifacts_stream_in_order(self):
        updates = await heard(self.streaming.send_message(said("artifact")))
        assert updates[0].HasField("task"), updates[0]
        pieces = [update.artifact_update for update in updates if update.HasField("artifact_update")]
        assert [get_artifact_text(piece.artifact) for piece in pieces] == ["chunk-1 ", "chunk-2"], pieces
        assert [piece.append for piece in pieces] == [False, True] and pieces[-1].last_chunk, pieces
        assert updates[-1].status_update.status.state == TaskState.TASK_STATE_COMPLETED, updates[-1]
        task = await self.once.get_task(GetTaskRequest(id=updates[0].task.id))
        assert get_artifact_text(task.artifacts[0], "") == "chunk-1 chunk-2", task

    async def questions_are_asked_and_answered(self):
        asked = (await whole(self.once, said("ask"))).task
        assert state(asked) == "TASK_STATE_INPUT_REQUIRED", asked
        assert get_message_text(asked.status.message) == "Which dates?", asked
        done = (await whole(self.once, said("May 1", asked))).task
        assert done.id == asked.id and state(done) == "TASK_STATE_COMPLETED", done

    async def a_running_task_is_subscribed_and_cancelled(self):
        stream = self.streaming.send_message(said("slow"))
        first = await anext(stream)
        again = self.streaming.subscribe(SubscribeToTaskRequest(id=first.task.id))
        snapshot = await anext(again)
        assert snapshot.task.id == first.task.id, snapshot
        cancelled = await self.once.cancel_task(CancelTaskRequest(id=first.task.id))
        assert state(cancelled) == "TASK_STATE_CANCELED", cancelled
        for rest in (await heard(stream), await heard(again)):
            assert rest[-1].status_update.status.state == TaskState.TASK_STATE_CANCELED, rest

    async def errors_are_typed(self):
        async def refused(error, asking):
            try:
                await asking
            except error as told:
                return told
            raise AssertionError(f"no {error.__name__}")

        unknown = await refused(TaskNotFoundError, self.once.get_task(GetTaskRequest(id="00000000000000000000000000000000")))
        if self.version == "1.0":
            assert beside(unknown, self.binding) == {"reason": "TASK_NOT_FOUND"}, unknown
        done = (await heard(self.streaming.send_message(said("artifact"))))[0].task
        await refused(TaskNotCancelableError, self.once.cancel_task(CancelTaskRequest(id=done.id)))
        await refused(UnsupportedOperationError, whole(self.once, said("more", done)))
        if self.version == "1.0":
            subscribed = heard(self.streaming.subscribe(SubscribeToTaskRequest(id=done.id)))
            await refused(UnsupportedOperationError, subscribed)

    async def a_tool_is_called_by_the_extension(self):
        metadata = {OURS: {"skill": "local/add"}}
        request = said("", metadata=metadata, parts=[new_data_part({"a": 2, "b": 3})])
        answer = await whole(self.once, request)
        parts = answer.message.parts if answer.HasField("message") else answer.task.artifacts[0].parts
        assert parts[0].data.struct_value.fields["sum"].number_value == 5, answer


async def main():
    url, binding, version = sys.argv[1:]
    async with httpx.AsyncClient(timeout=60) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        kept = [one for one in card.supported_interfaces if (one.protocol_binding, one.protocol_version) == (binding, version)]
        assert kept, f"the card has no {binding} of {version}: {card.supported_interfaces}"
        del card.supported_interfaces[:]
        card.supported_interfaces.extend(kept)

        def client(streaming):
            config = ClientConfig(
                streaming=streaming,
                httpx_client=http,
                supported_protocol_bindings=[binding],
                grpc_channel_factory=grpc.aio.insecure_channel,
            )
            return ClientFactory(config).create(card)

        clients = [client(streaming) for streaming in (False, True)]
        checks = Checks(*clients, binding, version)
        for name in [name for name in vars(Checks) if not name.startswith("_")]:
            await getattr(checks, name)()
            print(f"{name.replace('_', ' ')}: as it should be", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
