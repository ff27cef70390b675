"""An agent on nlip-server, which plays the scene its first word names.

    uvicorn nlip_agent:app
"""

import asyncio
import base64

from nlip_sdk.nlip import NLIP_Factory, NLIP_Message
from nlip_server.server import NLIP_Session, SafeApplication, setup_server
from scenes import ANSWER, BACK_BYTES, BACK_LINK, BYTES, FAILURE, QUESTION, SLOW


class Theatre(SafeApplication):
    def create_session(self):
        return Stage()


class Stage(NLIP_Session):
    async def execute(self, msg: NLIP_Message) -> NLIP_Message:
        text = msg.extract_text() or ""
        scene = text.split(" ")[0]
        if scene == "failure":
            raise RuntimeError(FAILURE)
        if scene == "slow":
            await asyncio.sleep(SLOW)
        if scene == "large":
            reply = NLIP_Factory.create_text("Here it is.")
            reply.add_binary(base64.b64encode(BYTES).decode(), "generic", "bytes", label="picture")
            return reply
        if scene == "question":
            return NLIP_Factory.create_text(QUESTION)
        if scene == "richest":
            reply = NLIP_Factory.create_json(msg.to_dict())
            reply.add_binary(base64.b64encode(BACK_BYTES).decode(), "image", "png")
            reply.add_structured_text(BACK_LINK, "uri")
            return reply
        return NLIP_Factory.create_text(ANSWER if scene == "answer" else f"heard {text}")


app = setup_server(Theatre())
