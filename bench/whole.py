"""What the program as a whole costs: to start, to sit idle, to carry a call from one protocol to another, and to grow."""

import contextlib
import itertools
import os
import shutil
import socket
import statistics
import subprocess
import tempfile
import time

import measure
import servers

PROGRAM = os.path.join(servers.ROOT, "target/release/interlingua")
QUESTION = b'{"format":"text","subformat":"english","content":"what can you do"}'
IDLE_SECONDS = 3


def program(starts):
    """The median of so many starts, each with a fresh data directory and then once more with the same."""
    times, rss, own = {"fresh": [], "again": []}, [], []
    for _ in range(starts):
        directory = tempfile.mkdtemp(prefix="bench-start-")
        try:
            for case in times:
                with started(directory) as (process, seconds):
                    times[case].append(seconds)
                    if case == "again":
                        time.sleep(IDLE_SECONDS)
                        rss.append(measure.resident_bytes(process.pid))
                        own.append(anonymous_bytes(process.pid))
        finally:
            shutil.rmtree(directory, ignore_errors=True)
    milliseconds = {case: statistics.median(seconds) * 1000 for case, seconds in times.items()}
    memory = {"rss": statistics.median(rss), "own": statistics.median(own), "idle": IDLE_SECONDS}
    return {**milliseconds, **memory, "starts": starts, "bytes": os.path.getsize(PROGRAM), "stripped": stripped_bytes()}


def anonymous_bytes(pid):
    """Memory that is the process's alone: not the pages of the program's file that it has looked at."""
    with open(f"/proc/{pid}/status") as file:
        line = next(line for line in file if line.startswith("RssAnon"))
    return int(line.split()[1]) * 1024


def stripped_bytes():
    """The size of the program without what only debuggers and traces of a crash need."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "interlingua")
        subprocess.run(["strip", "-o", path, PROGRAM], check=True)
        return os.path.getsize(path)


@contextlib.contextmanager
def started(directory):
    """A hub without any configuration, and how long it took from its start to its first answer in full."""
    port = servers.free_port()
    command = [PROGRAM, "serve", "--listen", f"127.0.0.1:{port}", "--data", "data"]
    begun = time.perf_counter()
    process = subprocess.Popen(command, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not answered(port):
            if process.poll() is not None or time.perf_counter() - begun > 60:
                raise RuntimeError("the hub does not start")
            time.sleep(0.001)
        yield process, time.perf_counter() - begun
    finally:
        process.terminate()
        process.wait()


def answered(port):
    head = f"POST /nlip HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nConnection: close\r\n"
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
            line.sendall(head.encode() + b"Content-Length: %d\r\n\r\n" % len(QUESTION) + QUESTION)
            answer = b"".join(iter(lambda: line.recv(65536), b""))
    except OSError:
        return False
    if not answer.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(f"the first answer: {answer[:200]!r}")
    return True


# One text in, the same text out. The peers are always the same: bare servers, a second hub for A2A and NLWeb, a device in Python.
PEERS = """
peers:
  mcp_peer: {{ mcp: {{ url: "{mcp}" }}, effects: reads }}
  a2a_peer: {{ a2a: {{ url: "{a2a}", token: "{token}" }}, effects: reads }}
  nlip_peer: {{ nlip: {{ url: "{nlip}" }}, effects: reads }}
  nlweb_peer: {{ nlweb: {{ url: "{a2a}/ask", token: "{token}" }}, effects: reads }}
