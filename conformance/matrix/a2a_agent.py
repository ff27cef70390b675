"""An agent on the official SDK, which plays the scene its first word names.

    a2a_agent.py HOST:PORT
"""

import asyncio
import json
import pathlib
import sys

from a2a.helpers import new_raw_part, new_text_message, new_text_part
from a2a.types import Part
from google.protobuf.json_format import MessageToDict
from notes import note
from scenes import ANSWER, BACK_BYTES, BACK_LINK, BYTES, FAILURE, PAUSE, PIECES, QUESTION, REPORT, SLOW

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "a2a/interop"))
from host import Worded, serve  # noqa: E402


class Theatre(Worded):
    def said(self, context, scene, rest):
        if scene == "answer":
            return new_text_message(ANSWER, context_id=context.context_id)
        if scene != "richest":
            return None
        told = new_text_message(json.dumps(MessageToDict(context.message)), context_id=context.context_id)
        told.parts.append(new_raw_part(BACK_BYTES, media_type="image/png"))
        told.parts.append(Part(url=BACK_LINK))
        return told

    async def play(self, scene, rest, updater):
        def says(text):
            return updater.new_agent_message([new_text_part(text)])

        if scene == "stream":
            await updater.start_work(says("begun"))
            for number, piece in enumerate(PIECES):
                last = number == len(PIECES) - 1
                part = [new_text_part(piece)]
                await updater.add_artifact(part, artifact_id="song", name="song", append=number > 0, last_chunk=last)
                await asyncio.sleep(PAUSE)
            await updater.complete()
        elif scene == "question":
            await updater.requires_input(says(QUESTION))
        elif scene == "failure":
            await updater.failed(says(FAILURE))
        elif scene == "slow":
            await updater.start_work(says("this takes long"))
            note("begun")
            await asyncio.sleep(SLOW)
        elif scene == "large":
            await self.gives(updater, "picture", new_raw_part(BYTES, media_type="image/png"))
        elif scene == "artifact":
            await self.gives(updater, "report", new_text_part(REPORT))
        else:
            await updater.complete(says(f"heard {scene}"))

    async def cancel(self, context, event_queue):
        note("cancelled")
        await super().cancel(context, event_queue)

    async def gives(self, updater, name, part):
        await updater.add_artifact([part], artifact_id=name, name=name, last_chunk=True)
        await updater.complete()


if __name__ == "__main__":
    modes = ["text/plain", "application/json", "image/png"]
    asyncio.run(serve(Theatre(), sys.argv[1], ["JSONRPC:1.0"], "Theatre", modes))
