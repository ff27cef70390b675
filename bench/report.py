"""Writes docs/benchmarks.md from the results of run.py."""

import datetime
import itertools
import os
import platform
import re
import subprocess

import plots

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "benchmarks.md")

# One request that calls a built-in tool. `@N@` makes every message id, and so every exchange and session, a new one.
ENVELOPE = (
    '{"format":{"content_type":"application/json","encoding":"utf-8","schema_version":"1.0"},'
    '"control":{"message_type":"request","message_id":"bench-@N@","timestamp":"2026-01-01T00:00:00Z"},'
    '"token":{"conversation_turn":0},"content":{},'
    '"tool_calls":[{"tool_id":"t1","tool_name":"mcp__hub__echo","parameters":{"text":"x"}}]}'
)

# The same with a tool that does some work.
LISTING = ENVELOPE.replace("mcp__hub__echo", "list_directory").replace('"text":"x"', '"path":"."')

# The same in a session that the caller names, so that it is kept.
SESSION = ENVELOPE.replace('"token":{', '"token":{"session_id":"bench-@N@",')


class Moment:
    """When a section was measured, and what else the machine did: a figure without it says little."""

    def __init__(self):
        self.started = datetime.datetime.now(datetime.timezone.utc)
        self.load = os.getloadavg()

    def text(self, how):
        loads = " ".join(f"{one:.1f}" for one in self.load)
        when = f"{self.started:%Y-%m-%d %H:%M} UTC"
        return f"Commit {commit()}, {when}, {how}. {machine()} Load average when it began: {loads}."


def git(*arguments):
    ran = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False)
    return ran.stdout.strip() if ran.returncode == 0 else None


# What the program is made of.
SOURCES = ["crates", "Cargo.toml", "Cargo.lock", "rust-toolchain.toml"]


def commit():
    """What was built: the last commit that changed the program's sources, and whether they have changed since."""
    name = git("log", "-1", "--format=%h", "--abbrev=10", "--", *SOURCES)
    changed = git("status", "--porcelain", "--untracked-files=no", "--", *SOURCES)
    return "unknown" if name is None else f"{name} with changes" if changed else name


def machine():
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "unknown")
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1]) / 1048576
    return f"{os.cpu_count()} cores ({model}), {memory:.0f} GiB, Linux {platform.release().split('-')[0]}."


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def spread(one):
    """The lowest and the highest processor time of the rounds: rows whose spreads overlap are not in an order."""
    return f"{one['cpu_low']:.1f} to {one['cpu_high']:.1f}"


def echo(results):
    rows = []
    for (name, connections), one in sorted(results.items(), key=lambda item: (item[0][1], item[1]["cpu_us"])):
        times = f"{one['cpu_us'] / results['floor', connections]['cpu_us']:.2f}"
        latency = [f"{one[key]:.0f}" for key in ("p50_us", "p90_us", "p99_us")]
        rows.append([name, connections, f"{one['rps']:.0f}", *latency, f"{one['cpu_us']:.1f}", spread(one), times, f"{one['rss'] / 1048576:.0f}"])
    head = ["server", "connections", "answers/s", "p50 us", "p90 us", "p99 us", "CPU us each", "of all rounds", "times the floor", "memory MiB"]
    return f"""## NLIP echo

One small message whose text must come back. Every answer was checked; a run with a single error is no result.
The hub (`front_door: hub/echo`) reads the message, finds the skill, checks rights, limits and input, calls it, writes a line of
audit and answers with the text, the route taken and a conversation token; the floor parses the JSON and writes it back and does nothing else; nlip-server has its logging off.

{table(head, rows)}
"""


def sizes(results):
    names = list(dict.fromkeys(name for name, _ in results))
    rows = []
    for size in dict.fromkeys(size for _, size in results):
        rows.append([f"{size:,}", *(f"{results[name, size]['cpu_us']:.0f}" for name in names)])
        rows[-1] += [f"{results['interlingua', size]['cpu_us'] * 1000 / size:.1f}"] if "interlingua" in names else []
    lines = {name: [(size, one["cpu_us"]) for (whose, size), one in results.items() if whose == name] for name in names}
    plot = plots.write("benchmarks-sizes", "bytes", "CPU us each", lines)
    head = ["bytes", *(f"{name}, CPU us" for name in names)] + (["interlingua, ns a byte"] if "interlingua" in names else [])
    return f"""## Cost by size

The same exchange from 100 bytes to 10 megabytes, one connection.

{table(head, rows)}

{plot}
"""


