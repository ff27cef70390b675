"""What a process tree costs: processor time and memory, read from /proc; and one run of the load generator."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import servers

HERE = os.path.dirname(os.path.abspath(__file__))
TICK = os.sysconf("SC_CLK_TCK")
# The hub's one thread that writes to its store.
WRITER = "store-writer"


def tree(pid):
    """A process and all its descendants."""
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        fields = stat(name)
        if fields:
            children.setdefault(int(fields[1]), []).append(int(name))
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        found.append(one)
        waiting += children.get(one, [])
    return found


def stat(pid):
    """The fields of /proc/PID/stat after the program's name, or nothing when the process is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            text = file.read()
    except OSError:
        return None
    return text[text.rindex(")") + 2 :].split()


def cpu_seconds(pid):
    """User and system time of the whole tree."""
    fields = [stat(one) for one in tree(pid)]
    return sum(int(one[11]) + int(one[12]) for one in fields if one) / TICK


def thread_seconds(pid, name):
    """User and system time of the threads of a process that have this name."""
    spent = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/stat") as file:
            text = file.read()
            if text[text.index("(") + 1 : text.rindex(")")] == name:
                fields = text[text.rindex(")") + 2 :].split()
                spent += int(fields[11]) + int(fields[12])
    return spent / TICK


def resident_bytes(pid):
    """Resident memory of the whole tree."""
    fields = [stat(one) for one in tree(pid)]
    return sum(int(one[21]) for one in fields if one) * os.sysconf("SC_PAGE_SIZE")


def stored_bytes(directory):
    """What a hub in this directory has on its disk."""
    found = [os.path.join(where, name) for where, _, names in os.walk(os.path.join(directory, "data")) for name in names]
    return sum(os.path.getsize(path) for path in found if os.path.isfile(path))


def sync_seconds(directory, count=500):
    """How long this disk takes to append 4 KiB and sync it, one after another."""
    path, times = os.path.join(directory, "sync-probe"), []
    file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    for _ in range(count):
        started = time.perf_counter()
        os.write(file, b"x" * 4096)
        os.fdatasync(file)
        times.append(time.perf_counter() - started)
    os.close(file)
    os.unlink(path)
    return times


def load(server, url, body, expect, **options):
    """Runs the load generator against one server. The result also says the server's processor time for each answer."""
    with tempfile.NamedTemporaryFile("w", prefix="bench-body-") as file:
        file.write(body)
        file.flush()
        command = [os.path.join(HERE, "target/release/load"), "--url", url, "--body", file.name, f"--expect={expect}"]
        for name, value in shown(server, options).items():
            for one in value if isinstance(value, list) else [value]:
                command += [f"--{name}", str(one)]
        return generated(server, url, command)


def shown(server, options):
    """These options, with the token of the hub's Owner where they show none."""
    headers = options.get("header", [])
    headers = headers if isinstance(headers, list) else [headers]
    token = servers.TOKENS.get(server.port)
    if token is None or any(header.startswith("authorization=") for header in headers):
        return options
    return {**options, "header": [*headers, f"authorization=Bearer {token}"]}


def socket_url(port):
    """Where devices of a server come in."""
    token = servers.TOKENS.get(port)
    return f"ws://127.0.0.1:{port}/ws" + (f"?token={token}" if token else "")


def generated(server, url, command):
    """What a load generator tells, with what its run cost the server."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as generator:
        started = generator.stdout.readline()
        before, written = cpu_seconds(server.pid), thread_seconds(server.pid, WRITER)
        line = generator.stdout.readline()
        spent, written = cpu_seconds(server.pid) - before, thread_seconds(server.pid, WRITER) - written
        if not line.startswith("{"):
            raise RuntimeError(f"the load generator failed: {started} {generator.stderr.read()[-500:]}")
    result = json.loads(line)
    if result["errors"] or not result["ok"]:
        raise RuntimeError(f"{url}: {result['errors']} errors, the first: {result['first_error']}")
    result["cpu_us"] = spent * 1e6 / result["ok"]
    result["writer_us"] = written * 1e6 / result["ok"]
    result["rss"] = resident_bytes(server.pid)
    return result


def devices(server, what, **options):
    """Devices that beat or work, against one server."""
    url = socket_url(server.port)
    command = [os.path.join(HERE, "target/release/devices"), what, "--url", url]
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    return generated(server, url, command)


class Held:
    """Devices that are connected and say nothing, in a process of their own."""

    def __init__(self, server, count, name):
        url = socket_url(server.port)
        command = [os.path.join(HERE, "target/release/devices"), "hold", "--url", url, "--connections", str(count), "--id", name]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline().strip()
        if line != str(count):
            self.__exit__()
            raise RuntimeError(f"{count} devices could not be connected: {line or 'see above'}")

    def freeze(self):
        """They answer nothing any more, and their connections stay open."""
        self.process.send_signal(signal.SIGSTOP)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()


def alone(program, *arguments):
    """What a program tells that does one thing and nothing around it."""
    command = [os.path.join(os.path.dirname(HERE), program), *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def get(url):
    """What is there, as JSON."""
    with urllib.request.urlopen(url, timeout=60) as response:
        return json.load(response)


def post(url, body, headers):
    """One request; its answer as JSON."""
    request = urllib.request.Request(url, body.encode(), {"content-type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def header_of_post(url, body, headers, name):
    """One request; a header of its answer."""
    with urllib.request.urlopen(urllib.request.Request(url, body.encode(), headers), timeout=60) as response:
        return response.headers[name]


def count(url):
    """How many items a list has, page by page; the address has a query."""
    found, after = 0, ""
    while after is not None:
        with urllib.request.urlopen(url + (f"&after={after}" if after else ""), timeout=60) as response:
            page = json.load(response)
        found, after = found + len(page["items"]), page.get("next")
    return found


class Sampled:
    """Resident memory of a process tree, every so many seconds for as long as this is entered."""

    def __init__(self, pid, every):
        self.pid, self.every, self.points, self.over = pid, every, [], threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        begun = time.monotonic()
        while True:
            self.points.append((time.monotonic() - begun, resident_bytes(self.pid)))
            if self.over.wait(self.every):
                return

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


@contextlib.contextmanager
def device(port):
    """A device that says back what it is told, in a process of its own."""
    command = [sys.executable, os.path.join(HERE, "device.py"), socket_url(port)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout.readline().strip() != "READY":
                raise RuntimeError("the device could not join: see above")
            yield
        finally:
            process.stdin.close()


@contextlib.contextmanager
def replayed(port, what, rate):
    """So many requests of one kind a second, sent by a process of its own; yields what it told in the end."""
    told = {}
    command = [sys.executable, os.path.join(HERE, "replay.py"), str(port), what, str(rate), servers.TOKENS.get(port, "")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as sender:
        try:
            if sender.stdout.readline().strip() != "READY":
                raise RuntimeError(f"{what} cannot be sent: see above")
            yield told
        finally:
            sender.stdin.close()
            told.update(json.loads(sender.stdout.readline() or "{}"))


@contextlib.contextmanager
def held_open(port, path, count):
    """So many event streams of one path, each with its first event read, held by a process of its own."""
    command = [sys.executable, os.path.join(HERE, "hold_streams.py"), str(port), path, str(count), servers.TOKENS.get(port, "")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        try:
            line = holder.stdout.readline().strip()
            if line != str(count):
                raise RuntimeError(f"{count} streams of {path} could not be opened: {line or 'see above'}")
            yield
        finally:
            holder.stdin.close()
