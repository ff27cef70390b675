"""A model without a mind, spoken to as OpenAI's are: for the agents and teams of the matrix. It plays the scene that it is asked for,
and without one it tells back what it is told. Who it speaks for is the name of the model.

    model.py HOST:PORT
"""

import json
import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from notes import note
from scenes import ANSWER, FAILURE, LONG, PAUSE, PIECES, QUESTION, REPORT

SCENE = re.compile(r"(answer|stream|question|failure|slow|large|artifact) please")
SAYS = {"answer": ANSWER, "stream": "".join(PIECES), "large": LONG, "artifact": REPORT}
# The member that asks and is voted for.
FIRST = "bob"


class Asked:
    """One request: who is asked, by which words, with which tools."""

    def __init__(self, body):
        self.model, self.messages = body["model"], body["messages"]
        self.tools = {tool["function"]["name"]: tool["function"]["parameters"] for tool in body.get("tools", [])}
        self.text = json.dumps(self.messages)
        found = SCENE.search(self.text)
        self.scene = found[1] if found else None

    def words(self):
        """What is to be said: the scene's, or all that the last message holds, as it came."""
        if self.scene == "question":
            return "heard Tuesday" if "Tuesday" in self.text else QUESTION
        return SAYS.get(self.scene) or json.dumps(self.messages[-1]["content"])

    def has_used_a_tool(self):
        return any(message["role"] == "tool" for message in self.messages)


def calls(name, **arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": "one", "type": "function", "function": function}
    return [({"tool_calls": [call]}, None), ({}, "tool_calls")]


def replies(asked):
    """The pieces of an answer: in a team an answer, then a vote; else the words themselves."""
    leads = asked.model in ("ann", FIRST)
    # Where nobody can be asked, the tool for it is not offered: then it asks in its answer.
    if leads and asked.scene == "question" and "Tuesday" not in asked.text and "ask_user" in asked.tools:
        return calls("ask_user", question=QUESTION)
    if leads and asked.scene == "large" and not asked.has_used_a_tool() and "toolbox__large" in asked.tools:
        return calls("toolbox__large")
    has_answered = "(your own)" in asked.text or "has been given already" in asked.text
    if "new_answer" in asked.tools and not has_answered:
        # No two answers of a team may be the same.
        return calls("new_answer", content=asked.words() if leads or not asked.scene else f"I am {asked.model}.")
    if "vote" in asked.tools:
        answered = asked.tools["vote"]["properties"]["agent_id"]["enum"]
        return calls("vote", agent_id="agent1" if "agent1" in answered else answered[0], reason="it is good")
    pieces = PIECES if asked.scene == "stream" else [asked.words()]
    return [({"content": piece}, None) for piece in pieces] + [({}, "stop")]


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.close_connection = True
        asked = Asked(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        if asked.scene == "slow":
            return self.takes_hours(asked)
        if asked.scene == "failure":
            return self.answer(400, "application/json", [json.dumps({"error": {"message": FAILURE}})])
        choices = [{"index": 0, "delta": delta, "finish_reason": reason} for delta, reason in replies(asked)]
        events = [f"data: {json.dumps({'choices': [choice]})}\n\n" for choice in choices]
        self.answer(200, "text/event-stream", [*events, "data: [DONE]\n\n"], PAUSE if asked.scene == "stream" else 0)

    def takes_hours(self, asked):
        """Nothing is said until whoever asked is gone."""
        note(f"begun {asked.model}")
        try:
            self.connection.recv(1)
        except OSError:
            pass
        note(f"closed {asked.model}")

    def answer(self, status, media, pieces, pause=0):
        self.send_response(status)
        self.send_header("content-type", media)
        self.send_header("connection", "close")
        self.end_headers()
        for piece in pieces:
            self.wfile.write(piece.encode())
            self.wfile.flush()
            time.sleep(pause)

    def log_message(self, *_):
        pass


def main():
    host, port = sys.argv[1].rsplit(":", 1)
    server = ThreadingHTTPServer((host, int(port)), Model)
    server.daemon_threads = True
    server.serve_forever()


if __name__ == "__main__":
    main()
