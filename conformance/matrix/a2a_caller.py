"""Calls through a hub with the official SDK, by JSON-RPC of 1.0.

    INTERLINGUA_TOKEN=… a2a_caller.py URL
"""

import asyncio
import json
import os
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers import new_data_part, new_message, new_text_part
from a2a.types import CancelTaskRequest, Role, SendMessageConfiguration, SendMessageRequest
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Struct
from lines import serve

OURS = "urn:interlingua:hub:1"
HUB = sys.argv[1]
SHOWN = {"authorization": f"Bearer {os.environ['INTERLINGUA_TOKEN']}"}
ENDS = {"TASK_STATE_FAILED": "failed", "TASK_STATE_REJECTED": "failed", "TASK_STATE_CANCELED": "cancelled"}


def ours(value):
    """Every place of our extension in a message, wherever it stands."""
    if isinstance(value, dict):
        if OURS in value:
            yield value[OURS]
        for inner in value.values():
            yield from ours(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from ours(inner)


class Heard:
    """The updates of one call, one after the other."""

    def __init__(self, http, seen):
        self.http, self.seen, self.task = http, seen, None

    async def take(self, update):
        """One thing the hub said; true when it asks."""
        seen, said = self.seen, MessageToDict(update)
        for place in ours(said):
            seen.lost(place.get("losses", []))
            if "fault" in place:
                seen.fault = place["fault"]["kind"]
        if update.HasField("message"):
            await self.parts(said["message"].get("parts", []))
            return False
        if update.HasField("artifact_update"):
            seen.pieces.append(json.dumps(said["artifactUpdate"]))
            await self.artifact(said["artifactUpdate"]["artifact"])
            return False
        if update.HasField("task"):
            self.task, seen.task = update.task, update.task.id
            for artifact in said["task"].get("artifacts", []):
                await self.artifact(artifact)
            status = said["task"]["status"]
        else:
            seen.pieces.append(json.dumps(said["statusUpdate"]))
            status = said["statusUpdate"]["status"]
        state = status["state"]
        seen.outcome, seen.unsure = ENDS.get(state, "completed"), state not in ENDS and state != "TASK_STATE_COMPLETED"
        if state == "TASK_STATE_INPUT_REQUIRED":
            seen.question = "".join(part.get("text", "") for part in status["message"]["parts"])
            return True
        await self.parts(status.get("message", {}).get("parts", []))
        return False

    async def artifact(self, artifact):
        self.seen.names.append(artifact.get("name", artifact["artifactId"]))
        await self.parts(artifact["parts"])

    async def parts(self, parts):
        for part in parts:
            beside = part.get("metadata", {}).get(OURS, {})
            self.seen.names += [said for said in (part.get("filename"), beside.get("label"), beside.get("uri")) if said]
            if "text" in part:
                self.seen.texts.append(part["text"])
            elif "data" in part:
                self.seen.data.append(part["data"])
            elif "raw" in part:
                self.seen.blob(part["raw"])
            elif part.get("url", "").startswith(HUB):
                self.seen.blob((await self.http.get(part["url"])).content)


class Caller:
    def __init__(self, http):
        self.http, self.clients, self.tasks = http, {}, {}

    async def client(self, where, streaming):
        """Of the peer's own card, or of the hub's."""
        if (where, streaming) not in self.clients:
            card = await A2ACardResolver(self.http, where).get_agent_card()
            kept = [one for one in card.supported_interfaces if one.protocol_binding == "JSONRPC" and one.protocol_version == "1.0"]
            del card.supported_interfaces[:]
            card.supported_interfaces.extend(kept)
            config = ClientConfig(streaming=streaming, httpx_client=self.http, supported_protocol_bindings=["JSONRPC"])
            self.clients[where, streaming] = ClientFactory(config).create(card)
        return self.clients[where, streaming]

    def request(self, command, words, task=None):
        hints = {}
        parts = [new_text_part(words)]
        if not command["agent"] and task is None:
            hints["skill"] = f"{command['peer']}/{command['skill']}"
            parts = [new_data_part(command["arguments"])]
        if command.get("deadline"):
            hints["deadline"] = command["deadline"]
        message = new_message(parts, role=Role.ROLE_USER)
        message.message_id = command.get("key") or str(uuid.uuid4())
        if task is not None:
            message.message_id += "-answer"
            message.task_id, message.context_id = task.id, task.context_id
        if hints:
            message.metadata.CopyFrom(ParseDict({OURS: hints}, Struct()))
        return SendMessageRequest(message=message, configuration=SendMessageConfiguration())

    async def call(self, command, seen):
        where = f"{HUB}/agents/{command['peer']}" if command["agent"] else HUB
        client = await self.client(where, command["stream"])
        heard = Heard(self.http, seen)
        try:
            asks = await self.follow(command, client, heard, self.request(command, command["words"]))
            if asks and command.get("answer"):
                await self.follow(command, client, heard, self.request(command, command["answer"], heard.task))
        except Exception as error:
            # What the hub refuses is raised by the SDK under its own name, with what the hub calls it beside.
            reason = (getattr(error, "data", None) or {}).get("reason", "").lower()
            seen.outcome, seen.fault, seen.unsure = "failed", f"{type(error).__name__} ({reason}): {error}", True
        finally:
            # Whoever waits to cancel it need not wait any longer.
            self.tasks.setdefault(command["id"], None)

    async def follow(self, command, client, heard, request):
        asks = False
        async for update in client.send_message(request):
            asks = await heard.take(update)
            if heard.task is not None:
                self.tasks[command["id"]] = (client, heard.task.id)
        return asks

    async def give_up(self, number):
        while number not in self.tasks:
            await asyncio.sleep(0.01)
        if self.tasks[number] is not None:
            client, task = self.tasks[number]
            await client.cancel_task(CancelTaskRequest(id=task))


async def main():
    async with httpx.AsyncClient(timeout=170, headers=SHOWN) as http:
        caller = Caller(http)
        await serve(caller.call, caller.give_up)


asyncio.run(main())