def envelope(results):
    rows = [
        [tool, connections, f"{one['rps']:.0f}", f"{one['p50_us']:.0f}", f"{one['p99_us']:.0f}", f"{one['cpu_us']:.1f}"]
        for (tool, connections), one in results.items()
    ]
    return f"""## Routing envelope

One request with one tool call: HTTP, reading, session, routing, translation, the tool itself, writing. `echo` does nothing, so
its row is the cost of the way; `list_directory` reads a directory on a thread of its own.

{table(["tool", "connections", "answers/s", "p50 us", "p99 us", "CPU us each, all in"], rows)}
"""


def sessions(result):
    return f"""## Idle sessions

{result['count']:,} sessions of the envelope were opened and left alone: {result['bytes_each']:.0f} bytes of resident memory each. A session is in the store and
not in memory: there, with the rest of what a request leaves behind, it takes {result['stored_each']:,.0f} bytes of disk. (A session of MCP is
sealed in its own id: the hub holds nothing for one that says nothing more, so there is nothing to measure.)
"""


def tasks(result):
    one, many, sync = result[1], result[256], result["sync_us"]
    rows = [
        ["append 4 KiB and sync, one at a time", f"{1e6 / sync:.0f}", f"{sync:.0f}", ""],
        ["tasks, 1 in flight", f"{one['rps']:.0f}", f"{one['p50_us']:.0f}", f"{one['p99_us']:.0f}"],
        ["tasks, 256 in flight", f"{many['rps']:.0f}", f"{many['p50_us']:.0f}", f"{many['p99_us']:.0f}"],
    ]
    return f"""## Durable tasks

A task is acknowledged when it is appended and synced. Tasks in flight together share a sync.

{table(["what", "a second", "p50 us", "p99 us"], rows)}
"""


def mcp(results):
    rows = []
    for (name, connections), one in sorted(results.items(), key=lambda item: (item[0][1], item[1]["cpu_us"])):
        times = f"{one['cpu_us'] / results['nginx', connections]['cpu_us']:.2f}"
        latency = [f"{one[key]:.0f}" for key in ("p50_us", "p90_us", "p99_us")]
        rows.append([name, connections, f"{one['rps']:.0f}", *latency, f"{one['cpu_us']:.1f}", spread(one), times, f"{one['rss'] / 1048576:.0f}"])
    head = ["through", "connections", "calls/s", "p50 us", "p90 us", "p99 us", "CPU us a call", "of all rounds", "times nginx", "memory MiB"]
    return f"""## MCP: `tools/call`

One call of the tool `say`, revision 2026-07-28, every answer checked for its own text. The time of a call is that of the whole
chain; CPU is the proxy's own, with everything it started (in the row `direct`: the upstream's). nginx and the hyper proxy carry bytes and know
nothing of MCP; one of them parses and writes the JSON both ways. The hub checks headers, rights, limits and the arguments
against the tool's schema, writes a line of audit and counts. Rows whose processor times overlap (*of all rounds*) are not in an order.

{table(head, rows)}
"""


def mcp_budget(result):
    total = sum(result["samples"].values())
    share = lambda count: [f"{100 * count / total:.1f}", f"{result['cpu_us'] * count / total:.1f}"]
    rows = [[name, *share(count)] for name, count in result["samples"].most_common()]
    return f"""## MCP: where the time of a `tools/call` goes

32 connections, the hub built as for the other sections and with frame pointers, sampled 997 times a second: {total:,} samples,
{result['cpu_us']:.0f} us of processor time a call.

{table(["part", "%", "us a call"], rows)}
"""


def counts(results):
    rows = [[name, f"{one['instructions']:,.0f}", f"{one['allocations']:.1f}"] for name, one in results.items()]
    return f"""## Instructions and allocations of a call

Counted by callgrind, 300 calls after 100 that warm up, one connection, one worker, user space only. Counts do not depend on the load of the
machine: a change of the code that raises the allocations of a call by more than 5 % needs a reason.

{table(["call", "instructions", "allocations"], rows)}

{budget(results)}
"""


