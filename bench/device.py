"""An AIP device with one tool that says back what it is told.

    device.py PORT

It says READY once it has joined the hub there, and stays until its input ends.
"""

import asyncio
import json
import sys

from websockets.asyncio.client import connect

NAME = "aip_peer"
TOOL = {
    "tool_key": "data_collection::say", "tool_name": "say", "namespace": "T", "tool_type": "data_collection", "description": "Says it back.",
    "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}},
}  # fmt: skip


def result(action):
    said = action["parameters"]["text"]
    return {"status": "success", "error": None, "result": said, "namespace": "T", "call_id": action["call_id"]}


async def work(socket):
    async for text in socket:
        frame = json.loads(text)
        if frame["type"] == "command":
            said = {
                "type": "command_results", "status": "continue", "client_type": "device", "client_id": NAME, "session_id": frame["session_id"],
                "prev_response_id": frame["response_id"], "action_results": [result(action) for action in frame["actions"]],
            }  # fmt: skip
            await socket.send(json.dumps(said))


async def main():
    async with connect(sys.argv[1], compression=None) as socket:
        metadata = {"platform": "linux", "tools": [TOOL], "system_info": {"device_id": NAME, "platform": "linux"}}
        register = {"type": "register", "status": "ok", "client_type": "device", "client_id": NAME, "metadata": metadata}
        await socket.send(json.dumps(register))
        await socket.recv()
        print("READY", flush=True)
        working = asyncio.create_task(work(socket))
        await asyncio.to_thread(sys.stdin.read)
        working.cancel()


asyncio.run(main())
