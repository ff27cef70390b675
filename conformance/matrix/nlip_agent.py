"""An agent on nlip-server, which plays the scene its first word names.

    uvicorn nlip_agent:app
"""

import asyncio
import base64

from nlip_sdk.nlip import NLIP_Factory, NLIP_Message
from nlip_server.server import NLIP_Session, SafeApplication, setup_server
from notes import note
from scenes import ANSWER, BACK_BYTES, BACK_LINK, BYTES, FAILURE, PIECES, QUESTION, REPORT, SLOW


class Theatre(SafeApplication):
    def create_session(self):
        return Stage()


def failed(text):
    """A failure as ECMA-432 clause 11 shows it: the type of the message says so, its text says why."""
    return NLIP_Factory.create_text(text, messagetype="error")


class Stage(NLIP_Session):
    async def execute(self, msg: NLIP_Message) -> NLIP_Message:
        text = msg.extract_text() or ""
        scene = text.split(" ")[0]
        if scene == "failure":
            return failed(FAILURE)
        if scene == "slow":
            note("begun")
            await asyncio.sleep(SLOW)
        if scene == "large":
            reply = NLIP_Factory.create_text("Here it is.")
            reply.add_binary(base64.b64encode(BYTES).decode(), "generic", "bytes", label="picture")
            return reply
        if scene == "question":
            return NLIP_Factory.create_text(QUESTION)
        if scene == "artifact":
            reply = NLIP_Factory.create_text("Here it is.")
            reply.add_text(REPORT, label="report")
            return reply
        if scene == "richest":
            reply = NLIP_Factory.create_json(msg.to_dict())
            reply.add_binary(base64.b64encode(BACK_BYTES).decode(), "image", "png")
            reply.add_structured_text(BACK_LINK, "uri")
            return reply
        says = {"answer": ANSWER, "stream": "".join(PIECES)}
        return NLIP_Factory.create_text(says.get(scene, f"heard {text}"))


class Watched:
    """Notes that a caller went away before it was answered: the server itself does not tell its application."""

    def __init__(self, inner):
        self.inner = inner

    async def __call__(self, scope, receive, send):
        answered = asyncio.Event()
        watching = set()

        async def until_closed():
            while (await receive())["type"] != "http.disconnect":
                pass
            if not answered.is_set():
                note("closed")

        async def hear():
            message = await receive()
            if message["type"] == "http.request" and not message.get("more_body"):
                watching.add(asyncio.create_task(until_closed()))
            return message

        async def say(message):
            answered.set()
            await send(message)

        if scope["type"] != "http":
            return await self.inner(scope, receive, send)
        return await self.inner(scope, hear, say)


app = Watched(setup_server(Theatre()))
