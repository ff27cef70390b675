"""A model that tells back what it is told, spoken to as OpenAI's are: for agents and teams of the matrix.

    model.py HOST:PORT
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def last_words(messages):
    """All that the last message holds, as it came; an agent of a team is told of answers in the same one."""
    return json.dumps(messages[-1]["content"])


def replies(asked):
    """The pieces of an answer: in a team an answer, then a vote; else the words themselves."""
    heard = last_words(asked["messages"])
    tools = {tool["function"]["name"] for tool in asked.get("tools", [])}

    def calls(name, **arguments):
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"index": 0, "id": "one", "type": "function", "function": function}
        return [({"tool_calls": [call]}, None), ({}, "tool_calls")]

    if "vote" in tools and "(your own)" in json.dumps(asked["messages"]):
        return calls("vote", agent_id="agent1", reason="mine")
    if "new_answer" in tools:
        return calls("new_answer", content=heard)
    return [({"content": heard}, None), ({}, "stop")]


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for delta, reason in replies(asked):
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            self.wfile.write(b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def log_message(self, *_):
        pass


def main():
    host, port = sys.argv[1].rsplit(":", 1)
    ThreadingHTTPServer((host, int(port)), Model).serve_forever()


if __name__ == "__main__":
    main()
