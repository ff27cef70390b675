"""Shows a token with every request of the A2A conformance kit, which has no option for one.

Python imports this file by itself when its folder is on PYTHONPATH. The token is in A2A_KIT_TOKEN. The kit is not changed.
"""

import os

import grpc
import httpx

CREDENTIAL = f"Bearer {os.environ['A2A_KIT_TOKEN']}"


def with_header(client):
    make = client.__init__

    def init(self, *args, headers=None, **options):
        make(self, *args, headers={**dict(headers or {}), "Authorization": CREDENTIAL}, **options)

    client.__init__ = init


class WithMetadata(
    grpc.UnaryUnaryClientInterceptor,
    grpc.UnaryStreamClientInterceptor,
):
    def shown(self, proceed, details, request):
        metadata = [*(details.metadata or ()), ("authorization", CREDENTIAL)]
        return proceed(details._replace(metadata=metadata), request)

    intercept_unary_unary = shown
    intercept_unary_stream = shown


def with_metadata(make):
    return lambda *args, **options: grpc.intercept_channel(make(*args, **options), WithMetadata())


with_header(httpx.Client)
with_header(httpx.AsyncClient)
grpc.insecure_channel = with_metadata(grpc.insecure_channel)
