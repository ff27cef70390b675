"""Measures the hub beside a bare echo server (the floor) and nlip-server, between an MCP client and an MCP server beside other
proxies, as an A2A agent beside the official SDKs, as a server of AIP devices beside a bare WebSocket and a Python server of the same
shape, with agents whose models cost nothing, and with a browser beside Playwright; writes docs/benchmarks.md.

    bench/run.py [--rounds 3] [--seconds 3] [--calls 40] [--only SECTION]... [--page FILE]
    bench/run.py --check

`--check` counts instructions and allocations of the main calls, compares them with the page, and writes nothing.

The servers of a section run side by side and are measured in turn, round after round, so that whatever else the machine does meets
all of them. Medians are reported. Processor time for each request depends least on the neighbours: trust it most.
"""

import argparse
import contextlib
import hashlib
import itertools
import statistics
import sys
import time
import traceback

import a2a_wire
import budget
import building as editing
import counts as counting
import driven
import measure
import report
import servers
import strain
import whole

SECTIONS = {}
ECHO = "front_door: hub/echo\n"
WORKSPACE = "tools: { workspace: ./workspace }\n"
WORKSPACE_FILES = {"workspace/a.txt": "a\n"}


def section(function):
    SECTIONS[function.__name__] = function
    return function


def message(size):
    """An NLIP message of about `size` bytes, whose text each of the servers says back."""
    head, tail = '{"format":"text","subformat":"english","content":"', '-end"}'
    return head + "x" * max(1, size - len(head) - len(tail)) + tail


def nlip_urls(started):
    """The address of each server's NLIP end-point; nlip-server has it with a slash only."""
    return {one: one.url("/nlip/" if one.name == "nlip-server" else "/nlip") for one in started}


def medians(rounds):
    keys = ("rps", "p50_us", "p90_us", "p99_us", "cpu_us", "rss")
    cpu = [one["cpu_us"] for one in rounds]
    return {**{key: statistics.median(one[key] for one in rounds) for key in keys}, "cpu_low": min(cpu), "cpu_high": max(cpu)}


@section
def echo(options):
    """The same small message to each, at 1 and 32 connections."""
    body, results = message(150), {}
    with servers.floor() as floor, servers.hub(ECHO) as hub, servers.reference() as reference:
        for _ in range(options.rounds):
            for connections in (1, 32):
                for server, url in nlip_urls([floor, hub, reference]).items():
                    result = measure.load(server, url, body, "-end", connections=connections, seconds=options.seconds)
                    results.setdefault((server.name, connections), []).append(result)
                    print(f"echo {server.name} c={connections}: {result['rps']:.0f}/s {result['cpu_us']:.1f} us", flush=True)
    return {key: medians(rounds) for key, rounds in results.items()}


@section
def sizes(options):
    """Messages of 100 bytes to 10 megabytes, one connection: the cost must grow with the size and no faster."""
    results = {}
    with servers.floor() as floor, servers.hub(ECHO) as hub, servers.reference() as reference:
        for size in (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000):
            for _ in range(options.rounds):
                for server, url in nlip_urls([floor, hub, reference]).items():
                    result = measure.load(server, url, message(size), "-end", connections=1, seconds=options.seconds)
                    results.setdefault((server.name, size), []).append(result)
                    print(f"size {size} {server.name}: {result['cpu_us']:.1f} us", flush=True)
    return {key: medians(rounds) for key, rounds in results.items()}


@section
def envelope(options):
    """A routing envelope with one call: of a tool that does nothing, and of one that reads a directory."""
    results = {}
    bodies = {"echo": report.ENVELOPE, "list_directory": report.LISTING}
    with servers.hub(config=WORKSPACE, files=WORKSPACE_FILES) as hub:
        url, expected = hub.url("/nlip/route"), '"status":"success"'
        for _ in range(options.rounds):
            for tool, body in bodies.items():
                for connections in (1, 32):
                    result = measure.load(hub, url, body, expected, connections=connections, seconds=options.seconds)
                    results.setdefault((tool, connections), []).append(result)
    return {key: medians(rounds) for key, rounds in results.items()}


