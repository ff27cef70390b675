"""Verifies the signed card of a hub as the official SDK does; ends with 0 when it holds, and one changed byte does not.

    verify.py URL

The SDK's own verifier reads the card, canonicalizes it and walks its signatures. It hands the arithmetic to PyJWT, an extra that
is not installed here: in its place stand a few lines on `cryptography`.
"""

import base64
import json
import sys
import types
import urllib.request

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, utils
from cryptography.hazmat.primitives.hashes import SHA256


def decoded(text):
    text = text if isinstance(text, bytes) else text.encode()
    return base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))


def number(text):
    return int.from_bytes(decoded(text), "big")


class Refused(Exception):
    """No signature of this key."""


def decode(jwt, key, algorithms):
    protected, payload, signature = jwt.split(".")
    algorithm = json.loads(decoded(protected))["alg"]
    if algorithm not in algorithms:
        raise Refused(algorithm)
    signed, bytes_ = f"{protected}.{payload}".encode(), decoded(signature)
    try:
        if algorithm == "ES256":
            point = ec.EllipticCurvePublicNumbers(number(key["x"]), number(key["y"]), ec.SECP256R1()).public_key()
            halves = (int.from_bytes(bytes_[:32], "big"), int.from_bytes(bytes_[32:], "big"))
            point.verify(utils.encode_dss_signature(*halves), signed, ec.ECDSA(SHA256()))
        else:
            ed25519.Ed25519PublicKey.from_public_bytes(decoded(key["x"])).verify(bytes_, signed)
    except InvalidSignature as error:
        raise Refused(algorithm) from error


def stand_in():
    """What the SDK's module imports of PyJWT."""
    jwt, parts = types.ModuleType("jwt"), {}
    for name in ("api_jws", "api_jwk", "exceptions", "utils"):
        parts[name] = types.ModuleType(f"jwt.{name}")
        setattr(jwt, name, parts[name])
        sys.modules[f"jwt.{name}"] = parts[name]
    jwt.decode = decode
    parts["api_jwk"].PyJWK = dict
    parts["exceptions"].PyJWTError = Refused
    parts["utils"].base64url_decode = decoded
    parts["utils"].base64url_encode = lambda data: base64.urlsafe_b64encode(data).rstrip(b"=")
    sys.modules["jwt"] = jwt


def fetched(url):
    request = urllib.request.Request(url, headers={"A2A-Version": "1.0"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def main(url):
    stand_in()
    from a2a.types import AgentCard
    from a2a.utils.signing import InvalidSignaturesError, create_signature_verifier
    from google.protobuf.json_format import ParseDict

    keys = {key["kid"]: key for key in fetched(f"{url}/.well-known/jwks.json")["keys"]}
    verify = create_signature_verifier(lambda kid, _: keys[kid], ["ES256", "EdDSA"])
    shown = fetched(f"{url}/.well-known/agent-card.json")
    verify(ParseDict(shown, AgentCard(), ignore_unknown_fields=True))
    for member in ("description", "version"):
        changed = {**shown, member: shown[member] + "."}
        try:
            verify(ParseDict(changed, AgentCard(), ignore_unknown_fields=True))
        except InvalidSignaturesError:
            continue
        raise SystemExit(f"a changed {member} was not seen")


main(sys.argv[1])
