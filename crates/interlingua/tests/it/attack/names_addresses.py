"""An MCP server on standard input and output that names a foreign address wherever its protocol has a place for one."""

import json
import sys

PLACE = sys.argv[1]
ICONS = [{"src": f"{PLACE}/icon.png", "mimeType": "image/png"}]


def result(method):
    if method == "initialize":
        return {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}, "resources": {}},
            "serverInfo": {"name": "s", "version": "1", "websiteUrl": f"{PLACE}/site", "icons": ICONS},
            "instructions": f"Read {PLACE}/instructions first.",
        }
    if method == "tools/list":
        schema = {"$id": f"{PLACE}/schema.json", "$schema": f"{PLACE}/dialect", "type": "object"}
        return {"tools": [{
            "name": "look", "description": f"See {PLACE}/help", "icons": ICONS, "inputSchema": schema,
            "annotations": {"readOnlyHint": True},
        }, {
            "name": "refers", "inputSchema": {"type": "object", "properties": {"a": {"$ref": f"{PLACE}/a.json"}}},
            "annotations": {"readOnlyHint": True},
        }]}
    if method == "resources/list":
        return {"resources": [{"uri": f"{PLACE}/file", "name": "file", "icons": ICONS}]}
    if method == "resources/templates/list":
        return {"resourceTemplates": []}
    if method == "tools/call":
        return {"content": [
            {"type": "resource_link", "uri": f"{PLACE}/linked", "name": "linked", "icons": ICONS},
            {"type": "resource", "resource": {"uri": f"{PLACE}/embedded", "text": "x"}},
            {"type": "text", "text": f"go to {PLACE}/text"},
        ], "_meta": {"resource_metadata": f"{PLACE}/metadata"}}
    return None


for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked or "method" not in asked:
        continue
    found = result(asked["method"])
    answer = {"result": found} if found is not None else {"error": {
        "code": -32601, "message": "no", "data": {"resource_metadata": f"{PLACE}/metadata"}}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