@section
def sessions(options):
    """Memory for each idle session: each is named by one envelope request, kept, and then left alone."""
    count = 100_000
    with servers.hub(config=WORKSPACE, files=WORKSPACE_FILES) as hub:
        # The first thousand fill pools and caches that have nothing to do with the number of sessions.
        measure.load(hub, hub.url("/nlip/route"), report.SESSION, '"final":true', connections=32, warm=0, seconds=600, requests=1_000)
        before, stored = measure.resident_bytes(hub.pid), measure.stored_bytes(hub.directory)
        measure.load(
            hub, hub.url("/nlip/route"), report.SESSION, '"final":true',
            connections=32, warm=0, seconds=600, requests=count, first=1_000_000,
        )
        after, kept = measure.resident_bytes(hub.pid), measure.stored_bytes(hub.directory)
    return {"count": count, "bytes_each": (after - before) / count, "stored_each": (kept - stored) / count}


@section
def tasks(options):
    """Tasks accepted durably a second with 256 in flight, and the time of one, beside this disk's own rate of syncs."""
    body = '{"skill":"local/list_directory","arguments":{"path":"."}}'
    with servers.hub(config=WORKSPACE, files=WORKSPACE_FILES) as hub:
        disk = measure.sync_seconds(hub.directory)
        rounds = {
            connections: [
                measure.load(hub, hub.url("/api/tasks"), body, '"id"', status=202, connections=connections, seconds=options.seconds)
                for _ in range(options.rounds)
            ]
            for connections in (1, 256)
        }
    return {"sync_us": statistics.median(disk) * 1e6, **{key: medians(value) for key, value in rounds.items()}}


MCP_VERSION = "2026-07-28"


def mcp_request(method, name=None, params=""):
    """A request of revision 2026-07-28, and the headers that go with it."""
    meta = f'"io.modelcontextprotocol/protocolVersion":"{MCP_VERSION}","io.modelcontextprotocol/clientCapabilities":{{}}'
    body = f'{{"jsonrpc":"2.0","id":@N@,"method":"{method}","params":{{{params}"_meta":{{{meta}}}}}}}'
    headers = ["accept=application/json, text/event-stream", f"mcp-protocol-version={MCP_VERSION}", f"mcp-method={method}"]
    return body, headers + ([f"mcp-name={name}"] if name else [])


@section
def mcp(options):
    """`tools/call` of an echo: directly, and through what can stand in front of it."""
    body, headers = mcp_request("tools/call", "say", '"name":"say","arguments":{"text":"said-@N@"},')
    results = {}
    with (
        servers.upstream() as up,
        servers.nginx(up) as nginx,
        servers.proxy("hyper proxy", up) as bare,
        servers.proxy("hyper proxy that parses", up, "--parse") as parsing,
        servers.mcp_hub(up) as hub,
        servers.fastmcp(up) as fastmcp,
    ):
        for _ in range(options.rounds):
            for connections in (1, 32):
                for server in (up, nginx, bare, parsing, hub, fastmcp):
                    result = measure.load(
                        server, server.url("/mcp"), body, "said-@N@", connections=connections, seconds=options.seconds, header=headers
                    )
                    results.setdefault((server.name, connections), []).append(result)
                    print(f"mcp {server.name} c={connections}: {result['rps']:.0f}/s {result['cpu_us']:.1f} us", flush=True)
    return {key: medians(rounds) for key, rounds in results.items()}


@section
def mcp_sizes(options):
    """`tools/call` with more and more bytes, through a proxy that parses them and through the hub."""
    results = {}
    with servers.upstream() as up, servers.proxy("hyper proxy that parses", up, "--parse") as parsing, servers.mcp_hub(up) as hub:
        for size in (100, 1_000, 10_000, 64_000):
            text = "x" * (size - 20) + "said-@N@"
            body, headers = mcp_request("tools/call", "say", f'"name":"say","arguments":{{"text":"{text}"}},')
            for _ in range(options.rounds):
                for server in (parsing, hub):
                    asked = {"connections": 8, "seconds": options.seconds, "header": headers}
                    result = measure.load(server, server.url("/mcp"), body, "said-@N@", **asked)
                    results.setdefault((server.name, size), []).append(result)
                    print(f"mcp {size} bytes {server.name}: {result['cpu_us']:.1f} us", flush=True)
    return {key: medians(rounds) for key, rounds in results.items()}


