"""Holds the hub against the real classes of Microsoft's UFO: its device client with its tool router, its constellation device
manager, and its server.

    UFO=CLONE python ufo.py PATH_OF_INTERLINGUA

UFO is on no package registry, so `make test` does not run this. conformance/README.md says how to set it up. The only part of UFO that is
replaced is the session of its server, which a language model would drive: a scripted one sends its commands by UFO's own dispatcher.
Each check prints one line; the exit code is the number of checks that failed.
"""

import asyncio
import contextlib
import json
import logging
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.request

UFO = os.path.abspath(os.environ["UFO"])
HUB = os.path.abspath(sys.argv[1])
KEY = "shared-key-of-the-devices"
# An agent of the hub drives a device as UFO's own agents do: it calls a tool and says what it saw.
TURN = """  - call: [{ name: dev1__execute_command, arguments: { command: "uname -s", api_key: k } }]
  - { say: "The device runs Linux." }
"""
LINES = "replies:\n" + 2 * TURN

os.chdir(UFO)
sys.path.insert(0, UFO)
os.environ["UFO_MCP_API_KEY"] = "k"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def until(what, check, seconds=30):
    for _ in range(seconds * 10):
        with contextlib.suppress(OSError, KeyError):
            found = await asyncio.to_thread(check)
            if found:
                return found
        await asyncio.sleep(0.1)
    raise AssertionError(f"never: {what}")


