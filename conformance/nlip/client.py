"""Talks to an NLIP server with the reference SDK's own message classes and prints one line for each check.

    [INTERLINGUA_TOKEN=…] client.py http://127.0.0.1:7447/nlip [--common] [--only NAME]...

`common` checks hold for the reference server (nlip-server 0.1.3) as well, which is how this program is tried out itself;
`strict` checks are what ECMA-430 to 432 ask beyond it. Exit status 1 when a check fails.
"""

import argparse
import base64
import hashlib
import os
import sys
import traceback

import cbor2
import httpx
from nlip_sdk.nlip import NLIP_Factory, NLIP_Message
from websockets.sync.client import connect

COMMON, STRICT = [], []


def common(check):
    COMMON.append(check)
    return check


def strict(check):
    STRICT.append(check)
    return check


class Server:
    """The server under test: an HTTP client and the addresses of its WebSocket end-points."""

    def __init__(self, url):
        self.url = url
        token = os.environ.get("INTERLINGUA_TOKEN")
        self.shown = {"authorization": f"Bearer {token}"} if token else {}
        self.http = httpx.Client(timeout=30, follow_redirects=False, headers=self.shown)

    def send(self, message):
        """Posts an SDK message and parses the answer with the SDK's own model."""
        answer = self.http.post(self.url, json=message.to_dict())
        assert answer.status_code == 200, f"status {answer.status_code}: {answer.text[:300]}"
        return NLIP_Message.model_validate(answer.json())

    def websocket(self, path):
        base = self.url.replace("http", "ws", 1).rstrip("/")
        return connect(base + path, open_timeout=30, max_size=None, additional_headers=self.shown)


def tokens(message):
    """Every token of a message as (subformat, content), in order."""
    return [(part.subformat, part.content) for part in message.submessages or [] if part.format.value == "token"]


def greeting():
    return NLIP_Factory.create_text("hello there")


@common
def text_is_answered(server):
    reply = server.send(greeting())
    assert reply.format and reply.subformat, reply


@common
def conversation_token_is_echoed(server):
    message = greeting()
    message.add_conversation_token("token-of-the-sdk")
    assert server.send(message).extract_conversation_token() == "token-of-the-sdk"


@common
def every_kind_the_sdk_makes_is_answered(server):
    pixel = base64.b64encode(b"\x89PNG\r\n").decode()
    for message in [
        NLIP_Factory.create_json({"city": "Madrid", "nights": 3}),
        NLIP_Factory.create_structured("https://example.test/a", "uri"),
        NLIP_Factory.create_location_text("Calle Mayor 1, Madrid"),
        NLIP_Factory.create_location_gps("40.4168,-3.7038"),
        NLIP_Factory.create_generic("anything", "my-extension"),
        NLIP_Factory.create_image(pixel.encode(), "png"),
        NLIP_Factory.create_control("hello"),
    ]:
        server.send(message)


@common
def submessages_of_the_sdk_are_understood(server):
    message = greeting()
    message.add_text("a second part", label="note")
    message.add_json({"a": [1, 2, 3]})
    message.add_conversation_token("kept")
    assert ("conversation", "kept") in tokens(server.send(message))


@common
def malformed_bodies_are_refused(server):
    for body in [b"", b"{", b"[]", b'{"format":"text"}']:
        answer = server.http.post(server.url, content=body, headers={"content-type": "application/json"})
        assert 400 <= answer.status_code < 500, f"{body!r}: {answer.status_code}"


@strict
def posting_without_the_slash_is_not_redirected(server):
    plain = server.url.rstrip("/")
    for url in (plain, plain + "/"):
        answer = server.http.post(url, json=greeting().to_dict())
        assert answer.status_code == 200, f"{url}: {answer.status_code}"


@strict
def answers_carry_no_null_and_lower_case_keys(server):
    body = server.http.post(server.url, json=greeting().to_dict()).json()
    assert all(value is not None for value in body.values()), body
    assert all(key == key.lower() for key in body), body