@section
def mcp_budget(options):
    """Where the processor time of such a call goes, in the hub that was built with frame pointers."""
    return budget.mcp_budget(options, mcp_request)


@section
def counts(options):
    """Instructions and allocations of the five main calls."""
    return counting.counts(mcp_request)


@section
def mcp_lists(options):
    """`tools/list` of 500 tools, by the upstream itself and from the hub's cache."""
    body, headers = mcp_request("tools/list")
    results = {}
    with servers.upstream(tools=500) as up, servers.mcp_hub(up) as hub:
        for _ in range(options.rounds):
            for server in (up, hub):
                result = measure.load(server, server.url("/mcp"), body, "tool_499", seconds=options.seconds, header=headers)
                results.setdefault(server.name, []).append(result)
    return {key: medians(rounds) for key, rounds in results.items()}


# The same events as `work` of the official agents (conformance/a2a/interop/agent.py, conformance/a2a/rust/src/agent.rs): a status with
# words, an artifact of text in two pieces, one of data, and the end. Theirs repeat the words they were sent, these are as long.
A2A_SCRIPT = """
description: Plays a task
scenes:
  - text: slow
    play: [ { work: "" }, { pause: 3600s } ]
  - play:
      - work: looking
      - artifact: { id: page, last: false, part: { text: "one " } }
      - artifact: { id: page, part: { text: "said-0000000000" } }
      - artifact: { id: facts, part: { data: { rest: "said-0000000000" } } }
"""


ACTS = "scripts: { agent: ./agent.yaml }\nfront_door: agent\n"


@section
def a2a(options):
    """A message that is answered with a message, and one that becomes a task with two artifacts, by every binding, at 1 and 32
    connections."""
    words, script, results = {"message": "echo", "task": "work"}, {"agent.yaml": A2A_SCRIPT}, {}
    with (
        servers.hub(ECHO) as echo_hub,
        servers.hub(ACTS, script) as task_hub,
        servers.hub_in_memory(ACTS, script) as memory_hub,
        servers.a2a_sdk() as sdk,
        servers.a2a_rust() as rust,
    ):
        agents = {"message": (echo_hub, sdk, rust), "task": (task_hub, memory_hub, sdk, rust)}
        runs = itertools.product(range(options.rounds), a2a_wire.BINDINGS, words.items(), (1, 32))
        for _, binding, (case, word), connections in runs:
            expected = binding.completed if case == "task" else "said-@N@"
            for server in agents[case]:
                result = measure.load(
                    server, binding.url(server), binding.body(word), expected,
                    connections=connections, seconds=options.seconds, header=["a2a-version=1.0"], **binding.options,
                )
                results.setdefault((binding.name, case, server.name, connections), []).append(result)
                told = f"{result['rps']:.0f}/s {result['cpu_us']:.1f} us"
                print(f"a2a {binding.name} {case} {server.name} c={connections}: {told}", flush=True)
    return {key: medians(rounds) for key, rounds in results.items()}


@section
def a2a_streams(options):
    """Memory for each subscriber of a task that nobody hears from."""
    count = 10_000
    with servers.hub(ACTS, {"agent.yaml": A2A_SCRIPT}) as hub:
        body = a2a_wire.rpc("slow", ',"configuration":{"returnImmediately":true}').replace("@N@", "0")
        task = measure.post(hub.url("/a2a"), body, {"a2a-version": "1.0"})["result"]["task"]["id"]
        with measure.held_open(hub.port, f"/a2a/tasks/{task}:subscribe", 100):
            before = measure.resident_bytes(hub.pid)
            with measure.held_open(hub.port, f"/a2a/tasks/{task}:subscribe", count):
                after = measure.resident_bytes(hub.pid)
    return {"count": count, "bytes_each": (after - before) / count, "rss": after}


AIP = "aip: { list_tools: 0s, heartbeat: @BEAT@ }\n"


