"""The travel story: starts a hub and six peers, each a process of its own that speaks only its own protocol, asks one question
over NLIP and shows who called whom, in which protocol, as the hub's own audit tells it.

    scripts/demo                 builds everything first, and leaves the hub up to be tried
    scripts/demo --script        the same story, and then the end

Only the standard library is used here; what the peers need is said in each of them.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
JURY = ["saver", "sleeper", "walker"]  # in the order of hub.yaml
QUESTION = "Plan three days in Paris for me, from New York on 1 May 2027."
PATIENCE = 120
# What must be there before the question is asked, and what stands for each in the story.
EXPECTED = {
    "flights/search_flights": "a timetable, an MCP server",
    "hotels/find_room": "a hotel expert, an A2A agent",
    "guide/chat": "a city guide, an NLIP agent",
    "airline/find_fares": "an airline's page without an interface, driven by a browser",
    "printer/print_itinerary": "a printer, an AIP device",
    "jury/chat": "three agents of the hub that vote",
    "planner/chat": "an agent of the hub, with a scripted model",
}
NAMES = {"nlip": "NLIP", "mcp": "MCP", "a2a": "A2A", "aip": "AIP", "nlweb": "NLWeb", "site": "browser", "local": "inside"}


class Trouble(Exception):
    """What a person should read when the story cannot go on."""


class Company:
    """The processes of the story, and the directory they share. All of them end with it."""

    def __init__(self, program):
        self.program, self.processes = program, []
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="interlingua-demo-"))
        self.files = self.place / "travel"
        shutil.copytree(HERE, self.files, ignore=shutil.ignore_patterns("__pycache__", "paper.txt"))

    def start(self, name, command, **environment):
        log = (self.place / f"{name}.log").open("w")
        process = subprocess.Popen(
            [str(part) for part in command], cwd=self.files, env={**os.environ, **environment},
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )
        log.close()
        self.processes.append((name, process))
        return process

    def check(self):
        """A process that ended has something to say."""
        for name, process in self.processes:
            if process.poll() is not None:
                said = self.log(name)
                hint = "\n`make demo` installs what the peers need." if "ModuleNotFoundError" in said else ""
                raise Trouble(f"{name} ended with {process.returncode}:\n{said}{hint}")

    def log(self, name):
        return (self.place / f"{name}.log").read_text(errors="replace")[-2000:]

    def end(self):
        for _, process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
        for _, process in reversed(self.processes):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.place, ignore_errors=True)


class Hub:
    """The few requests that the story needs."""

    def __init__(self, url, data):
        self.url, self.data = url, data

    def send(self, path, data=None, patience=30):
        """As the hub's Owner: by the token in the data directory."""
        headers = {"Authorization": f"Bearer {(self.data / 'token').read_text().strip()}", "Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(self.url + path, data, headers), timeout=patience) as answer:
            return json.load(answer)

    def get(self, path):
        return self.send(path)

    def nlip(self, text, tokens=()):
        parts = [{"format": "token", "subformat": kind, "content": content} for kind, content in tokens]
        message = {"format": "text", "subformat": "english", "content": text, **({"submessages": parts} if parts else {})}
        return self.send("/nlip", json.dumps(message).encode(), PATIENCE)

    def ready(self, skills):
        """Whether all of these are listed, and those who have them can be reached."""
        try:
            listed = {skill["id"] for skill in self.get("/api/skills?limit=200")["items"]}
            up = {peer["name"] for peer in self.get("/api/peers?limit=200")["items"] if peer["health"] == "up"}
        except OSError:
            return False
        return all(skill in listed and skill.split("/")[0] in up for skill in skills)


class Audit:
    """Every decision of the hub once, oldest first."""

    def __init__(self, hub):
        self.hub, self.seen = hub, 0

    def new(self):
        lines, after = [], ""
        while after is not None:
            page = self.hub.get("/api/audit?limit=200" + (f"&after={after}" if after else ""))
            fresh = [line for line in page["items"] if line["seq"] > self.seen]
            lines += fresh
            after = page.get("next") if fresh and len(fresh) == len(page["items"]) else None
        lines.sort(key=lambda line: line["seq"])
        self.seen = lines[-1]["seq"] if lines else self.seen
        return lines


def say(text=""):
    print(text, flush=True)


def heading(text):
    say(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n== {text}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def python(folder):
    """The Python that scripts/setup-python made for one SDK, or the one on the path."""
    found = ROOT / folder / "bin/python"
    return str(found) if found.exists() else "python3"


def until(company, what, seen):
    """Waits for a condition; whoever should have brought it about and is gone is named."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        company.check()
        if seen():
            return
        time.sleep(0.1)
    raise Trouble(f"{what} did not come in {PATIENCE} seconds; the hub says:\n{company.log('hub')}")


def assemble(company, ports):
    """Starts everybody. The hub starts the MCP server itself, and drives the airline's page when it is asked to."""
    hub_port, hotels, guide, airline = ports
    site = company.files / "airline.yaml"
    site.write_text(site.read_text().replace("127.0.0.1:9104", f"127.0.0.1:{airline}"))
    company.start("hotels", [python(".tools/python/a2a"), "hotels.py", hotels])
    uvicorn = ["-m", "uvicorn", "guide:app", "--host", "127.0.0.1", "--log-level", "warning", "--port", guide]
    company.start("guide", [python(".venv"), *uvicorn])
    company.start("airline", [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--directory", "airline", airline])
    serve = [company.program, "serve", "-c", "hub.yaml", "--listen", f"127.0.0.1:{hub_port}", "--data", company.place / "data"]
    company.start(
        "hub", serve, FLIGHTS_PYTHON=python(".tools/python/mcp-2"), HOTELS_PORT=str(hotels), GUIDE_PORT=str(guide)
    )
    hub = Hub(f"http://127.0.0.1:{hub_port}", company.place / "data")
    until(company, "the hub", lambda: hub.ready(["planner/chat"]))
    join = ["device", "--hub", f"ws://127.0.0.1:{hub_port}", "--id", "printer", "-c", "printer.yaml"]
    # A token that may be this device, and nothing else.
    make = [company.program, "token", "create", "printer", "--skill", "printer/*", "--data", company.place / "data"]
    key = subprocess.run(make, capture_output=True, text=True, check=True).stdout.strip()
    company.start("printer", [company.program, *join, "--data", company.place / "printer-data"], INTERLINGUA_DEVICE_KEY=key)
    until(company, "a peer", lambda: hub.ready(EXPECTED))
    return hub


def browser_missing(company):
    """What `doctor` says of the browser, if there is none."""
    command = [company.program, "doctor", "-c", "hub.yaml", "--json"]
    result = subprocess.run(command, cwd=company.files, capture_output=True, text=True)
    findings = json.loads(result.stdout or "{}").get("findings", [])
    return next((one["detail"] for one in findings if one["what"] == "browser" and one["verdict"] != "good"), None)


def who(line):
    """The last of a chain such as `owner>agent:planner` is who acts."""
    return line["who"].split(">")[-1].split(":")[-1]


class Narrator:
    """Tells the audit as a story: who called whom, and in which protocol."""

    def __init__(self, hub):
        self.hub, self.audit = hub, Audit(hub)
        self.audit.new()
        self.tasks = {}
        self.peers = {peer["name"]: peer["protocol"] for peer in hub.get("/api/peers?limit=200")["items"]}

    def votes(self):
        """What the team wrote down: who voted for whom, and why. A vote that an answer overtook is there too."""
        steps = self.hub.get(f"/api/tasks/{self.tasks['jury/chat']}/timeline?limit=200")["items"]
        for step in (step["data"] for step in steps if step["step"] == "voted"):
            say(f"  {JURY[step['seat']]} votes for {JURY[step['vote']['choice']]}: {step['vote']['reason']}")

    def tell(self):
        for line in self.audit.new():
            peer = (line.get("on") or "").split("/")[0]
            if line["action"] != "authorize" or peer not in self.peers:
                continue
            came = NAMES.get((line.get("wire") or "").split("/")[0], "")
            went = NAMES.get(self.peers[peer], self.peers[peer])
            caller = f"a person, by {came}" if came and who(line) == "owner" else who(line)
            self.tasks[line["on"]] = line.get("task")
            say(f"  {caller:<20} --{went:-^9}--> {line['on']}")


def ask(hub, narrator, text, tokens=()):
    """Says something over NLIP, and tells what the hub decides while the answer is awaited."""
    with concurrent.futures.ThreadPoolExecutor(1) as beside:
        asking = beside.submit(hub.nlip, text, tokens)
        while not asking.done():
            narrator.tell()
            time.sleep(0.1)
    narrator.tell()
    return asking.result()


def tell(hub, company):
    """The question, the call that waits for a yes, the yes, and the end."""
    heading("the question, over NLIP")
    say(f"  {QUESTION}")
    heading("who called whom, as the hub's audit tells it")
    narrator = Narrator(hub)
    answer = ask(hub, narrator, QUESTION)
    tokens = [(part["subformat"], part["content"]) for part in answer.get("submessages", []) if part["format"] == "token"]
    if "yes or no" in answer["content"]:
        heading("how the jury voted")
        narrator.votes()
        heading("what writes waits for a person's yes")
        say("  " + answer["content"].replace("\n", "\n  "))
        say("  > yes")
        answer = ask(hub, narrator, "yes", tokens)
    heading("the answer, over NLIP")
    say("  " + answer["content"].replace("\n", "\n  "))
    heading("what the printer printed")
    paper = company.files / "printer/print_itinerary/paper.txt"
    if not paper.exists():
        raise Trouble(f"nothing was printed; the hub says:\n{company.log('hub')}")
    say("  " + paper.read_text().strip("\n\f").replace("\n", "\n  "))


def examples(readme, url):
    """The one-line examples of the README, for this hub."""
    blocks = readme.split("```sh\n")[1:]
    return [line.replace("http://127.0.0.1:7447", url) for line in blocks[0].split("```")[0].splitlines()]


def stay(company, hub):
    heading(f"the hub stays up at {hub.url}; try it from another terminal, Ctrl-C ends it")
    say(f"alias interlingua={company.program}\nexport INTERLINGUA_DATA={hub.data}\ninterlingua chat planner\n")
    for line in examples((ROOT / "README.md").read_text(), hub.url):
        say(line)
    while True:
        company.check()
        time.sleep(1)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", default="interlingua", help="the program; default: the one on the path")
    options.add_argument("--browser", default="auto", help="where the browser is; default: wherever one usually is")
    options.add_argument("--ports", type=int, nargs=4, help="of the hub, the hotels, the guide and the airline; default: any")
    options.add_argument("--script", action="store_true", help="end when the story is told")
    options = options.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.environ["TRAVEL_BROWSER"] = options.browser
    company = Company(options.program)
    try:
        heading("a hub and its peers start")
        hub = assemble(company, options.ports or [free_port() for _ in range(4)])
        for skill, what in EXPECTED.items():
            say(f"  {skill:<24} {what}")
        missing = browser_missing(company)
        if missing:
            say(f"\n  No browser: {missing}\n  The airline's page is left out; the planner goes on with the timetable alone.")
        tell(hub, company)
        if not options.script:
            stay(company, hub)
    except Trouble as trouble:
        sys.exit(f"error: {trouble}")
    except KeyboardInterrupt:
        say()
    finally:
        company.end()


if __name__ == "__main__":
    main()
