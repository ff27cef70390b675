"""The NLWeb reference server with stubs for its providers. A program that serves it says what is found, and how well it fits."""

import os
import pathlib
import sys
import tempfile

from aiohttp import web
from nlweb_core.config import initialize_config
from nlweb_core.retrieved_item import RetrievedItem
from nlweb_core.retriever import ObjectLookupProvider, RetrievalProvider
from nlweb_core.scoring import ScoringLLMProvider

ITEMS = {}


class Fixed:
    """What every provider has."""

    def __init__(self, **options):
        pass

    async def close(self):
        pass


class Retrieval(Fixed, RetrievalProvider):
    """Finds what `found` gives: objects with an address, which are remembered."""

    async def search(self, query, site, num_results=50, **options):
        objects = await self.found(query)
        ITEMS.update({item["url"]: item for item in objects})
        return [RetrievedItem(url=item["url"], raw_schema_object=item, site=item["url"].split("/")[2]) for item in objects]


class Objects(Fixed, ObjectLookupProvider):
    async def get_by_id(self, object_id):
        return ITEMS.get(object_id)


class Scores(Fixed, ScoringLLMProvider):
    async def score(self, questions, context, timeout=30.0, **options):
        return 90.0


CONFIG = """
retrieval: { default: { import_path: MODULE, class_name: Retrieval } }
object_storage: { default: { import_path: reference, class_name: Objects } }
scoring_model: { default: { import_path: MODULE, class_name: Scores } }
site_config:
  default: { import_path: nlweb_core.site_config.static_site_config, class_name: StaticSiteConfigLookup, sites: {} }
  handler: { import_path: nlweb_core.site_config.static_site_config, class_name: StaticSiteConfigLookup, sites: {} }
"""


def serve(program, host, port):
    """Serves with the `Retrieval` and the `Scores` of a program, given by its file."""
    program = pathlib.Path(program).resolve()
    sys.path.insert(0, str(program.parent))
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "config.yaml"
        config.write_text(CONFIG.replace("MODULE", program.stem))
        # It makes folders where it stands.
        os.chdir(folder)
        initialize_config(config)
        import nlweb_network.server

        # Whoever goes away is noticed: the work for them is ended.
        web.run_app(nlweb_network.server.create_app(), host=host, port=port, print=None, handler_cancellation=True)
