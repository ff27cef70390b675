"""The NLWeb reference server, which plays the scene the question's first word names.

    nlweb_site.py HOST:PORT
"""

import asyncio
import pathlib
import sys

from scenes import ANSWER, FAILURE, LONG, QUESTION, SLOW

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
        return [{"@type": "Article", "name": scene, "description": text, "url": f"https://matrix.example/{scene}"}]


class Scores(reference.Scores):
    pass


async def asks(self, request):
    """The hook by which the reference server asks back."""
    if not request.query.effective_query.startswith("question"):
        return None
    return {"text": QUESTION, "questions": [{"id": "day", "text": QUESTION, "type": "text"}]}


if __name__ == "__main__":
    from nlweb_core.handler import DefaultAskHandler

    DefaultAskHandler._check_elicitation = asks
    host, port = sys.argv[1].rsplit(":", 1)
    reference.serve(__file__, host, int(port))
