"""A city guide as an NLIP agent, with the reference server (`pip install nlip-server`).

    uvicorn guide:app --port 9103

    peers:
      guide: { nlip: { url: "http://127.0.0.1:9103/nlip/" }, effects: reads }
"""

from nlip_sdk.nlip import NLIP_Factory, NLIP_Message
from nlip_server.server import NLIP_Session, SafeApplication, setup_server


class Guide(SafeApplication):
    def create_session(self):
        return Walk()


class Walk(NLIP_Session):
    async def execute(self, msg: NLIP_Message) -> NLIP_Message:
        asked = msg.extract_text() or ""
        if "Paris" in asked:
            return NLIP_Factory.create_text("Walk along the Canal Saint-Martin early in the morning.")
        return NLIP_Factory.create_text("I only know Paris.")


app = setup_server(Guide())