def budget(results):
    """Whose work the instructions and the allocations of each call are, and the functions that take most of the first one."""
    short = {name: name.split(",")[0] + (" (session)" if "session" in name else " (stateless)" if "stateless" in name else "") for name in results}
    owners = dict.fromkeys(itertools.chain.from_iterable(one["parts"][0] for one in results.values()))
    cost = lambda one, name: f"{one['parts'][0][name]:,.0f} / {one['parts'][1][name]:.1f}"
    parts = sorted(owners, key=lambda name: -max(one["parts"][0][name] for one in results.values()))
    shares = table(["whose work", *short.values()], [[name, *(cost(one, name) for one in results.values())] for name in parts])
    first, one = next(iter(results.items()))
    named = [[f"`{plain(name)}`", f"{count:,.0f}", f"{allocated:.1f}"] for name, count, allocated in one["functions"]]
    return f"""The budget: instructions and allocations of one call by the code that makes them, inlined functions with their callers.

{shares}

The functions that take most of {short[first]}, without what they call:

{table(["function", "instructions", "allocations"], named)}"""


def plain(name):
    """A function's name without hashes, and short enough for a table."""
    name = re.sub(r"::h[0-9a-f]{16}|'\d+$", "", name).replace("|", "\\|").replace("`", "'")
    return name if len(name) <= 100 else f"{name[:60]}…{name[-38:]}"


def first_table(text):
    """The rows of the first table of a section, each with its cells by the column's name."""
    lines = itertools.takewhile(lambda line: line.startswith("|"), itertools.dropwhile(lambda line: not line.startswith("|"), text.splitlines()))
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(head, row)) for row in rows]


def number(text):
    return float(text.replace(",", ""))


def written_counts(path):
    """What the page says of instructions and allocations, by call."""
    rows = first_table(sections(path)["counts"])
    return {row["call"]: {what: number(row[what]) for what in ("instructions", "allocations")} for row in rows}


def mcp_sizes(results):
    names = list(dict.fromkeys(name for name, _ in results))
    cost, rows = (lambda name, size: results[name, size]["cpu_us"]), []
    for size in dict.fromkeys(size for _, size in results):
        times = cost("interlingua", size) / cost("hyper proxy that parses", size)
        rows.append([f"{size:,}", *(f"{cost(name, size):.0f}" for name in names), f"{times:.2f}"])
    return f"""## MCP: `tools/call` by size

The same call with so many bytes of arguments, which the tool says back: 8 connections.

{table(["bytes each way", *(f"{name}, CPU us" for name in names), "times the proxy that parses"], rows)}
"""


def mcp_lists(results):
    rows = [[name, f"{one['rps']:.0f}", f"{one['p50_us'] / 1000:.2f}", f"{one['p99_us'] / 1000:.2f}", f"{one['cpu_us']:.0f}"] for name, one in results.items()]
    return f"""## MCP: `tools/list` of 500 tools

One connection. The hub answers from its cache and does not ask the upstream.

{table(["from", "lists/s", "p50 ms", "p99 ms", "CPU us each"], rows)}
"""


def a2a(results):
    rows = []
    for (by, case, name, connections), one in sorted(results.items(), key=lambda item: (item[0][:2], item[0][3], item[1]["cpu_us"])):
        ours = results[by, case, "interlingua", connections]["cpu_us"]
        latency = [f"{one[key]:.0f}" for key in ("p50_us", "p90_us", "p99_us")]
        rows.append([by, case, name, connections, f"{one['rps']:.0f}", *latency, f"{one['cpu_us']:.1f}", spread(one), f"{one['cpu_us'] / ours:.1f}"])
    head = ["by", "answered with", "agent", "connections", "answers/s", "p50 us", "p90 us", "p99 us", "CPU us each", "of all rounds", "times ours"]
    return f"""## A2A: `SendMessage`

One message of 1.0, every answer checked: answered with a message, and become a task that is waited for. Every agent does the same for a task: a
status with words, an artifact of text in two pieces, an artifact with a data part, and the end. The hub's tasks are in the journal and synced before they are told of. *In memory* is the same hub, its data directory in a file system
that is memory: all that is written is written, and no disk is waited for. Tasks of the official servers, in Python (`a2a-sdk`) and
in Rust (`a2a-server-lf`, built with the hub's own release profile), are in their own memory. The hub's allocator is mimalloc, theirs the
system's.

{table(head, rows)}
"""


