"""The NLWeb reference server, which plays the scene the question's first word names.

    nlweb_site.py HOST:PORT

Ours are the providers of what is found and how well it fits, and three places of its handler: `asks`, `one_by_one` and `fails`.
"""

import asyncio
import pathlib
import sys

from notes import note
from scenes import ANSWER, BYTES_AS_TEXT, FAILURE, PAUSE, PIECES, QUESTION, REPORT, SLOW

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "nlweb"))
import reference  # noqa: E402


class Retrieval(reference.Retrieval):
    async def found(self, query):
        scene = query.split(" ")[0]
        if scene == "slow":
            await takes_hours()
        text = {"answer": ANSWER, "artifact": REPORT}.get(scene, f"heard {query}")
        names = {"stream": [piece.strip() for piece in PIECES], "artifact": ["report"]}.get(scene, [scene])
        items = [
            {"@type": "Article", "name": name, "description": text, "url": f"https://matrix.example/{name}"} for name in names
        ]
        if scene == "large":
            # An item is an object of schema.org, which is JSON: bytes stand in it as an address that holds them.
            items[0].update({"@type": "MediaObject", "contentUrl": BYTES_AS_TEXT})
        return items


async def takes_hours():
    note("begun")
    try:
        await asyncio.sleep(SLOW)
    except asyncio.CancelledError:
        note("closed")
        raise


class Scores(reference.Scores):
    pass


async def asks(self, request):
    """The hook by which the reference server asks back."""
    if not request.query.effective_query.startswith("question"):
        return None
    return {"text": QUESTION, "questions": [{"id": "day", "text": QUESTION, "type": "text"}]}


async def one_by_one(self, output_method, results):
    """The hook by which the reference server sends results: as many lists as there are of them."""
    for result in results:
        await output_method({"results": [result]})
        await asyncio.sleep(PAUSE)


def fails(answers):
    """A failure in the site's own words; of an exception the reference server says only that there was one."""

    async def do(self, ask_request, output_method):
        if not ask_request.query.text.startswith("failure"):
            return await answers(self, ask_request, output_method)
        await output_method({"_meta": {"response_type": "Failure", "version": "0.54"}})
        await output_method({"error": {"code": "INTERNAL_ERROR", "message": FAILURE}})

    return do


if __name__ == "__main__":
    from nlweb_core.handler import DefaultAskHandler

    DefaultAskHandler._check_elicitation = asks
    DefaultAskHandler._send_results = one_by_one
    DefaultAskHandler.do = fails(DefaultAskHandler.do)
    host, port = sys.argv[1].rsplit(":", 1)
    reference.serve(__file__, host, int(port))
