"""Commands on standard input and what came of them on standard output, each a line of JSON, many at a time.

A command is `{"id": N, …}` for a call, or `{"cancel": N}` for the caller's own way to give up the call of that id. What
comes back is `{"id": N, "seen": …}`; see `Seen`.
"""

import asyncio
import base64
import json
import sys
import traceback


class Seen:
    """What a caller saw of one call, in words that fit every protocol."""

    def __init__(self):
        self.outcome = "completed"
        self.fault = None
        # It may have ended otherwise: the line broke, or a library raised an error and told no outcome.
        self.unsure = False
        self.task = None
        self.question = None
        # What came before the end, each as it was told.
        self.pieces = []
        self.texts, self.data, self.blobs, self.names, self.losses = [], [], [], [], []

    def blob(self, content):
        """Bytes, or what stands for them in base64."""
        if isinstance(content, bytes):
            content = base64.b64encode(content).decode()
        self.blobs.append(content)

    def lost(self, losses):
        self.losses += [f"{loss['what']} {loss['kind']}" for loss in losses]


class Calls:
    def __init__(self, call, give_up=None):
        self.call, self.give_up, self.running, self.given_up = call, give_up, {}, set()

    async def run(self, command):
        seen = Seen()
        try:
            await self.call(command, seen)
        except asyncio.CancelledError:
            seen.outcome = "left"
        except Exception:  # whatever it is, it is what this caller saw
            seen.outcome, seen.fault, seen.unsure = "broken", traceback.format_exc(), True
        print(json.dumps({"id": command["id"], "seen": vars(seen)}), flush=True)
        self.running.pop(command["id"], None)

    async def take(self, command):
        if "cancel" not in command:
            self.running[command["id"]] = asyncio.create_task(self.run(command))
            # It begins: one that is cancelled before that would end without a word.
            await asyncio.sleep(0)
        elif command["cancel"] in self.running:
            if self.give_up is None:
                self.running[command["cancel"]].cancel()
            else:
                # Beside the next commands: it may have to wait until the hub has told what to cancel.
                self.given_up.add(asyncio.create_task(self.give_up(command["cancel"])))


async def serve(call, give_up=None):
    """Plays commands until standard input ends."""
    calls = Calls(call, give_up)
    reader = asyncio.StreamReader(limit=16 * 1024 * 1024)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    print(json.dumps({"ready": True}), flush=True)
    while line := await reader.readline():
        await calls.take(json.loads(line))