def a2a_streams(result):
    return f"""## A2A: idle streams

{result['count']:,} subscribers of one task that says nothing: {result['bytes_each'] / 1024:.1f} KiB of resident memory each,
{result['rss'] / 1048576:.0f} MiB in all.
"""


def aip(results):
    rows = []
    for (what, name, connections), one in sorted(results.items(), key=lambda item: (item[0][0], item[0][2], item[1]["cpu_us"])):
        ours = results[what, "interlingua", connections]["cpu_us"]
        latency = [f"{one[key]:.0f}" for key in ("p50_us", "p90_us", "p99_us")]
        rows.append([what, name, connections, f"{one['rps']:.0f}", *latency, f"{one['cpu_us']:.1f}", f"{one['cpu_us'] / ours:.2f}", f"{one['rss'] / 1048576:.0f}"])
    head = ["round trip", "server", "devices", "a second", "p50 us", "p90 us", "p99 us", "CPU us each", "times ours", "memory MiB"]
    return f"""## AIP: heartbeats and commands

Devices over WebSockets at `/ws`, one round trip at a time on each. `beat`: a heartbeat and its answer; the floor is a bare WebSocket that
says back what it hears. `command`: the results of a command and the next one, in tasks of fifty that each device asks for itself; the
hub keeps each task in its journal, synced before it is acknowledged. The Python server (websockets, pydantic) has the shape of the
protocol's own implementation and none of its agent, rights or records.

{table(head, rows)}
"""


def aip_devices(result):
    return f"""## AIP: idle and dead devices

{result['count']:,} connected devices that say nothing, each a peer with its card: {result['bytes_each'] / 1024:.1f} KiB of resident memory each.
With a heartbeat of {result['beat']:.0f} s, {result['dead']} devices whose process was stopped (their connections stay open) beside 1,000 that live were noticed
as gone within {result['noticed']:.1f} s; {result['left']:,} were still there.
"""


def aip_plan(results):
    rows = [[f"{steps:,}", f"{one['open_ms']:.1f}", f"{one['total_ms']:.1f}", f"{one['longest_us']:.0f}"] for steps, one in results.items()]
    return f"""## Plans: what the scheduler takes

Plans in layers of a hundred, every step behind two of the layer before; 64 devices, every step called once and ended well. Nobody
is called and nothing is written: this is the deciding alone.

{table(["steps", "to read and check, ms", "from the first to the last decision, ms", "the longest decision, us"], rows)}
"""


def agents(result):
    rows = [
        ["a run that answers at once", f"{result['run_us']:.0f}"],
        ["each tool call of a run, with the turn of the model that asks for it", f"{result['call_us']:.0f}"],
        [f"each of the {result['steps']} steps of a team of ten that answers, votes and presents", f"{result['step_us']:.0f}"],
    ]
    return f"""## Agents and teams without their models' time

Models read their lines from a script. Every turn, call and step is in the journal and synced before it has consequences. A step
of a team includes its share of its members' own runs.

{table(["what", "CPU us"], rows)}

{result['running']:,} agents at once, each waiting for its model: {result['bytes_each'] / 1024:.1f} KiB of resident memory each.
"""


