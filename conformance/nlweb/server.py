"""The NLWeb reference server with stubs for its providers: three recipes, scored by the words they share with the question.

Usage: server.py PORT
"""

import os
import pathlib
import re
import sys
import tempfile

from aiohttp import web
from nlweb_core.config import initialize_config
from nlweb_core.retrieved_item import RetrievedItem
from nlweb_core.retriever import ObjectLookupProvider, RetrievalProvider
from nlweb_core.scoring import ScoringLLMProvider

RECIPES = {
    f"https://recipes.example/{number}": {"@type": "Recipe", "name": name, "url": f"https://recipes.example/{number}"}
    for number, name in enumerate(["Leek soup", "Spicy lentil soup", "Apple pie"])
}


class Retrieval(RetrievalProvider):
    def __init__(self, **options):
        pass

    async def search(self, query, site, num_results=50, **options):
        return [RetrievedItem(url=url, raw_schema_object=recipe, site="recipes.example") for url, recipe in RECIPES.items()]

    async def close(self):
        pass


class Objects(ObjectLookupProvider):
    def __init__(self, **options):
        pass

    async def get_by_id(self, object_id):
        return RECIPES.get(object_id)

    async def close(self):
        pass


class Scores(ScoringLLMProvider):
    def __init__(self, **options):
        pass

    async def score(self, questions, context, timeout=30.0, **options):
        words = [set(re.findall(r"\w+", text.lower())) for text in (context.query, context.item_description or "")]
        return 90.0 if words[0] & words[1] else 10.0

    async def close(self):
        pass


CONFIG = """
retrieval: { default: { import_path: server, class_name: Retrieval } }
object_storage: { default: { import_path: server, class_name: Objects } }
scoring_model: { default: { import_path: server, class_name: Scores } }
site_config:
  default: { import_path: nlweb_core.site_config.static_site_config, class_name: StaticSiteConfigLookup, sites: {} }
  handler: { import_path: nlweb_core.site_config.static_site_config, class_name: StaticSiteConfigLookup, sites: {} }
"""


def main():
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "config.yaml").write_text(CONFIG)
    # It makes folders where it stands.
    os.chdir(folder)
    initialize_config(folder / "config.yaml")
    import nlweb_network.server

    web.run_app(nlweb_network.server.create_app(), host="127.0.0.1", port=int(sys.argv[1]), print=None)


if __name__ == "__main__":
    main()
