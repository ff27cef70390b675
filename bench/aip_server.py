"""An AIP server of the same shape as the Python implementation's: websockets, pydantic models for every frame, one task for
each session.

    aip_server.py PORT

It lets devices in, answers heartbeats and works off a task that is a list of lists of commands, one COMMAND after the other. It has no
rights, no journal, no orchestrators and no agent: what it leaves out only makes it cheaper.
"""

import asyncio
import datetime
import json
import sys
import uuid
from http import HTTPStatus
from typing import Any, Literal, Optional

from pydantic import BaseModel
from websockets.asyncio.server import serve


class Result(BaseModel):
    status: Literal["success", "failure", "skipped", "none"]
    error: Optional[str] = None
    result: Any = None
    namespace: Optional[str] = None
    call_id: Optional[str] = None


class ClientMessage(BaseModel):
    type: Literal["task", "heartbeat", "command_results", "error", "register", "task_end", "device_info_request", "device_info_response"]
    status: Literal["continue", "completed", "failed", "ok", "error"]
    client_type: Literal["device", "constellation"] = "device"
    session_id: Optional[str] = None
    task_name: Optional[str] = None
    client_id: Optional[str] = None
    target_id: Optional[str] = None
    request: Optional[str] = None
    action_results: Optional[list[Result]] = None
    timestamp: Optional[str] = None
    request_id: Optional[str] = None
    prev_response_id: Optional[str] = None
    error: Optional[str] = None
    metadata: Optional[dict[str, Any]] = None


class Command(BaseModel):
    tool_name: str
    parameters: Optional[dict[str, Any]] = None
    tool_type: Literal["data_collection", "action"]
    call_id: Optional[str] = None


class ServerMessage(BaseModel):
    type: Literal["task", "heartbeat", "task_end", "command", "error", "device_info_request", "device_info_response"]
    status: Literal["continue", "completed", "failed", "ok", "error"]
    user_request: Optional[str] = None
    agent_name: Optional[str] = None
    process_name: Optional[str] = None
    root_name: Optional[str] = None
    actions: Optional[list[Command]] = None
    messages: Optional[list[str]] = None
    error: Optional[str] = None
    session_id: Optional[str] = None
    task_name: Optional[str] = None
    timestamp: Optional[str] = None
    response_id: Optional[str] = None
    result: Any = None


def frame(kind, status, **more):
    now = datetime.datetime.now(datetime.timezone.utc).isoformat()
    return ServerMessage(type=kind, status=status, timestamp=now, response_id=str(uuid.uuid4()), **more)


class Device:
    def __init__(self, socket):
        self.socket, self.waiting, self.sessions = socket, {}, set()

    async def send(self, message):
        await self.socket.send(message.model_dump_json())

    async def serve(self):
        async for text in self.socket:
            message = ClientMessage.model_validate_json(text)
            if message.type in ("register", "heartbeat"):
                await self.send(frame("heartbeat", "ok"))
            elif message.type == "task":
                session = asyncio.create_task(self.session(message))
                self.sessions.add(session)
                session.add_done_callback(self.sessions.discard)
            elif message.type == "command_results":
                waiting = self.waiting.pop(message.prev_response_id, None)
                if waiting:
                    waiting.set_result(message.action_results)
        for session in self.sessions:
            session.cancel()

    async def session(self, message):
        session = message.session_id or str(uuid.uuid4())
        await self.send(frame("heartbeat", "ok", session_id=session))
        results = []
        for batch in json.loads(message.request):
            actions = [Command(tool_type="action", call_id=str(uuid.uuid4()), **action) for action in batch]
            command = frame(
                "command", "continue", actions=actions, session_id=session, task_name=message.task_name,
                agent_name="LinuxAgent", process_name="", root_name="",
            )
            self.waiting[command.response_id] = done = asyncio.get_running_loop().create_future()
            await self.send(command)
            results += [one.result for one in await done]
        await self.send(frame("task_end", "completed", session_id=session, result=results))


def health(connection, request):
    """Whoever asks without wanting a WebSocket wants to know whether it runs."""
    if "Upgrade" not in request.headers:
        return connection.respond(HTTPStatus.OK, "ok\n")


async def main():
    async with serve(lambda socket: Device(socket).serve(), "127.0.0.1", int(sys.argv[1]), process_request=health, compression=None):
        await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(main())
