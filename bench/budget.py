"""Where the processor time of one `tools/call` through the hub goes.

The hub is one that `scripts/bench` builds from the same sources with frame pointers (`target/frames`), so that every sample has its whole
stack. Needs `perf`, and the right to use it. A sample counts for the innermost part of the program on its stack, so that the parts add up.
"""

import collections
import os
import re
import subprocess
import tempfile

import measure
import servers

HUB = os.path.join(servers.ROOT, "target", "frames", "release", "interlingua")

# The innermost frame that one of these matches says whose work a sample was. The order matters only within one frame.
PARTS = [
    ("audit and metrics", r"hub::audit|AuditLine|telemetry::(meters|histogram)|store_sqlite"),
    ("spans", r"tracing::|telemetry::trace"),
    ("validate", r"hub::validate|jsonschema"),
    ("admit and authorize", r"hub::(policy|admission)|authorize|may_call|interlingua_access|endpoint::guard"),
    ("scan and decode", r"wire::(rpc|members|object)|interlingua_mcp::decode"),
    ("encode the answer", r"interlingua_mcp::encode"),
    ("the hub's phases and the exchange", r"interlingua_hub::|interlingua_machines::task"),
    ("leg to the server: MCP", r"mcp::(outbound|client)"),
    ("leg to the server: HTTP", r"interlingua_net::client|hyper_util::client"),
    ("leg to the client: MCP", r"mcp::inbound"),
    ("leg to the client: HTTP", r"interlingua_net|interlingua_endpoint|axum|tower"),
]
PARTS = [(name, re.compile(pattern)) for name, pattern in PARTS]
KERNEL = re.compile(r"do_syscall_64|sysvec|irqentry|asm_exc")


def part(stack):
    if any(KERNEL.search(frame) for frame in stack):
        return "kernel: sockets, scheduling, interrupts"
    for frame in stack:
        for name, pattern in PARTS:
            if pattern.search(frame):
                return name
    if any("hyper::proto" in frame for frame in stack):
        serves = any("UpgradeableConnection" in frame for frame in stack)
        return "leg to the client: HTTP" if serves else "leg to the server: HTTP"
    return "runtime"


def stacks(recorded):
    """The samples of a recording, each as its frames from the inside out."""
    command = ["perf", "script", "-i", recorded, "-F", "ip,sym", "--no-inline"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(f"perf: {ran.stderr.strip()}")
    text = ran.stdout
    for sample in text.split("\n\n"):
        frames = [line.strip().split(" ", 1)[-1] for line in sample.splitlines() if line.strip()]
        if frames:
            yield frames


def recorded(hub, seconds, path):
    command = ["perf", "record", "--quiet", "-F", "997", "-g", "-p", str(hub.pid), "-o", path, "--", "sleep", str(seconds)]
    return subprocess.Popen(command)


def mcp_budget(options, request):
    """`request` writes one of MCP."""
    seconds = max(options.seconds, 3)
    body, headers = request("tools/call", "say", '"name":"say","arguments":{"text":"said-@N@"},')
    ask = {"connections": 32, "header": headers}
    with tempfile.TemporaryDirectory() as directory, servers.upstream() as up, servers.mcp_hub(up, binary=HUB) as hub:
        plain = measure.load(hub, hub.url("/mcp"), body, "said-@N@", seconds=seconds, **ask)
        path = os.path.join(directory, "perf.data")
        with recorded(hub, seconds, path):
            measure.load(hub, hub.url("/mcp"), body, "said-@N@", seconds=seconds, **ask)
        counts = collections.Counter(part(stack) for stack in stacks(path))
    if not counts:
        raise RuntimeError("perf took no sample")
    return {"cpu_us": plain["cpu_us"], "samples": counts, "measured": (1, seconds)}
