"""Opens event streams, reads the first event of each, says how many there are, and holds them until its input ends.

    hold_streams.py PORT PATH COUNT [TOKEN]

A process of its own: descriptors are limited for each.
"""

import asyncio
import resource
import sys


async def opened(port, path, gate, shown):
    async with gate:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\na2a-version: 1.0\r\naccept: text/event-stream\r\n{shown}\r\n"
        writer.write(head.encode())
        await reader.readuntil(b"\n\n")
        return reader, writer


async def main():
    port, path, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    shown = f"authorization: Bearer {sys.argv[4]}\r\n" if sys.argv[4:] and sys.argv[4] else ""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    gate = asyncio.Semaphore(200)
    streams = await asyncio.gather(*(opened(port, path, gate, shown) for _ in range(count)))
    print(len(streams), flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
