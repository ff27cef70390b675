"""What the hub does under a load that goes on, and under one that means it harm."""

import concurrent.futures
import itertools
import os
import statistics

import measure
import servers
import whole

MIXED_SECONDS = float(os.environ.get("MIXED_SECONDS", "600"))
# Who calls whom: each protocol as caller and as callee.
MIXED = [("nlip", "mcp"), ("mcp", "nlip"), ("a2a", "mcp"), ("mcp", "a2a")]


def mixed(request):
    """Several clients of three protocols at once, for long, with the hub's memory beside; `request` writes one of MCP."""
    with servers.upstream() as mcp, servers.hub("front_door: hub/echo\n") as a2a, servers.floor() as nlip:
        with servers.hub(whole.config(mcp, a2a, nlip)) as hub:
            calls = {pair: whole.asks(hub, *pair, request) for pair in MIXED}

            def run(numbered):
                number, (url, body, headers, expect) = numbered
                options = {"connections": 4, "seconds": MIXED_SECONDS, "header": headers, "first": number * 1_000_000_000}
                return measure.load(hub, url, body, expect, **options)

            with measure.Sampled(hub.pid, max(0.5, MIXED_SECONDS / 60)) as memory:
                with concurrent.futures.ThreadPoolExecutor(len(calls)) as pool:
                    results = dict(zip(calls, pool.map(run, enumerate(calls.values()))))
    rise, doubt = slope(memory.points)
    result = {"calls": results, "memory": memory.points, "slope": rise, "doubt": doubt, "measured": (1, MIXED_SECONDS)}
    print(f"mixed: {sum(one['ok'] for one in results.values())} calls, {rise / 1024:.1f} KiB a minute, give or take {doubt / 1024:.1f}", flush=True)
    return result


def slope(points):
    """Bytes a minute after the first third, as the straight line that fits best has it, and twice its standard error."""
    late = [point for point in points if point[0] > points[-1][0] / 3]
    if len(late) < 3:
        raise RuntimeError("too few measurements of the memory")
    times, sizes = zip(*late)
    line = statistics.linear_regression(times, sizes)
    missed = sum((size - line.intercept - line.slope * at) ** 2 for at, size in late) / (len(late) - 2)
    spread = sum((at - statistics.fmean(times)) ** 2 for at in times)
    return line.slope * 60, 2 * (missed / spread) ** 0.5 * 60


# Requests a second beside the honest callers, the same of each kind.
RATE = 200
KINDS = [None, "small", "sized", "hostile"]
# So many times the rounds that were asked for, at most, until the difference shows through the noise.
MORE_ROUNDS = 4


def hostile(options, body, expect):
    """The times of honest callers alone, beside harmless requests, and beside the seeds of all fuzz targets."""
    rounds, sent, numbers, effect = {}, {}, itertools.count(), None
    with servers.hub("front_door: hub/echo\naip: { list_tools: 0s }\n") as hub:
        for turn in range(MORE_ROUNDS * max(options.rounds, 2)):
            effect = apart(rounds, "p99_us")
            if turn >= options.rounds and effect and effect["shows"]:
                break
            for kind in KINDS:
                asked = {"connections": 4, "seconds": 4 * options.seconds, "first": next(numbers) * 10_000_000}
                if kind is None:
                    result = measure.load(hub, hub.url("/nlip"), body, expect, **asked)
                else:
                    with measure.replayed(hub.port, kind, RATE) as told:
                        result = measure.load(hub, hub.url("/nlip"), body, expect, **asked)
                    sent.setdefault(kind, []).append(told)
                rounds.setdefault(kind, []).append(result)
                print(f"hostile {kind}: p50 {result['p50_us']} us, p99 {result['p99_us']} us", flush=True)
    for told in itertools.chain(*sent.values()):
        if told["5xx"]:
            raise RuntimeError(f"the hub answered with a 5xx: {told}")
    effect = apart(rounds, "p99_us")
    turns = len(rounds[None])
    return {"rounds": rounds, "sent": sent, "rate": RATE, "effect": effect, "turns": turns, "measured": (turns, 4 * options.seconds)}


def apart(rounds, key):
    """How far the hostile rounds are from those of valid requests of the same number and sizes beside them: the median of the
    differences, and where their middle half lies. It shows when that half is on one side of nothing."""
    pairs = list(zip(rounds.get("hostile", []), rounds.get("sized", [])))
    if len(pairs) < 2:
        return None
    low, middle, high = statistics.quantiles(one[key] - other[key] for one, other in pairs)
    return {"low": low, "middle": middle, "high": high, "shows": low > 0 or high < 0}