def trust(result):
    rows = []
    for name, one in result["rows"].items():
        low, high = one["half"]
        more = [f"{one['more']:+.1f}", f"{low:+.1f} to {high:+.1f}"]
        rows.append([name, f"{one['rps']:.0f}", f"{one['p99_us']:.0f}", f"{one['cpu_us']:.1f}", *more, f"{one['rss'] / 1048576:.0f}", f"{one['idle'] * 1000:.1f}"])
    head = ["the hub knows its caller by", "answers/s", "p99 us", "CPU us a call", "more than the first", "its middle half", "memory MiB", "left alone, CPU ms a second"]
    few, many = result["judged"]
    together = result["rows"]["a token and a rule"]["more"] + 2 * result["audit"]["line_us"] + result["writer_us"]
    parts = [
        ["a decision that was made before", f"{few['again_us']:.2f}", f"{many['again_us']:.2f}"],
        ["one by a rule that looks at an argument", f"{few['arguments_us']:.2f}", f"{many['arguments_us']:.2f}"],
        ["the same for a caller who was never seen", f"{few['first_us']:.2f}", f"{many['first_us']:.2f}"],
    ]
    return f"""## Trust

The same echo over 32 connections. Every one of these calls is authenticated, held to limits and to policy, and leaves two lines in
the chain of the audit; the rows differ in how much there is to look through. The hubs take turns; *more* is the median
of the differences between a turn and the first hub's turn beside it, and half of them lie where the next column says.

{table(head, rows)}

Alone, with nothing around it, in microseconds; a call asks twice (is it there, may it be called):

{table(["a decision", f"{few['rules']:,} other rules", f"{many['rules']:,} other rules"], parts)}

A line of the audit takes {result['audit']['line_us']:.2f} us to be spelled, digested and put on its page, {result['audit']['bytes']:.0f} bytes of it. The thread that
writes pages to the store and syncs them takes {result['writer_us']:.1f} us of processor time for the two lines of a call. Together, a token, a
rule and the audit: {together:.1f} us a call (goal: at most 4), as far as the differences above can be told from what else the
machine did.
"""


def site(result):
    names = {"cold": "cold: start of the program to the end of the first call", "warm": "warm", "fresh": "a fresh context for each call", "parallel": "the same, 8 at once"}
    rows = []
    for mode, what in names.items():
        theirs, ours = result[f"Playwright {mode}"], result[f"interlingua {mode}"]
        numbers = [f"{theirs['wall']:.0f}", f"{ours['wall']:.0f}", f"{theirs['wall'] / ours['wall']:.2f}"]
        numbers += [f"{theirs['cpu']:.2f}", f"{ours['cpu']:.2f}", f"{theirs['cpu'] / max(ours['cpu'], 1e-9):.2f}"]
        rows.append([what, *numbers])
    head = ["", "Playwright, ms", "interlingua, ms", "times", "Playwright, CPU s", "interlingua, CPU s", "times"]
    return f"""## Websites that are driven

The airline example (open, three fields, press, wait, three rows of three fields) in the machine's own Chromium, {result['calls']} calls
of each kind, with real input events. Processor time is that of the whole tree of processes, the browser's too. Warm calls
use one page again and again, with what it kept of the calls before: for the hub that is a named session. Plain words become this action in {result['parser_us']:.0f} us.

{table(head, rows)}
"""


def program(result):
    rows = [
        ["from its start to its first answer, with an empty data directory, ms", f"{result['fresh']:.0f}", "300"],
        ["the same, with the data directory of a run before, ms", f"{result['again']:.0f}", "300"],
        [f"resident memory, {result['idle']} s after its first answer, MiB", f"{result['rss'] / 1048576:.1f}", "40"],
        ["of that its own; the rest is the program's file, as far as it was looked at", f"{result['own'] / 1048576:.1f}", ""],
        ["the program's file, MiB", f"{result['bytes'] / 1048576:.0f}", ""],
        ["the same without line numbers for traces (`strip`), MiB", f"{result['stripped'] / 1048576:.0f}", ""],
    ]
    return f"""## The program: start, idle memory, size

`interlingua serve` without configuration, started {result['starts']} times; the first answer is that to a question in plain words over NLIP,
read to its end. Medians.

{table(["what", "measured", "at most"], rows)}
"""


# Recorded once at commit c814560f, on a machine of the same kind; its lines are counted as those of today.
BEFORE = {"all": "16.8", "lines": "112,926"}


def building(result):
    rows = [
        ["its crate's tests, seconds", "", f"{result['its tests']:.1f}"],
        ["all programs, tests and examples, seconds", BEFORE["all"], f"{result['all']:.1f}"],
        ["lines of code, without tests, comments and blank lines", BEFORE["lines"], f"{result['lines']:,}"],
    ]
    return f"""## Building it after an edit

One file inside one protocol (`crates/protocols/nlweb/src/inbound/ask.rs`) is saved and everything that depends on it is built again, without
optimisation. *Before* was recorded once at commit c814560f, on another machine of the same kind, and is not part of this run: compare its seconds with care. Its lines are counted in the same way.

{table(["what is built", "before", "now"], rows)}
"""


