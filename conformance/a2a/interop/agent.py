"""An agent on the official SDK, behaving by the first word it is told.

    agent.py HOST:PORT [BINDING:VERSION]...

The interfaces stand on its card in this order; without any, JSONRPC and HTTP+JSON of 1.0. Words: echo, work, ask, auth, slow,
fail, reject.
"""

import asyncio
import sys

from a2a.helpers import new_data_part, new_text_message, new_text_part
from host import Worded, serve


class Actor(Worded):
    def said(self, context, word, rest):
        return new_text_message(rest, context_id=context.context_id) if word == "echo" else None

    def heard(self, text):
        return f"you said {text}"

    async def play(self, word, rest, updater):
        def says(text):
            return updater.new_agent_message([new_text_part(text)])

        if word == "work":
            await updater.start_work(says("looking"))
            await updater.add_artifact([new_text_part("one ")], artifact_id="page", name="page", append=False, last_chunk=False)
            await updater.add_artifact([new_text_part(rest)], artifact_id="page", append=True, last_chunk=True)
            await updater.add_artifact([new_data_part({"rest": rest})], artifact_id="facts", name="facts", last_chunk=True)
            await updater.complete()
        elif word == "ask":
            await updater.requires_input(says("Which dates?"))
        elif word == "auth":
            await updater.requires_auth(says("Log in first"))
        elif word == "slow":
            await updater.start_work(says("this takes long"))
            await asyncio.sleep(600)
        elif word == "fail":
            await updater.failed(says("no room"))
        elif word == "reject":
            await updater.reject(says("not here"))
        else:
            await updater.complete(says(f"done: {word}"))


if __name__ == "__main__":
    address, *wanted = sys.argv[1:]
    modes = ["text/plain", "application/json"]
    asyncio.run(serve(Actor(), address, wanted or ["JSONRPC:1.0", "HTTP+JSON:1.0"], "SDK agent", modes))
