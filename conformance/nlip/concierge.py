"""An upstream peer made with nlip-server 0.1.3: answers with a fresh message, gives out its own tokens, remembers what it was sent.

    uvicorn concierge:app

`GET /seen` lists the messages as the reference model read them, oldest first, for a test to inspect.
A text that asks for a failure makes the application raise, which nlip-server turns into a 400 with the exception's text.
"""

from collections import deque

from nlip_sdk.nlip import NLIP_Factory, NLIP_Message, NLIP_SubMessage
from nlip_server.server import NLIP_Session, SafeApplication, setup_server

SEEN = deque(maxlen=100_000)


class Concierge(SafeApplication):
    def create_session(self):
        return Desk()


class Desk(NLIP_Session):
    async def execute(self, msg: NLIP_Message) -> NLIP_Message:
        SEEN.append(msg.to_dict())
        text = msg.extract_text() or "nothing"
        if "please fail" in text:
            raise RuntimeError("secret detail of the concierge")
        reply = NLIP_Factory.create_text(f"The concierge heard: {text}")
        for kind, content in (("conversation_concierge", f"desk-{len(SEEN)}"), ("authentication", "badge-of-the-concierge")):
            reply.add_submessage(NLIP_SubMessage(format="token", subformat=kind, content=content))
        return reply


app = setup_server(Concierge())


@app.get("/seen")
async def seen():
    return list(SEEN)