# What the description of the system allows a call, in milliseconds.
BUDGETS = {"mcp": 100, "a2a": 500}


def cross(results):
    names, rows = {"nlip": "NLIP", "mcp": "MCP", "a2a": "A2A", "aip": "AIP device", "nlweb": "NLWeb"}, []
    for caller, callee in dict.fromkeys(key[:2] for key in results):
        one, many = results[caller, callee, 1], results[caller, callee, 32]
        alike = [results[same, same, 32]["cpu_us"] for same in (caller, callee) if (same, same, 32) in results]
        times = "" if caller == callee or len(alike) < 2 else f"{many['cpu_us'] / max(alike):.2f}"
        budget = f"{BUDGETS[callee]}" if callee in BUDGETS else ""
        latency = [f"{one['p50_us'] / 1000:.2f}", f"{one['p99_us'] / 1000:.2f}", budget]
        rows.append([names[caller], names[callee], *latency, f"{many['cpu_us']:.1f}", times])
    head = ["caller", "peer", "p50 ms", "p99 ms", "budget ms", "CPU us a call, 32 connections", "times the dearer of its two protocols"]
    return f"""## From one protocol to another

A text to a peer that says it back, called by name: MCP's peer is a bare server, NLIP's a bare server, A2A's and NLWeb's a second hub,
the device a program in Python. Times are those of the whole chain at one connection; CPU is this hub's own. The last column compares
with the dearer of the calls that stay within the caller's and within the peer's protocol, where both were measured. A website that is driven has a budget of 1,000 to 5,000 ms; see its own section.

{table(head, rows)}
"""


def growth(results):
    def part(what):
        counts = [count for kind, count in results if kind == what]
        rows = [[f"{count:,}", f"{results[what, count]['cpu_us']:.1f}", f"{results[what, count]['p50_us']:.0f}", f"{results[what, count]['rss'] / 1048576:.0f}"] for count in counts]
        plot = plots.write(f"benchmarks-{what}", what, "CPU us a call", {"tools/call": [(count, results[what, count]["cpu_us"]) for count in counts]})
        return f"{table([what, 'CPU us a call', 'p50 us', 'memory MiB'], rows)}\n\n{plot}"

    def open_sessions():
        names, counts = ["NLIP", "A2A"], [count for kind, count in results if kind == "NLIP"]
        cost = lambda name, count: results[name, count]["cpu_us"]
        rows = [[f"{count:,}", *(f"{cost(name, count):.1f}" for name in names), f"{results['A2A', count]['rss'] / 1048576:.0f}"] for count in counts]
        lines = {name: [(max(count, 1), cost(name, count)) for count in counts] for name in names}
        plot = plots.write("benchmarks-open-sessions", "open sessions", "CPU us a call", lines)
        head = ["sessions of each", *(f"{name}, CPU us a call" for name in names), "memory MiB"]
        return f"{table(head, rows)}\n\n{plot}"

    return f"""## As the hub knows more

One `tools/call` through a hub that knows so many skills of one peer, and so many peers of one skill each; 8 connections. Looking a skill
up must not cost more the more there are.

{part("skills")}

{part("peers")}

An echo in each of two protocols through a hub that holds so many sessions of each that nobody closed: sessions of the envelope, contexts
of A2A. (Sessions of MCP's legacy era are sealed in their ids: the hub holds nothing for one that says nothing more.)

{open_sessions()}
"""


def mixed(result):
    names = {"nlip": "NLIP", "mcp": "MCP", "a2a": "A2A"}
    rows = [
        [names[caller], names[callee], f"{one['ok']:,}", f"{one['rps']:.0f}", f"{one['p50_us'] / 1000:.2f}", f"{one['p99_us'] / 1000:.2f}"]
        for (caller, callee), one in result["calls"].items()
    ]
    points, total = result["memory"], sum(one["ok"] for one in result["calls"].values())
    chosen = [points[round(number * (len(points) - 1) / 9)] for number in range(10)]
    memory = [[f"{seconds:.0f}", f"{rss / 1048576:.1f}"] for seconds, rss in chosen]
    verdict = "it cannot be told from none" if abs(result["slope"]) <= result["doubt"] else "it grows" if result["slope"] > 0 else "it shrinks"
    plot = plots.write_even("benchmarks-mixed", "seconds", "resident MiB", {"the hub": [(seconds, rss / 1048576) for seconds, rss in points]})
    return f"""## Mixed load that goes on

Clients of three protocols at once, four connections each, every answer checked: {total:,} calls from one protocol to another through one
hub. After the first third its memory changed by {result['slope'] / 1024:.0f} KiB a minute, give or take {result['doubt'] / 1024:.0f} (the straight line that fits
best, and twice its standard error), which is {result['slope'] * points[-1][0] / 60 * 2 / 3 / 1048576:.2f} MiB over the rest: {verdict}.

{table(["caller", "peer", "calls", "a second", "p50 ms", "p99 ms"], rows)}

{table(["seconds", "resident MiB"], memory)}

{plot}
"""


