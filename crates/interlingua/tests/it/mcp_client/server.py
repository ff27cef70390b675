"""An MCP server that behaves as a test wants it to, on stdio or HTTP, modern, legacy or of 2024.

    server.py stdio ERA LOG          ERA: modern | legacy | strict (a legacy one that ends over a question it does not know)
    server.py HOST:PORT ERA LOG      ERA: modern | legacy | old

LOG gets a line for everything that happens: `start PID`, `call NAME`, `id NAME ID`, `token TOKEN`, `done NAME`, `cancelled ID`,
`closed ID`, `list KIND`, `header NAME VALUE`, `read URI`, `subscribe URI`, `unsubscribe URI`, `listen URIS`, `unlisten URIS`, `resume EVENT`, `task asked about ID`, `task cancelled ID`.
What a tool does is in its name; ALSO in the environment names one more, and EXTRA says how many come beside them. Standard library only.
"""

import http.server
import json
import os
import queue
import sys
import threading
import time

WHERE, ERA, LOG = sys.argv[1:4]
MODERN = "2026-07-28"
VERSION = "io.modelcontextprotocol/protocolVersion"
lock = threading.Lock()
sessions = set()
state = {"extra": int(os.environ.get("EXTRA", 0)), "greetings": 0}


def note(*words):
    with lock, open(LOG, "a") as log:
        log.write(" ".join(str(word) for word in words) + "\n")


def schema(**properties):
    return {"type": "object", "properties": properties}


TOOLS = [
    {"name": "echo", "description": "Says it back.", "inputSchema": schema(text={"type": "string"}),
     "x-unknown": {"kept": 1.50}},
    {"name": "reads", "inputSchema": schema(), "annotations": {"readOnlyHint": True}},
    {"name": "once", "inputSchema": schema()},
    {"name": "fails", "inputSchema": schema()},
    {"name": "structured", "inputSchema": schema()},
    {"name": "breaks", "inputSchema": schema()},
    {"name": "pid", "inputSchema": schema()},
    {"name": "die", "inputSchema": schema()},
    {"name": "die_reading", "inputSchema": schema(), "annotations": {"readOnlyHint": True}},
    {"name": "hang", "inputSchema": schema(silent={"type": "boolean"})},
    {"name": "slow", "inputSchema": schema(seconds={"type": "number"})},
    {"name": "progress", "inputSchema": schema()},
    {"name": "unsteady", "inputSchema": schema()},
    {"name": "change_resources", "inputSchema": schema()},
    {"name": "flood", "inputSchema": schema()},
    {"name": "garbage", "inputSchema": schema()},
    {"name": "ask", "inputSchema": schema()},
    {"name": "ask_twice", "inputSchema": schema()},
    {"name": "ask_declared", "inputSchema": schema()},
    {"name": "links", "inputSchema": schema()},
    {"name": "change", "inputSchema": schema()},
    {"name": "drop", "inputSchema": schema()},
    {"name": "forget", "inputSchema": schema()},
    {"name": "meta", "inputSchema": schema()},
    {"name": "large", "inputSchema": schema()},
    {"name": "again", "inputSchema": schema()},
    {"name": "task", "inputSchema": schema()},
    {"name": "task_asks", "inputSchema": schema()},
    {"name": "task_works", "inputSchema": schema()},
    {"name": "task_fails", "inputSchema": schema()},
    {"name": "visit", "inputSchema": schema()},
    {"name": "resumed", "inputSchema": schema()},
    {"name": "touch", "inputSchema": schema()},
    {"name": "change_prompts", "inputSchema": schema()},
    {"name": "remote", "inputSchema": {"$ref": os.environ.get("REMOTE_SCHEMA", "#/$defs/any"), "$defs": {"any": {}}}},
    {"name": "regional", "inputSchema": schema(region={"type": "string", "x-mcp-header": "Region"})},
    {"name": "bad_mark", "inputSchema": schema(a={"type": "number", "x-mcp-header": "A"})},
]
if os.path.exists(os.path.splitext(LOG)[0] + ".description"):
    TOOLS[0]["description"] = open(os.path.splitext(LOG)[0] + ".description").read()
if "ALSO" in os.environ:
    TOOLS.append({"name": os.environ["ALSO"], "inputSchema": schema()})
FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def text(words, **more):
    result = {"content": [{"type": "text", "text": words}], **more}
    if ERA == "modern":
        result["resultType"] = "complete"
    return result


class Failure(Exception):
    def __init__(self, code, message, data=None):
        self.error = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


class Gone(Exception):
    """The connection is to end here."""


class Caller:
    """Where a request came from: `send` reaches it while the request runs."""

    def __init__(self, send):
        self.send = send
        self.answers = queue.Queue()

    def ask(self, number, method, params):
        self.send({"jsonrpc": "2.0", "id": f"ask-{number}", "method": method, "params": params})
        return self.answers.get(timeout=60)


def elicit(message):
    return {"message": message, "requestedSchema": FORM}


def asked(params, caller, names):
    """Asks for each name: by requests in the old way, by a result in the new one."""
    if ERA == "modern":
        given = params.get("inputResponses")
        if not given:
            return {"resultType": "input_required", "requestState": "state \u00e9 \"1\"", "inputRequests": {
                name: {"method": "elicitation/create", "params": {"mode": "form", **elicit(f"Which {name}?")}}
                for name in names}}
        if params.get("requestState") != "state \u00e9 \"1\"":
            raise Failure(-32602, "another state")
        return text(json.dumps({name: given[name] for name in names}, sort_keys=True))
    answers = {}
    for number, name in enumerate(names):
        answers[name] = caller.ask(number, "elicitation/create", elicit(f"Which {name}?")).get("result")
    return text(json.dumps(answers, sort_keys=True))


