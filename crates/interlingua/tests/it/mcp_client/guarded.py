"""An MCP server that wants tokens, with an authorization server beside it at the same address.

    guarded.py HOST:PORT LOG OPTIONS

OPTIONS is a JSON object that a POST to /control adds to: `user` (who signs in next), `resource`, `authorization_server`,
`metadata` and `server` (members to replace in the two documents), `large` (the document is huge), `iss` (what the answer names),
`plain` (no token is wanted for listing), `revoke` (tokens are forgotten), `refuse` (refresh tokens are not taken).
LOG gets a line for everything that happens: `register`, `authorize`, `token GRANT`, `call USER`, `header NAME VALUE`.
Standard library only.
"""

import base64
import hashlib
import http.server
import json
import sys
import threading
import urllib.parse

WHERE, LOG = sys.argv[1:3]
BASE = f"http://{WHERE}"
MODERN = "2026-07-28"
lock = threading.Lock()
options = {"user": "nobody", **json.loads(sys.argv[3] if len(sys.argv) > 3 else "{}")}
tokens, refreshing, codes = {}, {}, {}
count = [0]


def note(*words):
    with lock, open(LOG, "a") as log:
        log.write(" ".join(str(word) for word in words) + "\n")


def number():
    with lock:
        count[0] += 1
        return count[0]


def issue(user):
    at = number()
    access, refresh = f"secret-access-{user}-{at}", f"secret-refresh-{user}-{at}"
    tokens[access], refreshing[refresh] = user, user
    return {"access_token": access, "token_type": "Bearer", "expires_in": 3600, "refresh_token": refresh}


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def say(self, status, body=None, **headers):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def document(self, document, changes):
        if options.get("large"):
            document = {**document, "padding": "x" * (4 << 20)}
        self.say(200, {**document, **changes})

    def do_GET(self):
        where = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(where.query))
        if where.path == "/.well-known/oauth-protected-resource/mcp":
            note("resource")
            return self.document({"resource": f"{BASE}/mcp", "authorization_servers": [BASE]}, options.get("metadata", {}))
        if where.path == "/.well-known/oauth-authorization-server":
            note("server")
            return self.document({
                "issuer": BASE, "authorization_endpoint": f"{BASE}/authorize", "token_endpoint": f"{BASE}/token",
                "registration_endpoint": f"{BASE}/register", "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
                "authorization_response_iss_parameter_supported": True}, options.get("server", {}))
        if where.path == "/authorize":
            code = f"secret-code-{number()}"
            note("authorize", query.get("resource"), query.get("code_challenge_method"), query.get("client_id"))
            codes[code] = (options["user"], query["code_challenge"], query["redirect_uri"])
            back = {"code": code, "state": query["state"], "iss": options.get("iss", BASE)}
            return self.say(302, location=f"{query['redirect_uri']}?{urllib.parse.urlencode(back)}")
        self.say(405 if where.path == "/mcp" else 404)

    def do_DELETE(self):
        self.say(405)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path == "/control":
            options.update(json.loads(body))
            if options.pop("revoke", False):
                tokens.clear()
            if options.pop("refuse", False):
                refreshing.clear()
            return self.say(200, {})
        if self.path == "/register":
            note("register", json.loads(body)["redirect_uris"][0])
            return self.say(201, {"client_id": f"client-{number()}"})
        if self.path == "/token":
            return self.token(dict(urllib.parse.parse_qsl(body.decode())))
        self.call(json.loads(body))

    def token(self, form):
        note("token", form["grant_type"], form.get("resource"))
        if form["grant_type"] == "refresh_token":
            user = refreshing.pop(form["refresh_token"], None)
            return self.say(200, issue(user)) if user else self.say(400, {"error": "invalid_grant"})
        user, challenge, redirect = codes.pop(form["code"], (None, "", ""))
        shown = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
        if not user or shown != challenge or redirect != form["redirect_uri"]:
            return self.say(400, {"error": "invalid_grant"})
        self.say(200, issue(user))

    def call(self, message):
        bearer = (self.headers.get("authorization") or "").removeprefix("Bearer ")
        note("header", "authorization", bearer or "none")
        user, method = tokens.get(bearer), message["method"]
        open_to_all = options.get("plain") and method != "tools/call"
        if not user and not open_to_all:
            place = options.get("challenge", f"{BASE}/.well-known/oauth-protected-resource/mcp")
            return self.say(401, {"error": "invalid_token"}, www_authenticate=f'Bearer resource_metadata="{place}"')
        if "id" not in message:
            return self.say(202)
        result = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        if method == "server/discover":
            result |= {"supportedVersions": [MODERN], "capabilities": {"tools": {}}}
        elif method == "tools/list":
            result |= {"tools": [{"name": "whoami", "inputSchema": {"type": "object"},
                                  "annotations": {"readOnlyHint": True}}]}
        elif method == "tools/call":
            note("call", user)
            result |= {"content": [{"type": "text", "text": f"you are {user}"}]}
        else:
            return self.say(404, {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
        self.say(200, {"jsonrpc": "2.0", "id": message["id"], "result": result})


host, port = WHERE.rsplit(":", 1)
http.server.ThreadingHTTPServer((host, int(port)), Server).serve_forever()
