"""Messages of A2A 1.0 that say a word and a number, in each of its bindings, and where each server takes them."""

import measure

# The number of a message has so many digits in protobuf, where lengths stand before texts.
DIGITS = 10
# What a finished task's status begins with there: its first field, an enumeration, is 3.
COMPLETED = "\x08\x03"


def params(word, extra=""):
    message = f'{{"messageId":"bench-@N@","role":"ROLE_USER","parts":[{{"text":"{word} said-@N@"}}]}}'
    return f'{{"message":{message}{extra}}}'


def rpc(word, extra=""):
    return f'{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{params(word, extra)}}}'


def protobuf(word):
    """A SendMessageRequest: its message is field 2; there the id is 1, the role 4 (1 is the user), the parts 5, whose text is 1."""
    text = lambda number, content: chr(number << 3 | 2) + chr(len(content.replace("@N@", "0" * DIGITS))) + content
    return text(2, text(1, "bench-@N@") + chr(4 << 3) + chr(1) + text(5, text(1, f"{word} said-@N@")))


class Binding:
    """How a message is written, where it goes at the hub and at the others, and how a finished task is known."""

    def __init__(self, name, body, ours, theirs, completed="TASK_STATE_COMPLETED", **options):
        self.name, self.body, self.options = name, body, options
        self.ours, self.theirs, self.completed = ours, theirs, completed

    def url(self, server):
        return server.url(self.ours if server.name.startswith("interlingua") else self.theirs)


class Grpc(Binding):
    """The others have a port of their own for it, which their cards name."""

    def url(self, server):
        card = measure.get(server.url("/.well-known/agent-card.json"))
        found = [one["url"] for one in card["supportedInterfaces"] if one["protocolBinding"] == "GRPC"]
        return f"http://{found[0]}{self.theirs}"


SERVICE = "/lf.a2a.v1.A2AService/SendMessage"
BINDINGS = [
    Binding("JSON-RPC", rpc, "/a2a", "/rpc"),
    Binding("HTTP", params, "/a2a/message:send", "/rest/message:send"),
    Grpc("gRPC", protobuf, SERVICE, SERVICE, COMPLETED, protocol="grpc", digits=DIGITS),
]