def hostile(result):
    names = {None: "nobody", "small": "valid requests, small", "sized": "valid requests, as large as the seeds", "hostile": "seeds of all fuzz targets at every door"}
    rows, harmless = [], result["rounds"]["sized"]["p99_us"]
    for kind, name in names.items():
        one, sent = result["rounds"][kind], result["sent"].get(kind, [])
        seconds = sum(told["seconds"] for told in sent) or 1
        rate = lambda what: f"{sum(told[what] for told in sent) / seconds:,.0f}" if sent else "0"
        rows.append([name, rate("requests"), rate("bytes"), f"{one['p50_us']:.0f}", f"{one['p99_us']:.0f}", f"{one['p99_us'] / harmless:.2f}"])
    head = ["beside them", "requests/s", "bytes/s", "p50 us", "p99 us", "p99, times that beside valid requests as large"]
    effect = result["effect"]
    if effect is None:
        verdict = "Too few rounds to tell the difference from noise."
    else:
        half = f"half of the differences lie between {effect['low']:+.0f} and {effect['high']:+.0f} us"
        verdict = f"In {result['turns']} rounds the p99 beside hostile requests differed by {effect['middle']:+.0f} us (median) from that beside valid ones; {half}: "
        verdict += "the difference shows." if effect["shows"] else "the difference is below the noise of this machine."
    return f"""## Honest callers beside hostile ones

The NLIP echo over four connections, while somebody else sends {result['rate']:,} requests a second, each on a connection of its own:
seeds of every fuzz target (`fixtures/fuzz`), in a random order, at fifteen doors (posted, in a frame of a WebSocket, as a message of gRPC), or as many
valid requests. Goal: at most twice the p99 that valid requests of the same number and sizes leave.

{table(head, rows)}

{verdict}
"""


# The order of the page; run.py makes every one of them.
ORDER = ["echo", "sizes", "envelope", "sessions", "tasks", "mcp", "mcp_sizes", "mcp_budget", "counts", "mcp_lists", "a2a", "a2a_streams", "aip", "aip_devices", "aip_plan", "agents", "trust", "site", "program", "building", "cross", "growth", "mixed", "hostile"]


