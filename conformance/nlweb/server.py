"""The NLWeb reference server with three recipes, scored by the words they share with the question.

Usage: server.py PORT
"""

import re
import sys

import reference

RECIPES = [
    {"@type": "Recipe", "name": name, "url": f"https://recipes.example/{number}"}
    for number, name in enumerate(["Leek soup", "Spicy lentil soup", "Apple pie"])
]


class Retrieval(reference.Retrieval):
    async def found(self, query):
        return RECIPES


class Scores(reference.Scores):
    async def score(self, questions, context, timeout=30.0, **options):
        words = [set(re.findall(r"\w+", text.lower())) for text in (context.query, context.item_description or "")]
        return 90.0 if words[0] & words[1] else 10.0


if __name__ == "__main__":
    reference.serve(__file__, "127.0.0.1", int(sys.argv[1]))