class Hub:
    """A hub of its own data directory, and its interface as the Owner uses it."""

    def __init__(self, folder, config, files=()):
        self.folder, self.port = pathlib.Path(folder), free_port()
        self.folder.mkdir()
        (self.folder / "hub.yaml").write_text(config)
        for name, text in files:
            (self.folder / name).write_text(text)
        self.start()

    def start(self):
        log = open(self.folder / "log", "a")
        command = [HUB, "serve", "-c", "hub.yaml", "--data", "data", "--listen", f"127.0.0.1:{self.port}"]
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log)

    def stop(self):
        self.process.terminate()
        self.process.wait(20)

    def url(self, path, scheme="http"):
        return f"{scheme}://127.0.0.1:{self.port}{path}"

    def ask(self, path, body=None):
        token = (self.folder / "data" / "token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(self.url(path), data, headers), timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            return json.loads(refused.read() or b"null")

    def peer(self, name):
        return next((one for one in self.ask("/api/peers")["items"] if one["name"] == name), {})

    def skills(self, peer):
        return [one["id"] for one in self.ask("/api/skills?limit=500")["items"] if one["id"].startswith(peer + "/")]

    async def call(self, skill, arguments):
        return await asyncio.to_thread(self.ask, "/api/exchanges", {"skill": skill, "arguments": arguments})


def device_client(url, tools, name="dev1", **options):
    """UFO's own device client: its tool router asks UFO's own MCP server of Linux commands."""
    from ufo.client.computer import ComputerManager
    from ufo.client.mcp.mcp_server_manager import MCPServerManager
    from ufo.client.ufo_client import UFOClient
    from ufo.client.websocket import UFOWebSocketClient

    server = {"namespace": "Linux", "type": "http", "host": "127.0.0.1", "port": tools, "path": "/mcp", "reset": False}
    manager = MCPServerManager()
    computers = ComputerManager({"mcp": {"LinuxAgent": {"default": {"data_collection": [], "action": [server]}}}}, manager)
    client = UFOClient(manager, computers, client_id=name, platform="linux")
    return UFOWebSocketClient(url, client, **options)


def constellation(url, device="dev1"):
    """UFO's own device manager of its orchestrator, connected to one device."""
    from galaxy.client.device_manager import ConstellationDeviceManager

    manager = ConstellationDeviceManager(task_name="galaxy", heartbeat_interval=1.0, reconnect_delay=1.0)
    return manager, manager.register_device(device, url, "linux", ["shell"], {})


def ufo_server(port):
    """UFO's own server in a thread, with a session that runs one command of the request on the device."""
    import uvicorn
    from aip.messages import Command
    from ufo.module.context import Context
    from ufo.module.dispatcher import WebSocketCommandDispatcher
    from ufo.server import app as server

    class Scripted:
        current_agent_class = "LinuxAgent"

        def __init__(self, task, id, request, task_protocol, **_):
            self.task, self.id, self.request, self.results, self.failed = task, id, request, {}, False
            self.context = Context()
            self.context.attach_command_dispatcher(WebSocketCommandDispatcher(self, task_protocol))

        async def run(self):
            wanted = json.loads(self.request)
            command = Command(tool_name=wanted["tool"], tool_type="action", parameters=wanted["arguments"])
            done = await self.context.command_dispatcher.execute_commands([command], timeout=30)
            self.results = {"said": str(done[0].result)}
            self.failed = done[0].status.value != "success"

        def is_error(self):
            return self.failed

        def is_finished(self):
            return not self.failed

        def reset(self):
            pass

    server._api_key = KEY
    server.session_manager.session_factory.create_service_session = Scripted
    config = uvicorn.Config(server.app, host="127.0.0.1", port=port, log_level="error", ws="websockets")
    running = uvicorn.Server(config)
    threading.Thread(target=running.run, daemon=True).start()
    return running


class Checks:
    def __init__(self):
        self.failed = 0

    async def see(self, name, check):
        try:
            await asyncio.wait_for(check, 90)
            print(f"ok      {name}", flush=True)
        except Exception as why:  # noqa: BLE001 - whatever went wrong is the verdict
            self.failed += 1
            print(f"FAILED  {name}: {type(why).__name__}: {why}", flush=True)


async def devices_of_the_hub(see, folder, tools):
    config = (
        f"aip: {{ key: {KEY}, planner: planner, agent_name: LinuxAgent, grace: 30s }}\n"
        "models: { canned: { provider: scripted, file: ./lines.yaml } }\n"
        "agents: { planner: { model: canned, public: true, skills: ['dev1/*'], confirm: { unknown: allow } } }\n"
    )
    hub = Hub(folder, config, [("lines.yaml", LINES)])
    await until("the hub answers", lambda: hub.ask("/api/peers"))
    socket_url = hub.url(f"/ws?token={KEY}", "ws")
    client = device_client(socket_url, tools, timeout=2)
    listening = asyncio.create_task(client.connect_and_listen())

    async def registers():
        await asyncio.wait_for(client.connected_event.wait(), 20)
        await until("the device is up", lambda: hub.peer("dev1").get("health") == "up")

    async def tells_its_tools():
        await until("its tools are skills", lambda: "dev1/execute_command" in hub.skills("dev1"))

    async def runs_a_command():
        answer = await hub.call("dev1/execute_command", {"command": "uname -s", "api_key": "k"})
        assert answer["state"] == "completed" and "Linux" in json.dumps(answer), answer

    async def tells_a_failure():
        answer = await hub.call("dev1/execute_command", {"command": "uname -s", "api_key": "wrong"})
        assert "Authentication failed" in json.dumps(answer), answer

    async def beats():
        heard = []
        original = client.handle_message

        async def listen(text):
            heard.append(json.loads(text)["type"])
            await original(text)

        client.handle_message = listen
        for _ in range(100):
            if "heartbeat" in heard:
                return
            await asyncio.sleep(0.1)
        raise AssertionError(f"no heartbeat was acknowledged: {heard}")

    done = []
    step = client.ufo_client.execute_step

    async def counted(message):
        results = await step(message)
        done.append(str(results))
        return results

    client.ufo_client.execute_step = counted

    def the_agent_used_the_device(before):
        assert len(done) == before + 1 and "Linux" in done[-1], done

    async def asks_for_a_task():
        before = len(done)
        ended = asyncio.get_running_loop().create_future()
        original = client.handle_task_end

        async def end(message):
            await original(message)
            ended.done() or ended.set_result(message)

        client.handle_task_end = end
        await client.start_task("which system is this?", "which")
        message = await asyncio.wait_for(ended, 60)
        assert message.status.value == "completed" and "Linux" in str(message.result), message
        the_agent_used_the_device(before)

    async def comes_back():
        await client._ws.close()
        await until("it is noticed", lambda: not client.is_connected(), 20)
        await until("the device is back", lambda: client.is_connected() and hub.peer("dev1").get("health") == "up")
        await runs_a_command()

    await see("UFO's device client registers and the hub lists it", registers())
    await see("the hub asks UFO's tool router for its tools", tells_its_tools())
    await see("a command runs on UFO's device and its result comes back", runs_a_command())
    await see("a failure of UFO's tool comes back in its own words", tells_a_failure())
    await see("heartbeats of UFO's device are acknowledged", beats())
    await see("a task that UFO's device asks for is done by an agent of the hub", asks_for_a_task())
    await see("UFO's device client comes back under its id after its connection broke", comes_back())

    manager, connecting = constellation(socket_url)

    async def connects():
        assert await connecting, "UFO's manager did not connect"
        profile = manager.device_registry.get_device("dev1")
        assert profile.status.value == "idle" and profile.metadata["system_info"]["platform"] == "linux", profile

    async def assigns():
        before = len(done)
        result = await manager.assign_task_to_device("t1", "dev1", "which system is this?", {}, timeout=60)
        assert result.status == "completed" and "Linux" in str(result.result), result
        the_agent_used_the_device(before)

    async def is_refused_at_once():
        other, attempt = constellation(socket_url, "nobody")
        assert not await asyncio.wait_for(attempt, 30), "a device that is not there was connected"
        with contextlib.suppress(Exception):
            await other.shutdown()

    async def beats_too():
        before = manager.device_registry.get_device("dev1").last_heartbeat
        await until("a heartbeat is acknowledged", lambda: manager.device_registry.get_device("dev1").last_heartbeat > before)

    await see("UFO's constellation manager connects and reads the device's information", connects())
    await see("a task of UFO's constellation is done and its result comes back", assigns())
    await see("heartbeats of UFO's constellation are acknowledged", beats_too())
    await see("UFO's constellation is refused a device that is not there", is_refused_at_once())
    with contextlib.suppress(Exception):
        await manager.shutdown()
    client.max_retries = 0
    listening.cancel()
    hub.stop()


async def devices_of_ufo(see, folder, tools):
    port = free_port()
    server = ufo_server(port)
    await until("UFO's server listens", lambda: server.started)
    url = f"ws://127.0.0.1:{port}/ws"
    client = device_client(f"{url}?token={KEY}", tools, timeout=2)
    listening = asyncio.create_task(client.connect_and_listen())
    await asyncio.wait_for(client.connected_event.wait(), 20)
    hub = Hub(folder, f"peers: {{ lab: {{ aip: {{ url: '{url}', target: dev1, key: {KEY} }} }} }}\n")
    await until("the hub answers", lambda: hub.ask("/api/peers"))
    work = {"tool": "execute_command", "arguments": {"command": "uname -s", "api_key": "k"}}

    async def is_driven():
        await until("UFO's server has let the hub in", lambda: hub.peer("lab").get("health") == "up")
        answer = await hub.call("lab/do", {"request": json.dumps(work)})
        assert answer["state"] == "completed" and "Linux" in json.dumps(answer), answer

    async def takes_our_device():
        (folder / "tools.yaml").write_text("tools: { workspace: ./workspace }\n")
        (folder / "workspace").mkdir(exist_ok=True)
        (folder / "workspace" / "note.txt").write_text("seen by UFO\n")
        command = [HUB, "device", "--hub", url, "--key", KEY, "--id", "ours", "-c", "tools.yaml", "--data", "device"]
        log = open(folder / "device.log", "w")
        device = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        try:
            from ufo.server import app

            await until("UFO lists our device", lambda: "ours" in app.client_manager.online_clients)
            manager, connecting = constellation(f"{url}?token={KEY}", "ours")
            assert await connecting, "UFO's manager did not connect to our device"
            read = json.dumps({"tool": "read_file", "arguments": {"path": "note.txt"}})
            result = await manager.assign_task_to_device("t2", "ours", read, {}, timeout=60)
            assert result.status == "completed" and "seen by UFO" in str(result.result), result
        finally:
            device.terminate()
            device.wait(20)

    await see("the hub drives a device behind UFO's server", is_driven())
    await see("the hub's device program serves UFO's server and constellation", takes_our_device())
    client.max_retries = 0
    listening.cancel()
    hub.stop()
    server.should_exit = True


async def main():
    logging.disable(logging.CRITICAL)
    checks, tools = Checks(), free_port()
    command = [sys.executable, "-m", "ufo.client.mcp.http_servers.linux_mcp_server", "--host", "127.0.0.1", "--port", str(tools)]
    linux = subprocess.Popen(command, cwd=UFO, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with tempfile.TemporaryDirectory(prefix="ufo-") as folder:
            await devices_of_the_hub(checks.see, pathlib.Path(folder) / "one", tools)
            await devices_of_ufo(checks.see, pathlib.Path(folder) / "two", tools)
    finally:
        linux.terminate()
    print(f"{checks.failed} failed", flush=True)
    os._exit(checks.failed)


asyncio.run(main())