def summary(kept):
    """The comparisons that a reader looks for, taken from the sections below them; nothing while one of those is missing."""
    if not {"echo", "mcp", "a2a", "aip", "site", "tasks", "program"} <= kept.keys():
        return []
    rows = {name: first_table(kept[name]) for name in kept if "\n|" in kept[name]}
    found = lambda name, **cells: next(row for row in rows[name] if all(row[key] == cell for key, cell in cells.items()))
    cost = lambda name, column, **cells: number(found(name, **cells)[column])
    mcp = lambda through: cost("mcp", "CPU us a call", through=through, connections="32")
    echo = lambda server: cost("echo", "CPU us each", server=server, connections="32")
    a2a = lambda case, agent: cost("a2a", "times ours", by="JSON-RPC", **{"answered with": case, "agent": agent, "connections": "32"})
    driven = lambda mode: next(row for row in rows["site"] if row[""].startswith(mode))
    task = lambda what: number(next(row for row in rows["tasks"] if row["what"].startswith(what))["a second"])
    start = lambda what: number(next(row for row in rows["program"] if row["what"].startswith(what))["measured"])
    ours = mcp("interlingua")
    told = [
        ["an MCP call through the hub", f"{ours / mcp('nginx'):.1f} times nginx, {ours / mcp('hyper proxy that parses'):.1f} times a proxy that only parses the JSON; fastmcp's proxy takes {mcp('fastmcp proxy') / ours:.0f} times ours"],
        ["an NLIP echo", f"{echo('interlingua') / echo('floor'):.1f} times a bare server; nlip-server takes {echo('nlip-server') / echo('interlingua'):.1f} times ours"],
        ["an A2A message", f"the official Rust server takes {a2a('message', 'a2a-server-lf'):.1f} times ours, the Python one {a2a('message', 'a2a-sdk'):.1f} times"],
        ["an A2A task (ours on disk, theirs in memory)", f"the official Rust server takes {a2a('task', 'a2a-server-lf'):.1f} times ours, the Python one {a2a('task', 'a2a-sdk'):.1f} times"],
        ["a heartbeat of an AIP device", f"a bare WebSocket takes {cost('aip', 'times ours', server='floor', devices='50', **{'round trip': 'beat'}):.2f} times ours"],
        ["a call of a driven website, by time", f"Playwright takes {driven('warm')['times']} times ours on a warm page, {driven('a fresh')['times']} times in a fresh context, {driven('the same')['times']} times with eight at once"],
        ["tasks stored durably", f"{task('tasks, 256'):.0f} a second with 256 in flight, where the disk syncs {task('append'):.0f} times a second"],
        ["the program", f"{start('from its start'):.0f} ms from its start to its first answer, {start('resident'):.0f} MiB of memory at rest"],
    ]
    return ["In short, in processor time unless it says otherwise, at 32 connections where there are several (50 devices):\n\n" + table(["what", "compared"], told)]


def write(measured, path=PAGE, whole=False):
    """Replaces what was measured anew and keeps the rest, unless the run was a whole one: each section says of which commit it is and
    when it was made, and compares only within itself."""
    kept = {} if whole else sections(path)
    kept.update(measured)
    parts = [
        "# Benchmarks",
        "Made by `make bench`, or a section of it by `scripts/bench --only SECTION`; the programs are in `bench/`. "
        f"{made(kept)} Compare within a section, "
        "not across machines: the load generator shares the cores with the servers, so processor time for each request says more than "
        "answers a second.\n\nThe hub's limits of calls a second, of calls at once and of the memory they hold (`limits.rate`, `limits.in_flight`, `limits.exchanges`) are lifted in every section, "
        "because what it is compared with has none; everything else is as it comes: rights, policy, validation, audit, metrics.",
    ]
    parts += summary(kept)
    parts += [f"<!-- {name} -->\n{kept[name].strip()}" for name in ORDER if name in kept]
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as file:
        file.write("\n\n".join(parts) + "\n")
    print(f"wrote {os.path.relpath(path, ROOT)}")


def made(kept):
    """Whether all sections are of one build."""
    found = {name: re.search(r"^Commit ([^,]+),", text, flags=re.MULTILINE) for name, text in kept.items() if name in ORDER}
    commits = {match.group(1) if match else "unknown" for match in found.values()}
    missing = [name for name in ORDER if name not in found]
    told = f"All sections are of commit {commits.pop()}." if len(commits) == 1 else "The sections are of several builds; each says which."
    return f"{told} Not measured: {', '.join(missing)}." if missing else told


def sections(path):
    """What the page has by now: the text of each section by its name, which stands in a comment before it."""
    if not os.path.exists(path):
        return {}
    with open(path) as file:
        pieces = re.split(r"^<!-- (\w+) -->$", file.read(), flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2]))


# What is not measured in rounds of some seconds, and how it is.
HOW = {
    "sessions": lambda options: "one run",
    "counts": lambda options: "300 calls of each kind",
    "a2a_streams": lambda options: "one run",
    "aip_devices": lambda options: "one run",
    "aip_plan": lambda options: f"{options.rounds} runs of each plan",
    "program": lambda options: f"{5 * options.rounds} starts",
    "building": lambda options: f"{options.rounds} edits",
    "site": lambda options: f"{options.calls} calls of each kind",
}


def render(name, result, moment, options):
    rounds, seconds = result.pop("measured", (options.rounds, options.seconds))
    how = HOW[name](options) if name in HOW else f"{rounds} rounds of {seconds:g} s"
    return f"{globals()[name](result).strip()}\n\n{moment.text(how)}"
