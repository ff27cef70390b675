"""The servers that are compared, started on free ports and stopped by their own process id."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The Owner's token of every hub that was started, by its port: without one a caller is anonymous.
TOKENS = {}


class Shown(urllib.request.BaseHandler):
    """Shows a hub its Owner's token, unless a request says who it is from."""

    def http_request(self, request):
        token = TOKENS.get(int(request.host.rsplit(":", 1)[-1])) if ":" in request.host else None
        if token and not request.has_header("Authorization"):
            request.add_unredirected_header("Authorization", f"Bearer {token}")
        return request


urllib.request.install_opener(urllib.request.build_opener(Shown()))


class Server:
    """A running server: its process id, its address, and a directory that goes with it."""

    def __init__(self, name, command, ready, directory=None, port=None, environment=None):
        self.name, self.port, self.directory = name, port or free_port(), directory
        self.log = tempfile.NamedTemporaryFile(prefix=f"bench-{name}-", suffix=".log")
        command = [part.replace("@PORT@", str(self.port)) for part in command]
        self.process = subprocess.Popen(
            command, cwd=directory or ROOT, stdout=self.log, stderr=self.log, start_new_session=True, env=environment
        )
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


def ws_floor():
    """A bare WebSocket that says back what it hears."""
    return Server("floor", [f"{ROOT}/bench/target/release/ws_floor", "127.0.0.1:@PORT@"], "/")


def aip_python():
    """An AIP server of the Python implementation's shape, without all that it does beside."""
    return Server("python", [f"{ROOT}/.venv/bin/python", f"{ROOT}/bench/aip_server.py", "@PORT@"], "/")


def upstream(tools=1):
    """A fast MCP server with the tool `say`."""
    command = [f"{ROOT}/bench/target/release/upstream", "127.0.0.1:@PORT@", "--tools", str(tools)]
    return Server("direct", command, "/mcp")


def proxy(name, behind, *flags):
    """A bare hyper proxy."""
    command = [f"{ROOT}/bench/target/release/proxy", "127.0.0.1:@PORT@", f"127.0.0.1:{behind.port}", *flags]
    return Server(name, command, "/mcp")


def nginx(behind):
    """nginx as a reverse proxy with connections kept open on both sides, and nothing logged."""
    directory = tempfile.mkdtemp(prefix="bench-nginx-")
    port = free_port()
    with open(os.path.join(directory, "nginx.conf"), "w") as file:
        file.write(NGINX.replace("@HERE@", directory).replace("@LISTEN@", str(port)).replace("@BEHIND@", str(behind.port)))
    return Server("nginx", ["nginx", "-p", directory, "-e", "error.log", "-c", "nginx.conf"], "/mcp", directory, port)


NGINX = """
worker_processes 2;
daemon off;
pid @HERE@/pid;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path @HERE@/body; proxy_temp_path @HERE@/proxy;
  fastcgi_temp_path @HERE@/fastcgi; uwsgi_temp_path @HERE@/uwsgi; scgi_temp_path @HERE@/scgi;
  keepalive_requests 10000000;
  upstream behind { server 127.0.0.1:@BEHIND@; keepalive 128; keepalive_requests 10000000; }
  server {
    listen 127.0.0.1:@LISTEN@ reuseport;
    location / { proxy_pass http://behind; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }
  }
}
"""


def fastmcp(behind):
    """fastmcp's proxy with one client to the upstream that is kept, which is its quicker way."""
    command = [f"{ROOT}/.tools/python/mcp-2/bin/python", f"{ROOT}/bench/fastmcp_proxy.py", "@PORT@", behind.url("/mcp")]
    return Server("fastmcp proxy", command, "/mcp")


def a2a_sdk():
    """The agent of the interoperability tests, on the official Python SDK with its access log off; its card names gRPC."""
    command = [f"{ROOT}/.tools/python/a2a/bin/python", f"{ROOT}/conformance/a2a/interop/agent.py", "127.0.0.1:@PORT@", "GRPC:1.0"]
    return Server("a2a-sdk", command, "/.well-known/agent-card.json")


def a2a_rust():
    """The same agent on the official Rust crates."""
    command = [f"{ROOT}/.tools/a2a-rust/release/a2a-rust-interop", "agent", "127.0.0.1:@PORT@", "GRPC"]
    return Server("a2a-server-lf", command, "/.well-known/agent-card.json")


def mcp_hub(behind, **options):
    """The hub in front of it, with policy, audit and metrics as they always are."""
    return hub(f'peers: {{ up: {{ mcp: {{ url: "{behind.url("/mcp")}" }}, effects: reads }} }}\nmcp: {{ names: bare, search_above: 100000 }}\n', **options)


def hub_in_memory(config="", files=None):
    """The hub with its data in a file system that is memory: what is left when no disk is waited for."""
    return hub(config, files, name="interlingua, in memory", below="/dev/shm")


def hub(config="", files=None, binary=None, name="interlingua", below=None, prefix=(), environment=None):
    """The hub, with a fresh data directory and its limits of calls a second, of calls at once and of their memory out of the way; the
    others have none. `prefix` is the command that runs
    it, if something does."""
    config = "limits: { rate: 1000000/s, in_flight: 100000, exchanges: 4GiB }\n" + config
    directory = tempfile.mkdtemp(prefix="bench-hub-", dir=below)
    for file_name, content in {"interlingua.yaml": config, **(files or {})}.items():
        path = os.path.join(directory, file_name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(content)
    command = [*prefix, binary or f"{ROOT}/target/release/interlingua", "serve", "--listen", "127.0.0.1:@PORT@", "--data", "data"]
    server = Server(name, [*command, "-c", "interlingua.yaml"], "/healthz", directory, environment=environment)
    with open(os.path.join(directory, "data", "token")) as file:
        TOKENS[server.port] = file.read().strip()
    return server


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