@section
def aip(options):
    """A heartbeat and its answer, and a command and its results, at 1 and 50 devices."""
    results = {}
    with servers.ws_floor() as floor, servers.hub(AIP.replace("@BEAT@", "60s")) as hub, servers.aip_python() as python:
        for _ in range(options.rounds):
            for what, compared in {"beat": (floor, hub, python), "command": (hub, python)}.items():
                for connections in (1, 50):
                    for server in compared:
                        result = measure.devices(server, what, connections=connections, seconds=options.seconds)
                        results.setdefault((what, server.name, connections), []).append(result)
                        print(f"aip {what} {server.name} c={connections}: {result['rps']:.0f}/s {result['cpu_us']:.1f} us", flush=True)
    return {key: medians(rounds) for key, rounds in results.items()}


@section
def aip_devices(options):
    """Memory for each connected device that says nothing, and how long it takes to notice that a hundred are dead."""
    count, dead, beat = 10_000, 100, 1.0
    # A beat that does not come up while they are counted; the second hub has one that does.
    with servers.hub(AIP.replace("@BEAT@", "600s")) as hub:
        with measure.Held(hub, dead, "warm"):
            before = measure.resident_bytes(hub.pid)
            with contextlib.ExitStack() as held:
                for part in range(5):
                    held.enter_context(measure.Held(hub, count // 5, f"part{part}"))
                after = measure.resident_bytes(hub.pid)
    online = lambda hub: len(measure.get(hub.url("/api/clients"))["online_clients"])
    with servers.hub(AIP.replace("@BEAT@", f"{beat:.0f}s")) as hub:
        with measure.Held(hub, 1_000, "alive"), measure.Held(hub, dead, "dead") as dying:
            dying.freeze()
            frozen = time.monotonic()
            while online(hub) > 1_000:
                time.sleep(0.02)
            noticed = time.monotonic() - frozen
            left = online(hub)
    return {"count": count, "bytes_each": (after - before) / count, "dead": dead, "beat": beat, "noticed": noticed, "left": left}


@section
def aip_plan(options):
    """What the scheduler takes for plans of 1,000 and 10,000 steps."""
    keys = ("open_ms", "total_ms", "longest_us")
    runs = {steps: [measure.alone("bench/target/release/plan", steps) for _ in range(options.rounds)] for steps in (1_000, 10_000)}
    return {steps: {key: statistics.median(one[key] for one in rounds) for key in keys} for steps, rounds in runs.items()}


CALLS, MEMBERS, RUNNING = 10, 10, 1_000


def agent_files():
    """Scripts of models: one that answers, one that makes calls one after another first, one of a team, one that never ends."""
    steps = ["replies:", "  - { when: begin, again: true, call: [{ name: hub__echo, arguments: { text: step-01 } }] }"]
    for number in range(1, CALLS):
        call = f"{{ name: hub__echo, arguments: {{ text: step-{number + 1:02} }} }}"
        steps.append(f"  - {{ when: step-{number:02}, again: true, call: [{call}] }}")
    steps.append(f"  - {{ when: step-{CALLS:02}, again: true, say: Done. }}")
    files = {
        "plain.yaml": "replies: [{ say: Done., again: true }]\n",
        "busy.yaml": "\n".join(steps) + "\n",
        "waits.yaml": "replies: [{ events: [{ wait: 3600000 }], again: true }]\n",
    }
    for number in range(1, MEMBERS + 1):
        vote = "{ name: vote, arguments: { agent_id: agent1, reason: it is first } }"
        answer = f"{{ name: new_answer, arguments: {{ content: The answer of number {number} }} }}"
        files[f"member{number}.yaml"] = (
            "replies:\n  - { when: You received, again: true, say: Done. }\n"
            f"  - {{ when: (your own), again: true, call: [{vote}] }}\n  - {{ when: \"\", again: true, call: [{answer}] }}\n"
        )
    return files


def agent_config():
    """An agent for each script, and the team."""
    names = ["plain", "busy", "waits", *(f"member{number}" for number in range(1, MEMBERS + 1))]
    lines = ["models:"]
    lines += [f"  of_{name}: {{ provider: scripted, file: ./{name}.yaml }}" for name in names]
    lines += ["agents:"] + [f"  {name}: {{ model: of_{name}, skills: [hub/echo], budget: {{ time: 2h }} }}" for name in names]
    lines += ["teams:", f"  panel: {{ agents: [{', '.join(names[3:])}] }}"]
    return "\n".join(lines) + "\n"


@section
def agents(options):
    """The loop of an agent without its model's time, a team of ten likewise, and memory for each of a thousand that run at once."""
    rounds = {"plain": [], "busy": [], "panel": []}
    with servers.hub(agent_config(), agent_files()) as hub:
        url = hub.url("/api/exchanges")
        for _ in range(options.rounds):
            for name, results in rounds.items():
                body = f'{{"skill":"{name}/chat","text":"begin @N@"}}'
                results.append(measure.load(hub, url, body, "Done.", connections=1, seconds=options.seconds))
                print(f"agents {name}: {results[-1]['rps']:.0f}/s {results[-1]['cpu_us']:.1f} us", flush=True)
        task = measure.post(url, '{"skill":"panel/chat","text":"begin"}', {})["task"]
        steps = measure.count(hub.url(f"/api/tasks/{task}/timeline?limit=200"))
        body = '{"skill":"waits/chat","text":"begin @N@"}'
        begun = {"status": 202, "connections": 8, "warm": 0, "seconds": 600}
        # The first hundred fill pools and caches that have nothing to do with the number of runs.
        measure.load(hub, hub.url("/api/tasks"), body, '"id"', requests=100, **begun)
        before = measure.resident_bytes(hub.pid)
        measure.load(hub, hub.url("/api/tasks"), body, '"id"', requests=RUNNING, first=1_000_000, **begun)
        after = measure.resident_bytes(hub.pid)
    cost = {name: medians(results) for name, results in rounds.items()}
    return {
        "call_us": (cost["busy"]["cpu_us"] - cost["plain"]["cpu_us"]) / CALLS,
        "run_us": cost["plain"]["cpu_us"],
        "steps": steps,
        "step_us": cost["panel"]["cpu_us"] / steps,
        "running": RUNNING,
        "bytes_each": (after - before) / RUNNING,
    }


TRUST_RULE = '@id("bench") permit (principal == User::"bench", action in Action::"use", resource in Peer::"hub");\n'
TRUST_TOKEN = "ilg_" + "b" * 40


def trust_hub(tokens=1, rules=None):
    """A hub that knows so many callers and, unless `rules` is `None`, has so many rules besides the one for ours."""
    listed = [f'- {{ name: user{number}, sha256: "{hashlib.sha256(str(number).encode()).hexdigest()}" }}\n' for number in range(tokens - 1)]
    listed.append(f"- {{ name: bench, token: {TRUST_TOKEN} }}\n")
    policy, files = "", {"tokens.yaml": "".join(listed)}
    if rules is not None:
        one = '@id("r{0}") permit (principal == User::"user{0}", action in Action::"use", resource == Skill::"peer{0}/skill");\n'
        files["rules.cedar"] = TRUST_RULE + "".join(one.format(number) for number in range(rules))
        policy = ", policy: ./rules.cedar"
    return servers.hub(f"{ECHO}access: {{ tokens: file:./tokens.yaml{policy} }}\n", files)


# Neighbours come and go within a second: hubs take turns that are shorter, and each turn is compared with the first hub's beside it.
TURNS = 4
# How long hubs are left alone to see what they do by themselves.
ALONE = 10


@section
def trust(options):
    """What it costs to know who asks and what they may: the same echo, each hub knowing more than the one before it."""
    shown = [f"authorization=Bearer {TRUST_TOKEN}"]
    kinds = {
        "the hub's Owner, no rules": (lambda: servers.hub(ECHO), []),
        "a token": (lambda: trust_hub(), shown),
        "a token and a rule": (lambda: trust_hub(rules=0), shown),
        "a token and 10,000 rules": (lambda: trust_hub(rules=10_000), shown),
        "one of 100,000 tokens and 10,000 rules": (lambda: trust_hub(100_000, 10_000), shown),
    }
    body, results = message(150), {}
    with contextlib.ExitStack() as stack:
        started = {name: (stack.enter_context(start()), header) for name, (start, header) in kinds.items()}
        time.sleep(2)
        before = {name: measure.cpu_seconds(server.pid) for name, (server, _) in started.items()}
        time.sleep(ALONE)
        idle = {name: (measure.cpu_seconds(server.pid) - before[name]) / ALONE for name, (server, _) in started.items()}
        for _ in range(options.rounds * TURNS):
            for name, (server, header) in started.items():
                asked = {"connections": 32, "seconds": options.seconds / 2, "header": header}
                result = measure.load(server, server.url("/nlip"), body, "-end", **asked)
                results.setdefault(name, []).append(result)
                print(f"trust {name}: {result['rps']:.0f}/s {result['cpu_us']:.1f} us", flush=True)
    first, rows = next(iter(results.values())), {}
    for name, turns in results.items():
        low, more, high = statistics.quantiles(one["cpu_us"] - beside["cpu_us"] for one, beside in zip(turns, first))
        rows[name] = {**medians(turns), "more": more, "half": (low, high), "idle": idle[name]}
    return {
        "rows": rows,
        "writer_us": statistics.median(one["writer_us"] for turns in results.values() for one in turns),
        "audit": measure.alone("bench/target/release/audit"),
        "judged": [measure.alone("target/release/examples/cost", count) for count in (0, 10_000)],
    }


@section
def program(options):
    """How long it takes from the program's start to its first answer, its memory when it does nothing, and its size."""
    return whole.program(5 * options.rounds)


@section
def building(options):
    """How long a change to one protocol waits for its tests, and how much code there is."""
    return editing.building(options.rounds)


@section
def cross(options):
    """A call from each of three protocols to a peer of each, through one hub."""
    return {key: medians(rounds) for key, rounds in whole.cross(options, mcp_request).items()}


@section
def growth(options):
    """What a call costs a hub that knows many skills, or many peers, or holds many sessions."""
    opens = {
        "NLIP": ("/nlip/route", report.SESSION, [], '"final":true'),
        "A2A": ("/a2a", a2a_wire.rpc("open", ""), ["a2a-version=1.0"], "contextId"),
    }
    calls = {
        "NLIP": ("/nlip", '{"format":"text","subformat":"english","content":"said-@N@"}', [], "said-@N@"),
        "A2A": ("/a2a", a2a_wire.rpc("said", ""), ["a2a-version=1.0"], "said-@N@"),
    }
    grown = {**whole.growth(options, mcp_request), **whole.sessions(options, opens, calls)}
    return {key: medians(rounds) for key, rounds in grown.items()}


@section
def mixed(options):
    """Clients of three protocols at once for ten minutes (`MIXED_SECONDS`), and whether the hub's memory stays as it is."""
    return strain.mixed(mcp_request)


@section
def hostile(options):
    """Honest callers beside every seed of every fuzz target, and beside as many harmless requests of the same sizes."""
    result = strain.hostile(options, message(150), "-end")
    return {**result, "rounds": {kind: medians(rounds) for kind, rounds in result["rounds"].items()}}


@section
def site(options):
    """A website that is driven, beside Playwright: cold, one warm page, a fresh context for each call, eight at once."""
    return driven.measure(options.rounds, options.calls)


# The share by which a count may differ from the one on the page.
SLACK = 0.05


def check(page):
    """Compares the counts of this build with the page's; says which differ by more than the slack."""
    written, off = report.written_counts(page), []
    for call, found in counting.counts(mcp_request).items():
        for what, expected in written[call].items():
            count = found[what]
            if abs(count - expected) > expected * SLACK:
                off.append(f"{call}: {count:,.1f} {what}, {expected:,.1f} on the page")
    sys.exit("\n".join(off) if off else 0)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=float, default=3.0)
    options.add_argument("--calls", type=int, default=40, help="of each kind, of a website that is driven")
    options.add_argument("--only", action="append", choices=SECTIONS)
    options.add_argument("--page", default=report.PAGE, help="where the page is written, and kept sections are read from")
    options.add_argument("--check", action="store_true", help="compare instructions and allocations with the page")
    options = options.parse_args()
    if options.check:
        check(options.page)
    measured, failed = {}, []
    for name, run in SECTIONS.items():
        if options.only and name not in options.only:
            continue
        moment = report.Moment()
        # One section that fails does not take the others' figures with it; the run as a whole has failed all the same.
        try:
            measured[name] = report.render(name, run(options), moment, options)
        except Exception:
            failed.append(name)
            print(f"{name} failed: {traceback.format_exc()}", file=sys.stderr, flush=True)
        report.write(measured, options.page)
    if not options.only:
        # A whole run leaves nothing on the page that another build has made.
        report.write(measured, options.page, whole=True)
    sys.exit(f"without figures: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
