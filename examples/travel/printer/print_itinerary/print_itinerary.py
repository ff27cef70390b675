"""Prints: reads one JSON object, appends a page to paper.txt beside itself, and says how many pages that makes."""

import json
import pathlib
import sys

PAPER = pathlib.Path(__file__).with_name("paper.txt")

page = json.load(sys.stdin)
with PAPER.open("a") as paper:
    paper.write("\n".join([page["title"], "=" * len(page["title"]), *page["lines"]]) + "\n\f\n")
json.dump({"printed": page["title"], "pages": PAPER.read_text().count("\f")}, sys.stdout)
