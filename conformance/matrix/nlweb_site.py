"""The NLWeb reference server, which plays the scene the question's first word names.

    nlweb_site.py HOST:PORT
"""

import asyncio
import pathlib
import sys

from scenes import ANSWER, FAILURE, LONG, PIECES, QUESTION, SLOW

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "nlweb"))
import reference  # noqa: E402


class Retrieval(reference.Retrieval):
    async def found(self, query):
        scene = query.split(" ")[0]
        if scene == "failure":
            raise RuntimeError(FAILURE)
        if scene == "slow":
            await asyncio.sleep(SLOW)
        text = {"answer": ANSWER, "large": LONG}.get(scene, f"heard {query}")
        names = [piece.strip() for piece in PIECES] if scene == "stream" else [scene]
        return [
            {"@type": "Article", "name": name, "description": text, "url": f"https://matrix.example/{name}"} for name in names
        ]


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


if __name__ == "__main__":
    from nlweb_core.handler import DefaultAskHandler

    DefaultAskHandler._check_elicitation = asks
    DefaultAskHandler._send_results = one_by_one
    host, port = sys.argv[1].rsplit(":", 1)
    reference.serve(__file__, host, int(port))
