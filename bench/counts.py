"""Instructions and allocations of one call, counted by callgrind: the same on every machine, whatever else it does.

The hub runs under valgrind with one worker. The first calls fill caches and pools and are not counted. An allocation is a call of the
allocator's entry points from outside of it. User space only; valgrind has no SHA instructions, so hashing costs more here than it does.
"""

import collections
import glob
import os
import re
import shutil
import subprocess
import tempfile

import a2a_wire
import measure
import report
import servers

WARM, COUNTED = 100, 300
# So many functions are named.
TOP = 25
SESSION_VERSION = "2025-06-18"
INITIALIZE = (
    f'{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{SESSION_VERSION}",'
    '"capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}'
)
CALL = '{"jsonrpc":"2.0","id":@N@,"method":"tools/call","params":{"name":"say","arguments":{"text":"said-@N@"}}}'
ALLOCATES = re.compile(r"^_?mi_(malloc|zalloc|calloc|realloc|rezalloc|recalloc)\w*$")


class Counted:
    """A directory for what callgrind writes, and the command that a hub is started behind."""

    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="bench-counts-")
        self.prefix = [
            "valgrind", "--tool=callgrind", "--instr-atstart=no", "--collect-jumps=no", "--separate-threads=no",
            f"--callgrind-out-file={self.directory}/out.%p",
        ]
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.directory, ignore_errors=True)

    def control(self, pid, *flags):
        ran = subprocess.run(["callgrind_control", *flags, str(pid)], capture_output=True, text=True, check=False)
        if ran.returncode:
            raise RuntimeError(f"callgrind_control: {ran.stdout.strip()} {ran.stderr.strip()}")

    def dumped(self, pid):
        """What was counted since counting began."""
        self.control(pid, "--instr=off")
        self.control(pid, "--dump")
        newest = max(glob.glob(f"{self.directory}/out.{pid}*"), key=os.path.getmtime)
        with open(newest) as file:
            return parsed(file)


def parsed(lines):
    """Instructions and allocations, each by the function that made them, of a callgrind file with its names compressed."""
    names, instructions, allocations = {}, collections.Counter(), collections.Counter()
    function = callee = ""

    def named(text):
        number, _, name = text.partition(" ")
        if name:
            names[number] = name
        return names.get(number, number)

    is_call = False
    for line in lines:
        if line.startswith("fn="):
            function = named(line[3:].strip())
        elif line.startswith("cfn="):
            callee = named(line[4:].strip())
        elif line.startswith("calls="):
            is_call = True
            if ALLOCATES.match(callee) and not function.startswith(("mi_", "_mi_")):
                allocations[function] += int(line[6:].split()[0])
        elif line[:1] in "0123456789+-*" and line.strip():
            # The line after `calls=` is the cost of the callee, which counts there.
            if not is_call:
                instructions[function] += int(line.split()[1])
            is_call = False
    return instructions, allocations


# Whose work a function is, by the first of these that its name matches.
OWNERS = [
    ("hashing", r"(?i)sha\d|sha256|hmac|hkdf|gcm|aes"),
    ("copying and comparing memory", r"mem(cpy|move|set|cmp)|_rep_|strlen"),
    ("allocator", r"\bmi_|_mi_|malloc|__rust_alloc|__rdl_|realloc|dealloc"),
    ("JSON", r"interlingua_model::json|interlingua_wire::(members|object|rpc)|serde_json|interlingua_model::.*json"),
    ("the hub", r"interlingua_(hub|machines)\b"),
    ("the protocol", r"interlingua_(mcp|nlip|a2a|envelope|wire|endpoint)\b"),
    ("model", r"interlingua_model\b"),
    ("access, policy, keys, telemetry", r"interlingua_(access|policy|keys|telemetry)\b|cedar|metrics|tracing|opentelemetry"),
    ("store", r"interlingua_store|sqlite|rusqlite"),
    ("HTTP", r"interlingua_net\b|hyper|httparse|http::|axum|tower|h2::|matchit"),
    ("runtime", r"tokio|mio::|futures|pthread|epoll|syscall|writev|recv|send|clock_gettime|crossbeam|parking_lot"),
]
OWNERS = [(name, re.compile(pattern)) for name, pattern in OWNERS]
OTHER = "the rest: hash maps, strings, formatting, drops"


def owner(function):
    return next((name for name, pattern in OWNERS if pattern.search(function)), OTHER)


def by_owner(counter):
    """What was counted, by whose work it was, for each call."""
    found = collections.Counter()
    for function, count in counter.items():
        found[owner(function)] += count / COUNTED
    return found


def call(counted, hub, url, body, expect, headers):
    """One kind of call: its instructions and allocations each, in all and by whose work they are."""
    asked = {"connections": 1, "warm": 0, "seconds": 600, "header": headers}
    measure.load(hub, url, body, expect, requests=WARM, **asked)
    counted.control(hub.pid, "--zero")
    counted.control(hub.pid, "--instr=on")
    measure.load(hub, url, body, expect, requests=COUNTED, first=1_000_000, **asked)
    instructions, allocations = counted.dumped(hub.pid)
    each = {"instructions": instructions.total() / COUNTED, "allocations": allocations.total() / COUNTED}
    each["parts"] = by_owner(instructions), by_owner(allocations)
    each["functions"] = [(name, count / COUNTED, allocations[name] / COUNTED) for name, count in instructions.most_common(TOP)]
    print(f"counts {url}: {each['instructions']:.0f} instructions, {each['allocations']:.1f} allocations", flush=True)
    return each


def mcp_session(hub):
    """The headers of a session of the legacy era."""
    headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    session = measure.header_of_post(hub.url("/mcp"), INITIALIZE, headers, "mcp-session-id")
    return ["accept=application/json, text/event-stream", f"mcp-protocol-version={SESSION_VERSION}", f"mcp-session-id={session}"]


def counts(mcp_request, binary=None):
    """The five main calls, each of a hub of its own."""
    echo, found = "front_door: hub/echo\n", {}
    stateless, headers = mcp_request("tools/call", "say", '"name":"say","arguments":{"text":"said-@N@"},')
    nlip = '{"format":"text","subformat":"english","content":"said-@N@"}'
    environment = {**os.environ, "TOKIO_WORKER_THREADS": "1", "GLIBC_TUNABLES": "glibc.cpu.x86_rep_movsb_threshold=100000000"}
    with Counted() as counted, servers.upstream() as up:
        behind = {"prefix": counted.prefix, "binary": binary, "environment": environment}
        with servers.mcp_hub(up, **behind) as hub:
            found["MCP `tools/call`, session (2025-06-18)"] = call(counted, hub, hub.url("/mcp"), CALL, "said-@N@", mcp_session(hub))
        with servers.mcp_hub(up, **behind) as hub:
            found["MCP `tools/call`, stateless (2026-07-28)"] = call(counted, hub, hub.url("/mcp"), stateless, "said-@N@", headers)
        with servers.hub(echo, **behind) as hub:
            found["NLIP echo"] = call(counted, hub, hub.url("/nlip"), nlip, "said-@N@", [])
        with servers.hub(echo, **behind) as hub:
            found["A2A SendMessage, answered by a message"] = call(
                counted, hub, hub.url("/a2a"), a2a_wire.rpc("echo"), "said-@N@", ["a2a-version=1.0"]
            )
        with servers.hub(echo, **behind) as hub:
            found["Routing envelope, one call"] = call(counted, hub, hub.url("/nlip/route"), report.ENVELOPE, '"status":"success"', [])
    return found
