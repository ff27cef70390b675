"""The NLWeb reference server with providers that play the scene the question's first word names.

    nlweb_site.py HOST:PORT
"""

import asyncio
import os
import pathlib
import sys
import tempfile

from aiohttp import web
from nlweb_core.config import initialize_config
from nlweb_core.handler import DefaultAskHandler
from nlweb_core.retrieved_item import RetrievedItem
from nlweb_core.retriever import ObjectLookupProvider, RetrievalProvider
from nlweb_core.scoring import ScoringLLMProvider
from scenes import ANSWER, FAILURE, LONG, QUESTION, SLOW

ITEMS = {}


class Retrieval(RetrievalProvider):
    def __init__(self, **options):
        pass

    async def search(self, query, site, num_results=50, **options):
        scene = query.split(" ")[0]
        if scene == "failure":
            raise RuntimeError(FAILURE)
        if scene == "slow":
            await asyncio.sleep(SLOW)
        text = {"answer": ANSWER, "large": LONG}.get(scene, f"heard {query}")
        url = f"https://matrix.example/{scene}"
        ITEMS[url] = {"@type": "Article", "name": scene, "description": text, "url": url}
        return [RetrievedItem(url=url, raw_schema_object=ITEMS[url], site="matrix.example")]

    async def close(self):
        pass


class Objects(ObjectLookupProvider):
    def __init__(self, **options):
        pass

    async def get_by_id(self, object_id):
        return ITEMS.get(object_id)

    async def close(self):
        pass


class Scores(ScoringLLMProvider):
    def __init__(self, **options):
        pass

    async def score(self, questions, context, timeout=30.0, **options):
        return 90.0

    async def close(self):
        pass


async def asks(self, request):
    """The hook by which the reference server asks back."""
    if not request.query.effective_query.startswith("question"):
        return None
    return {"text": QUESTION, "questions": [{"id": "day", "text": QUESTION, "type": "text"}]}


CONFIG = """
retrieval: { default: { import_path: nlweb_site, class_name: Retrieval } }
object_storage: { default: { import_path: nlweb_site, class_name: Objects } }
scoring_model: { default: { import_path: nlweb_site, class_name: Scores } }
site_config:
  default: { import_path: nlweb_core.site_config.static_site_config, class_name: StaticSiteConfigLookup, sites: {} }
  handler: { import_path: nlweb_core.site_config.static_site_config, class_name: StaticSiteConfigLookup, sites: {} }
"""


def main():
    host, port = sys.argv[1].rsplit(":", 1)
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "config.yaml"
        config.write_text(CONFIG)
        # It makes folders where it stands.
        os.chdir(folder)
        initialize_config(config)
        DefaultAskHandler._check_elicitation = asks
        import nlweb_network.server

        web.run_app(nlweb_network.server.create_app(), host=host, port=int(port), print=None)


if __name__ == "__main__":
    main()