def call(params, caller, request):
    name, args = params["name"], params.get("arguments") or {}
    note("call", name)
    note("id", name, request["id"])
    meta = params.get("_meta") or {}
    notify = lambda method, more: caller.send({"jsonrpc": "2.0", "method": method, "params": more})
    if name in ("echo", "regional"):
        return text(str(args.get("text", args)), **{"x-more": [1, 2.50]})
    if name in ("reads", "once"):
        return text("done")
    if name == "fails":
        return text("out of paper", isError=True)
    if name == "structured":
        return {**text("", structuredContent={"n": 1}), "content": []}
    if name == "breaks":
        raise Failure(-32603, "the printer is on fire")
    if name == "pid":
        return text(str(os.getpid()))
    if name == "meta":
        return text(json.dumps(meta, sort_keys=True))
    if name == "die":
        os._exit(3)
    if name == "die_reading":
        if not os.path.exists(LOG + ".died"):
            open(LOG + ".died", "w").close()
            os._exit(3)
        return text("alive again")
    if name == "hang":
        time.sleep(1000)
    if name == "slow":
        time.sleep(float(args.get("seconds", 1)))
        note("done", name)
        return text("at last")
    if name == "progress":
        note("token", meta["progressToken"])
        for done in (1, 2):
            notify("notifications/progress", {"progressToken": meta["progressToken"], "progress": done, "total": 2})
        return text("two")
    if name == "unsteady":
        for done in (0, 0, 2, 1, 2, 3):
            notify("notifications/progress", {"progressToken": meta["progressToken"], "progress": done})
            time.sleep(0.1)
        return text("three")
    if name == "flood":
        for done in range(5000):
            notify("notifications/progress", {"progressToken": meta["progressToken"], "progress": done})
        return text("5000")
    if name == "garbage" and WHERE == "stdio":
        for line in ("not json", "{\"half\":", "[1, 2", "\x00\x01"):
            with lock:
                sys.stdout.write(line + "\n")
        return text("and then an answer")
    if name == "garbage":
        raise Gone("garbage")
    if name == "large":
        return {"content": [{"type": "image", "mimeType": "image/png", "data": "AAAA" * 200000}]}
    if name == "ask":
        return asked(params, caller, ["name"])
    if name == "ask_declared" and "elicitation" not in (meta.get("io.modelcontextprotocol/clientCapabilities") or {}):
        raise Failure(-32021, "This needs elicitation", {"requiredCapabilities": {"elicitation": {}}})
    if name == "ask_declared":
        return asked(params, caller, ["name"])
    if name == "links":
        return text("see", content=[
            {"type": "resource_link", "uri": "test://one", "name": "one"},
            {"type": "resource", "resource": {"uri": "urn:isbn:1", "mimeType": "text/plain", "text": "a book"}}])
    if name == os.environ.get("ALSO"):
        return text("also")
    if name == "ask_twice":
        return asked(params, caller, ["from", "to"])
    if name == "again":
        return text("enough") if params.get("requestState") == "more" else {
            "resultType": "input_required", "requestState": "more"}
    if name.startswith("task"):
        return {"resultType": "task", "taskId": name, "pollIntervalMs": 10}
    if name == "visit":
        state["visits"] = state.get("visits", 0) + 1
        if state["visits"] == 1:
            raise Failure(-32042, "Go there first", {"elicitations": [
                {"mode": "url", "elicitationId": "e1", "url": "https://example.com/consent", "message": "Please agree."}]})
        return text("been there")
    if name == "resumed":
        return text("after the break")
    if name == "touch":
        for told in list(followers):
            told({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "test://one"}})
        return text("touched")
    if name == "change_prompts":
        state["prompts"] = state.get("prompts", 0) + 1
        for _ in range(20):
            tell({"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"})
        return text("changed")
    if name == "change_resources":
        state["resources"] = state.get("resources", 0) + 1
        for _ in range(20):
            tell({"jsonrpc": "2.0", "method": "notifications/resources/list_changed"})
        return text("changed")
    if name == "change":
        state["extra"] += 1
        for _ in range(20):
            tell({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        return text("changed")
    if name == "drop":
        notify("notifications/progress", {"progressToken": meta["progressToken"], "progress": 1})
        raise Gone("drop")
    if name == "forget":
        sessions.clear()
        return text("forgotten")
    raise Failure(-32602, f"Unknown tool: {name}")


streams = []


def broadcast(message):
    if WHERE == "stdio":
        say(message)
    for stream in list(streams):
        stream.put(message)


# Who follows test://one, and who listens to lists: by a stream each in the modern era.
followers = []
listeners = []


def tell(message):
    if ERA == "modern":
        for told in list(listeners):
            told(message)
    else:
        broadcast(message)


def listen(request, send):
    """Begins to tell what a modern client listens to; returns how to end it."""
    wanted, subscription = request["params"]["notifications"], request["id"]
    tagged = lambda message: send({**message, "params": {
        **message.get("params", {}), "_meta": {"io.modelcontextprotocol/subscriptionId": subscription}}})
    uris = " ".join(wanted.get("resourceSubscriptions", []))
    note("listen", uris or "-")
    if "test://one" in uris:
        followers.append(tagged)
    listeners.append(tagged)
    tagged({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {"notifications": wanted}})

    def end():
        note("unlisten", uris or "-")
        listeners.remove(tagged)
        if tagged in followers:
            followers.remove(tagged)
    return end


CAPABILITIES = {"tools": {"listChanged": True}, "prompts": {"listChanged": True},
                "resources": {"subscribe": True, "listChanged": True}, "completions": {}}


def task(method, params):
    """What becomes of the tasks that tools began: each as its name says."""
    name = params["taskId"]
    head = {"taskId": name, "pollIntervalMs": 10, "createdAt": "2026-01-01T00:00:00Z", "ttlMs": None}
    if method == "tasks/cancel":
        note("task cancelled", name)
        return {}
    if method == "tasks/update":
        state["update"] = params["inputResponses"]
        return {}
    note("task asked about", name)
    state["polls"] = state.get("polls", 0) + 1
    if name == "task_works" or (name == "task" and state["polls"] < 3):
        return {**head, "status": "working", "statusMessage": "at it"}
    if name == "task_fails":
        return {**head, "status": "failed", "error": {"code": -32603, "message": "out of paper"}}
    if name == "task_asks" and "update" not in state:
        asks = {"method": "elicitation/create", "params": {"mode": "form", **elicit("Which name?")}}
        return {**head, "status": "input_required", "inputRequests": {"name": asks}}
    done = text(json.dumps(state["update"])) if name == "task_asks" else text("by and by")
    return {**head, "status": "completed", "result": done}


def answer(request, caller):
    method, params = request["method"], request.get("params") or {}
    if method == "server/discover":
        if ERA == "strict":
            os._exit(1)
        if ERA != "modern":
            raise Failure(-32601, "Method not found")
        return {"resultType": "complete", "supportedVersions": [MODERN], "capabilities": CAPABILITIES, "ttlMs": 0,
                "cacheScope": "public", "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "test", "version": "9"}}}
    if ERA == "modern" and (params.get("_meta") or {}).get(VERSION) != MODERN:
        raise Failure(-32602, "_meta is missing")
    if method == "initialize":
        if ERA == "modern":
            raise Failure(-32601, "Method not found")
        state["greetings"] += 1
        return {"protocolVersion": "2024-11-05" if ERA == "old" else params["protocolVersion"],
                "capabilities": CAPABILITIES, "serverInfo": {"name": "test", "version": "9"}, "instructions": "Use it."}
    if method == "ping":
        return {}
    if method == "tools/list":
        note("list", "tools", params.get("cursor", "-"))
        tools = TOOLS + [{"name": f"extra_{n}", "inputSchema": schema()} for n in range(state["extra"])]
        at = int(params.get("cursor") or 0)
        page = {"tools": tools[at:at + 10]}
        if at + 10 < len(tools):
            page["nextCursor"] = str(at + 10)
        return page
    if method == "prompts/list":
        return {"prompts": [{"name": "greet", "arguments": [{"name": "who", "required": True}]}]
                + [{"name": f"prompt_{n}"} for n in range(state.get("prompts", 0))]}
    if method == "resources/list":
        return {"resources": [{"uri": "test://one", "name": "one", "mimeType": "text/plain"}]
                + [{"uri": f"test://more/{n}", "name": f"more {n}"} for n in range(state.get("resources", 0))]}
    if method == "resources/templates/list":
        return {"resourceTemplates": [{"uriTemplate": "test://many/{id}", "name": "many"}]}
    if method == "resources/read":
        note("read", params["uri"])
        if params["uri"] == "test://one":
            kept = {"resultType": "complete", "ttlMs": 60000, "cacheScope": "public"} if ERA == "modern" else {}
            return {"contents": [{"uri": "test://one", "mimeType": "text/plain", "text": "first"}], **kept}
        if params["uri"] == "urn:isbn:1":
            return {"contents": [{"uri": "urn:isbn:1", "mimeType": "text/plain", "text": "a book"}]}
        raise Failure(-32002, "Resource not found")
    if method == "prompts/get":
        return {"messages": [{"role": "user", "content": {"type": "text", "text": "Hello " + params["arguments"]["who"]}}]}
    if method == "completion/complete":
        return {"completion": {"values": ["paris", "parma"], "hasMore": False}}
    if method in ("resources/subscribe", "resources/unsubscribe"):
        note(method.split("/")[1], params["uri"])
        followers[:] = [broadcast] if method == "resources/subscribe" else []
        return {}
    if method.startswith("tasks/"):
        return task(method, params)
    if method == "tools/call":
        return call(params, caller, request)
    raise Failure(-32601, "Method not found")


def respond(request, caller):
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    try:
        return {**reply, "result": answer(request, caller)}
    except Failure as failure:
        return {**reply, "error": failure.error}


# stdio

def say(message):
    with lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def serve_stdio():
    running, listening = {}, {}
    print(f"started as {ERA}", file=sys.stderr, flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        if "method" not in message:
            running[message["id"].split("-")[0]].answers.put(message)
        elif "id" not in message:
            if message["method"] == "notifications/cancelled":
                number = message["params"]["requestId"]
                listening.pop(number)() if number in listening else note("cancelled", number)
        elif message["method"] == "subscriptions/listen" and ERA == "modern":
            listening[message["id"]] = listen(message, say)
        else:
            caller = Caller(say)
            if message["method"] == "tools/call":
                running["ask"] = caller
            threading.Thread(target=lambda m=message, c=caller: say(respond(m, c)), daemon=True).start()
    note("input closed")


# HTTP

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def plain(self, status, body=None, **headers):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        if body is not None:
            self.send_header("content-type", "application/json")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, **headers):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, data, kind=None, number=None):
        lines = ([f"event: {kind}"] if kind else []) + ([f"id: {number}", "retry: 10"] if number else [])
        lines += [f"data: {data}", "", ""]
        self.wfile.write("\n".join(lines).encode())
        self.wfile.flush()

    def do_GET(self):
        if ERA == "modern":
            return self.plain(405)
        if self.headers.get("last-event-id"):
            note("resume", self.headers["last-event-id"])
            self.stream()
            return self.event(json.dumps(state["resumed"]))
        mine = queue.Queue()
        streams.append(mine)
        self.stream()
        if ERA == "old":
            self.event("/messages", "endpoint")
            self.server.old = mine
        try:
            while True:
                message = mine.get()
                self.event(json.dumps(message))
        except OSError:
            streams.remove(mine)

    def do_DELETE(self):
        self.plain(405 if ERA == "modern" else 200)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        for name in ("authorization", "mcp-name", "mcp-param-region", "x-caller", "cookie", "x-given"):
            if self.headers.get(name):
                note("header", name, self.headers[name])
        if ERA == "old":
            return self.old(body)
        if ERA == "legacy" and body.get("method") != "initialize" and body.get("method") != "server/discover":
            if self.headers.get("mcp-session-id") not in sessions:
                return self.plain(404 if self.headers.get("mcp-session-id") else 400)
        if "method" not in body:
            self.server.running.answers.put(body)
            return self.plain(202)
        if "id" not in body:
            if body["method"] == "notifications/cancelled":
                note("cancelled", body["params"]["requestId"])
            return self.plain(202)
        if ERA == "legacy" and body["method"] == "server/discover":
            return self.plain(400, {"jsonrpc": "2.0", "id": body["id"],
                                    "error": {"code": -32600, "message": "Bad Request: no session"}})
        self.reply(body)

    def listen(self, body):
        self.stream()
        end = listen(body, lambda message: self.event(json.dumps(message)))
        # Nothing more is sent on this connection: what can be read of it is its end.
        self.rfile.read(1)
        end()

    def waits(self, body):
        """A call that ends when its client leaves: nothing more is sent, so that what can be read is the end."""
        note("call", "hang")
        self.stream()
        self.rfile.read(1)
        note("closed", body["id"])

    def reply(self, body):
        headers = {}
        if body["method"] == "subscriptions/listen" and ERA == "modern":
            return self.listen(body)
        if body["method"] == "initialize" and ERA == "legacy":
            session = f"session-{state['greetings'] + 1}"
            sessions.add(session)
            note("session", session)
            headers["mcp_session_id"] = session
        # A silent one says nothing, not even that it will answer with a stream, before it has its answer.
        silent = body["method"] == "tools/call" and body["params"].get("arguments", {}).get("silent")
        if silent or body["method"] != "tools/call" or body["params"]["name"] in ("echo", "once", "forget", "visit"):
            reply = respond(body, Caller(lambda _: None))
            unknown = ERA == "modern" and reply.get("error", {}).get("code") == -32601
            return self.plain(404 if unknown else 200, reply, **headers)
        if body["params"]["name"] == "garbage":
            return self.plain(200, ["not", "a", "message"])
        if ERA == "modern" and body["params"]["name"] == "hang":
            return self.waits(body)
        if body["params"]["name"] == "resumed":
            state["resumed"] = respond(body, Caller(lambda _: None))
            self.stream()
            return self.event("", number="before-the-break")
        self.stream()
        caller = Caller(lambda message: self.event(json.dumps(message)))
        self.server.running = caller
        try:
            self.event(json.dumps(respond(body, caller)))
        except Gone:
            return
        except OSError:
            note("closed", body["id"])

    def old(self, body):
        if self.path != "/messages":
            return self.plain(404)
        self.plain(202)
        if "method" not in body:
            return self.server.running.answers.put(body)
        if "id" in body:
            caller = self.server.running = Caller(self.server.old.put)
            answering = lambda: self.server.old.put(respond(body, caller))
            # The connection is free for the next message: this one is answered on the stream.
            threading.Thread(target=answering, daemon=True).start()


def serve_http(where):
    host, port = where.rsplit(":", 1)
    http.server.ThreadingHTTPServer.daemon_threads = True
    http.server.ThreadingHTTPServer.request_queue_size = 128
    http.server.ThreadingHTTPServer((host, int(port)), Handler).serve_forever()


note("start", os.getpid())
serve_stdio() if WHERE == "stdio" else serve_http(WHERE)