@strict
def every_token_comes_back_unaltered(server):
    sent = [("conversation", "a"), ("conversation_alice", "b"), ("authentication", "c"), ("group_7", "d")]
    body = greeting().to_dict()
    body["submessages"] = [{"format": "token", "subformat": kind, "content": content} for kind, content in sent]
    reply = NLIP_Message.model_validate(server.http.post(server.url, json=body).json())
    missing = [token for token in sent if token not in tokens(reply)]
    assert not missing, f"missing {missing} in {tokens(reply)}"


@strict
def control_is_answered_by_control(server):
    assert server.send(NLIP_Factory.create_control("hello")).is_control_msg()


@strict
def refusals_are_messages_the_sdk_can_read(server):
    answer = server.http.post(server.url, content=b"{", headers={"content-type": "application/json"})
    reply = NLIP_Message.model_validate(answer.json())
    assert reply.messagetype == "error" and reply.extract_text(), reply


@strict
def an_upload_is_stored_as_sent(server):
    reply = server.send(NLIP_Factory.create_control("Where can I upload a large file?"))
    links = reply.extract_field_list("structured", "uri")
    assert links, f"no link in {reply}"
    content = bytes(range(256)) * 4096
    answer = server.http.put(links[0], content=content, headers={"content-type": "application/octet-stream"})
    assert answer.status_code in (200, 201), f"{answer.status_code}: {answer.text[:300]}"
    assert hashlib.sha256(content).hexdigest() in answer.text.lower(), answer.text[:300]


@strict
def cbor_over_websocket(server):
    with server.websocket("/ws") as socket:
        for number in range(3):
            message = greeting().to_dict()
            message["submessages"] = [
                {"format": "token", "subformat": "conversation", "content": f"turn-{number}"},
                {"format": "binary", "subformat": "generic/bytes", "content": bytes(range(256))},
            ]
            socket.send(cbor2.dumps(message))
            reply = socket.recv(timeout=30)
            assert isinstance(reply, bytes), reply
            parts = cbor2.loads(reply).get("submessages", [])
            assert any(part["content"] == f"turn-{number}" for part in parts), parts


@strict
def json_over_websocket(server):
    with server.websocket("/ws/text") as socket:
        message = greeting()
        message.add_conversation_token("over-text")
        socket.send(message.to_json())
        reply = socket.recv(timeout=30)
        assert isinstance(reply, str), reply
        assert NLIP_Message.model_validate_json(reply).extract_conversation_token() == "over-text"


@strict
def the_sdk_reads_lists_of_skills_and_losses(server):
    skills = server.send(NLIP_Factory.create_text("what can you do"))
    listed = [part.content for part in skills.submessages if part.label == "interlingua-skills"]
    assert listed and listed[0]["skills"], skills
    question = NLIP_Factory.create_text("what is there?")
    call = {"skill": "local/list_directory", "arguments": {"path": "."}}
    question.add_json(call, label="interlingua-call")
    answer = server.send(question)
    told = [part.content for part in answer.submessages if part.label == "interlingua-losses"]
    assert told and told[0]["losses"], answer


@strict
def bad_cbor_is_answered_by_an_error_message(server):
    with server.websocket("/ws") as socket:
        socket.send(b"\xff")
        reply = socket.recv(timeout=30)
        assert isinstance(reply, bytes), f"a text frame on a CBOR socket: {reply}"
        body = cbor2.loads(reply)
        assert body["messagetype"].lower() == "error", body


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("url")
    options.add_argument("--common", action="store_true", help="leave out what the reference server does not do")
    options.add_argument("--only", action="append", metavar="NAME")
    chosen = options.parse_args()

    checks = COMMON if chosen.common else COMMON + STRICT
    if chosen.only:
        checks = [check for check in checks if check.__name__ in chosen.only]
        assert len(checks) == len(chosen.only), f"no such check among {chosen.only}"
    server, failed = Server(chosen.url), 0
    for check in checks:
        try:
            check(server)
            print(f"ok      {check.__name__}")
        except Exception:
            failed += 1
            print(f"FAILED  {check.__name__}")
            traceback.print_exc(file=sys.stdout)
    print(f"{len(checks) - failed} of {len(checks)} checks hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
