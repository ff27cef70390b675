#!/usr/bin/env python3
"""A hook that converts calls and results: callers speak of degrees Fahrenheit, the tool of degrees Celsius.

It reads one JSON object and writes one. A hub asks it twice when its configuration says so:
  hooks:
    to_celsius: { before: dispatch, command: [./examples/hooks/fahrenheit.py], skills: ["local/oven"] }
    to_fahrenheit: { after: dispatch, command: [./examples/hooks/fahrenheit.py], skills: ["local/oven"] }
"""

import json
import sys

told = json.load(sys.stdin)
if "before" in told:
    degrees = told.get("arguments", {}).get("degrees")
    if isinstance(degrees, (int, float)):
        json.dump({"arguments": {**told["arguments"], "degrees": round((degrees - 32) * 5 / 9)}}, sys.stdout)
elif told.get("outcome") == "completed":
    result = told.get("result")
    if isinstance(result, dict) and isinstance(result.get("degrees"), (int, float)):
        json.dump({"result": {**result, "degrees": round(result["degrees"] * 9 / 5 + 32)}}, sys.stdout)
