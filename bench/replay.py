"""Sends so many requests a second, says READY, and goes on until its input ends; then one line of JSON says what was sent.

    replay.py PORT KIND RATE [TOKEN]

`hostile`: every seed of every fuzz target at every door of the hub, posted, in frames of a WebSocket and as a message of gRPC.
`small`: valid messages of a hundred bytes. `sized`: valid messages, each as large as one of the seeds, and each as often as that seed.
They come in a random order, so that a short run has its share of all of them. Every request has a connection of its own, and who sends
does not wait for its answer before the next.
"""

import asyncio
import base64
import json
import os
import pathlib
import random
import struct
import sys

SEEDS = pathlib.Path(__file__).parent.parent / "fixtures" / "fuzz"
POSTED = [
    ("/nlip", "application/json"),
    ("/nlip", "application/cbor"),
    ("/mcp", "application/json"),
    ("/a2a", "application/json"),
    ("/a2a/message:send", "application/a2a+json"),
    ("/ask", "application/json"),
    ("/api/exchanges", "application/json"),
    ("/nlip/route", "application/json"),
    ("/await", "application/json"),
]
SOCKETS = [("/nlip/ws", 2), ("/nlip/ws/text", 1), ("/ws", 1), ("/aip/ws", 1)]
CALLS = ["/lf.a2a.v1.A2AService/SendMessage", "/lf.a2a.v1.A2AService/ListTasks"]
# What one stream of HTTP/2 may send before it is allowed more.
WINDOW = 65_535
AT_ONCE, PATIENCE = 64, 10
TOKEN = sys.argv[4] if len(sys.argv) > 4 else ""
SHOWN = f"authorization: Bearer {TOKEN}\r\n" if TOKEN else ""


def posted(host, path, media, body):
    head = (
        f"POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: {media}\r\naccept: application/json, text/event-stream\r\n"
        f"connection: close\r\ncontent-length: {len(body)}\r\n{SHOWN}\r\n"
    )
    return head.encode() + body


def framed(host, path, opcode, body):
    """A handshake and one frame behind it, masked with nothing."""
    key = base64.b64encode(os.urandom(16)).decode()
    head = (
        f"GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
        f"sec-websocket-version: 13\r\nsec-websocket-key: {key}\r\n{SHOWN}\r\n"
    )
    size = len(body)
    length = bytes([0x80 | size]) if size < 126 else struct.pack(">BH", 0xFE, size) if size < 65_536 else struct.pack(">BQ", 0xFF, size)
    close = bytes([0x88, 0x80, 0, 0, 0, 0])
    return head.encode() + bytes([0x80 | opcode]) + length + bytes(4) + body + close


def called(host, path, body):
    """A call over HTTP/2 whose headers stand as they are: no table, no compression."""
    body = body[: WINDOW - 5]
    message = bytes([0]) + struct.pack(">I", len(body)) + body
    fields = {
        ":method": "POST", ":scheme": "http", ":path": path, ":authority": host,
        "content-type": "application/grpc", "te": "trailers", "a2a-version": "1.0",
        **({"authorization": f"Bearer {TOKEN}"} if TOKEN else {}),
    }  # fmt: skip
    head = b"".join(b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode() for name, value in fields.items())
    pieces = [message[at : at + 16_384] for at in range(0, len(message), 16_384)]
    data = b"".join(frame(0, int(piece is pieces[-1]), 1, piece) for piece in pieces)
    return b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") + frame(1, 4, 1, head) + data


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def seeds():
    return [file.read_bytes() for file in sorted(SEEDS.rglob("*")) if file.is_file()]


def valid(size):
    head, tail = b'{"format":"text","subformat":"english","content":"', b'"}'
    return head + b"x" * max(1, size - len(head) - len(tail)) + tail


def requests(kind, host):
    if kind == "small":
        return [posted(host, "/nlip", "application/json", valid(100))]
    if kind == "sized":
        sized = [posted(host, "/nlip", "application/json", valid(len(seed))) for seed in seeds()]
        random.shuffle(sized)
        return sized
    hostile = []
    for seed in seeds():
        hostile += [posted(host, *door, seed) for door in POSTED]
        hostile += [framed(host, *door, seed) for door in SOCKETS]
        hostile += [called(host, path, seed) for path in CALLS]
    random.shuffle(hostile)
    return hostile


class Sender:
    def __init__(self, port):
        self.port, self.gate, self.under_way = port, asyncio.Semaphore(AT_ONCE), set()
        self.told = {"requests": 0, "bytes": 0, "unanswered": 0, "5xx": 0}

    async def send(self, request):
        try:
            async with asyncio.timeout(PATIENCE):
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.write(request)
                first = await reader.read(4096)
                self.told["unanswered"] += not first
                self.told["5xx"] += first.startswith(b"HTTP/1.1 5")
                writer.close()
        except (OSError, TimeoutError):
            self.told["unanswered"] += 1
        finally:
            self.gate.release()

    async def run(self, requests, rate, over):
        clock = asyncio.get_running_loop().time
        due, turn = clock(), 0
        while not over.done():
            request = requests[turn % len(requests)]
            turn += 1
            await self.gate.acquire()
            task = asyncio.create_task(self.send(request))
            self.under_way.add(task)
            task.add_done_callback(self.under_way.discard)
            self.told["requests"] += 1
            self.told["bytes"] += len(request)
            due += 1 / rate
            # Who is late does not catch up: the rate is never above the one that is wanted.
            due = max(due, clock() - 0.1)
            await asyncio.wait([over], timeout=max(0.0, due - clock()))
        await asyncio.gather(*self.under_way)


async def main():
    port, kind, rate = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    over = asyncio.ensure_future(asyncio.to_thread(sys.stdin.read))
    sender = Sender(port)
    wanted = requests(kind, f"127.0.0.1:{port}")
    print("READY", flush=True)
    begun = asyncio.get_running_loop().time()
    await sender.run(wanted, rate, over)
    print(json.dumps({**sender.told, "seconds": asyncio.get_running_loop().time() - begun}), flush=True)


asyncio.run(main())