aip: {{ list_tools: 0s, devices: {{ aip_peer: {{ effects: reads }} }} }}
mcp: {{ search_above: 100000 }}
"""


def config(mcp, second_hub, nlip):
    """The hub between the callers and these peers. The second hub knows the first by its token: what it does not know finds no skill."""
    token = servers.TOKENS[second_hub.port]
    return PEERS.format(mcp=mcp.url("/mcp"), a2a=second_hub.url(""), nlip=nlip.url("/nlip"), token=token)


CALLERS = ["nlip", "mcp", "a2a"]
CALLEES = [*CALLERS, "aip", "nlweb"]


def skill_of(hub, peer):
    """The name of the one skill of a peer, and of the argument that takes its text."""
    for _ in range(600):
        found = [skill for skill in measure.get(hub.url("/api/skills?limit=200"))["items"] if skill["id"].startswith(f"{peer}/")]
        chosen = next((one for one in found if one["id"].split("/")[1] in ("say", "echo", "chat", "ask")), found[0] if found else None)
        if chosen:
            argument = next(name for name in ("text", "message", "query") if name in chosen["input"]["properties"])
            return chosen["id"].split("/")[1], argument
        time.sleep(0.1)
    raise RuntimeError(f"{peer} has no skill")


def asks(hub, caller, callee, request):
    """The address, the body and the headers of one call of a peer, said in the caller's protocol, and what its answer must have:
    more than a question that repeats what was said."""
    peer = f"{callee}_peer"
    skill, argument = skill_of(hub, peer)
    if caller == "nlip":
        body = (
            '{"format":"text","subformat":"english","content":"said-@N@","submessages":[{"format":"structured","subformat":"json",'
            f'"label":"interlingua-call","content":{{"skill":"{peer}/{skill}","arguments":{{"{argument}":"said-@N@"}}}}}}]}}'
        )
        return hub.url("/nlip"), body, [], '"content":"said-@N@"'
    if caller == "mcp":
        name = f"{peer}__{skill}"
        body, headers = request("tools/call", name, f'"name":"{name}","arguments":{{"{argument}":"said-@N@"}},')
        return hub.url("/mcp"), body, headers, '"text":"said-@N@"'
    said = f'"parts":[{{"data":{{"{argument}":"said-@N@"}}}}],"metadata":{{"urn:interlingua:hub:1":{{"skill":"{peer}/{skill}"}}}}'
    body = f'{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"message":{{"messageId":"bench-@N@","role":"ROLE_USER",{said}}}}}}}'
    return hub.url("/a2a"), body, ["a2a-version=1.0"], '"text":"said-@N@"'


def cross(options, request):
    """Three protocols as callers, five as callees, at 1 and 32 connections; `request` writes one of MCP."""
    # No message id is used twice: it would be answered from memory, or refused.
    results, numbers = {}, itertools.count(0, 10_000_000)
    with servers.upstream() as mcp, servers.hub("front_door: hub/echo\n") as a2a, servers.floor() as nlip:
        with servers.hub(config(mcp, a2a, nlip)) as hub, measure.device(hub.port):
            calls = {(caller, callee): asks(hub, caller, callee, request) for caller in CALLERS for callee in CALLEES}
            for _ in range(options.rounds):
                for pair, (url, body, headers, expect) in calls.items():
                    for connections in (1, 32):
                        asked = {"connections": connections, "seconds": options.seconds, "header": headers, "first": next(numbers)}
                        result = measure.load(hub, url, body, expect, **asked)
                        results.setdefault((*pair, connections), []).append(result)
                        print(f"cross {pair[0]} to {pair[1]} c={connections}: {result['p50_us']:.0f} us, CPU {result['cpu_us']:.1f} us", flush=True)
    return results


def growth(options, request):
    """One `tools/call` through hubs that know more and more skills, and more and more peers."""
    results = {}
    body, headers = request("tools/call", "peer0__say", '"name":"peer0__say","arguments":{"text":"said-@N@"},')
    for what, counts in {"skills": (1, 10, 100, 1_000, 5_000), "peers": (1, 10, 100)}.items():
        for count in counts:
            tools, peers = (count, 1) if what == "skills" else (1, count)
            with servers.upstream(tools=tools) as up, servers.hub(many(up, peers)) as hub:
                known(hub, tools * peers)
                rounds = [
                    measure.load(hub, hub.url("/mcp"), body, "said-@N@", connections=8, seconds=options.seconds, header=headers)
                    for _ in range(options.rounds)
                ]
                results[what, count] = rounds
                print(f"growth {count} {what}: CPU {rounds[-1]['cpu_us']:.1f} us, {rounds[-1]['rss'] >> 20} MiB", flush=True)
    return results


def sessions(options, opens, calls):
    """One call of each protocol through a hub that holds more and more sessions of all of them. `opens` and `calls` have, by
    protocol, the path, body, headers and expected text of what opens one, and of the call."""
    results, held = {}, 0
    with servers.hub("front_door: hub/echo\n") as hub:
        for count in (0, 1_000, 10_000):
            if count > held:
                for path, body, headers, expect in opens.values():
                    asked = {"connections": 32, "warm": 0, "seconds": 600, "requests": count - held, "first": 100_000 + held}
                    measure.load(hub, hub.url(path), body, expect, header=headers, **asked)
            held = count
            for number, (protocol, (path, body, headers, expect)) in enumerate(calls.items()):
                asked = {"connections": 8, "seconds": options.seconds, "header": headers}
                results[protocol, count] = [
                    measure.load(hub, hub.url(path), body, expect, first=(count + 1) * 1_000_000_000 + number * 100_000_000 + turn * 10_000_000, **asked)
                    for turn in range(options.rounds)
                ]
                last = results[protocol, count][-1]
                print(f"growth {count} sessions of each, {protocol}: CPU {last['cpu_us']:.1f} us, {last['rss'] >> 20} MiB", flush=True)
    return results


def many(up, peers):
    lines = [f'  peer{number}: {{ mcp: {{ url: "{up.url("/mcp")}" }}, effects: reads }}' for number in range(peers)]
    return "peers:\n" + "\n".join(lines) + "\nmcp: { search_above: 100000 }\n"


def known(hub, count):
    """Waits until the hub has listed what its peers have."""
    for _ in range(600):
        peers = measure.get(hub.url("/api/peers?limit=200"))["items"]
        if sum(peer["skills"] for peer in peers if peer["name"].startswith("peer")) >= count:
            return
        time.sleep(0.1)
    raise RuntimeError(f"the hub does not know {count} skills")
