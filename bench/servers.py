"""The servers that are compared, started on free ports and stopped by their own process id."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Server:
    """A running server: its process id, its address, and a directory that goes with it."""

    def __init__(self, name, command, ready, directory=None):
        self.name, self.port, self.directory = name, free_port(), directory
        self.log = tempfile.NamedTemporaryFile(prefix=f"bench-{name}-", suffix=".log")
        command = [part.replace("@PORT@", str(self.port)) for part in command]
        self.process = subprocess.Popen(command, cwd=directory or ROOT, stdout=self.log, stderr=self.log, start_new_session=True)
        self.pid = self.process.pid
        self.wait(ready)

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def wait(self, path):
        for _ in range(600):
            if self.process.poll() is not None:
                break
            try:
                urllib.request.urlopen(self.url(path), timeout=5).read()
                return
            except urllib.error.HTTPError:
                return
            except OSError:
                time.sleep(0.1)
        with open(self.log.name) as log:
            raise RuntimeError(f"{self.name} does not start:\n{log.read()[-2000:]}")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.directory:
            shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def floor():
    """A bare axum server that parses the JSON and writes it back."""
    return Server("floor", [f"{ROOT}/bench/target/release/floor", "127.0.0.1:@PORT@"], "/nlip")


def reference():
    """nlip-server's echo application with its logging off."""
    command = [f"{ROOT}/.venv/bin/python", "-m", "uvicorn", "nlip_server.echo:app", "--host", "127.0.0.1", "--port", "@PORT@"]
    return Server("nlip-server", [*command, "--log-level", "warning", "--no-access-log"], "/health")


def hub(config="", files=None):
    """The hub, with a fresh data directory and its limit of calls a second out of the way; the others have none."""
    config = "limits: { rate: 1000000/s, in_flight: 100000 }\n" + config
    directory = tempfile.mkdtemp(prefix="bench-hub-")
    for name, content in {"interlingua.yaml": config, **(files or {})}.items():
        path = os.path.join(directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(content)
    command = [f"{ROOT}/target/release/interlingua", "serve", "--listen", "127.0.0.1:@PORT@", "--data", "data"]
    return Server("interlingua", [*command, "-c", "interlingua.yaml"], "/healthz", directory)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
