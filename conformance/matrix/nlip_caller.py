"""Calls through a hub with the reference SDK's messages.

    INTERLINGUA_TOKEN=… nlip_caller.py URL
"""

import asyncio
import os
import sys

import httpx
from lines import serve
from nlip_sdk.nlip import NLIP_Factory, NLIP_SubMessage

HUB = sys.argv[1]
SHOWN = {"authorization": f"Bearer {os.environ['INTERLINGUA_TOKEN']}"}


def labelled(label, content):
    return NLIP_SubMessage(format="structured", subformat="json", content=content, label=label)


def message(command):
    said = NLIP_Factory.create_text(command["words"])
    if not command["agent"]:
        call = {"skill": f"{command['peer']}/{command['skill']}", "arguments": command["arguments"]}
        said.add_submessage(labelled("interlingua-call", call))
    return said


async def read(http, reply, seen):
    """Everything a reply holds, and its tokens."""
    tokens = []
    for part in [reply, *reply.get("submessages", [])]:
        kind, content, label = part["format"].lower(), part["content"], part.get("label")
        if kind == "token":
            tokens.append(part)
        elif label == "interlingua-question":
            seen.question = content["text"]
        elif label == "interlingua-fault":
            seen.fault = content["kind"]
        elif label == "interlingua-losses":
            seen.lost(content if isinstance(content, list) else content["losses"])
        elif label and label.startswith("interlingua-"):
            pass
        elif kind == "text":
            seen.texts.append(content)
        elif kind == "binary":
            seen.blob(content)
        elif part["subformat"].lower() == "uri" and content.startswith(HUB):
            seen.blob((await http.get(content)).content)
            seen.names.append(content.rsplit("/", 1)[-1])
        else:
            seen.data.append(content)
        if label and not label.startswith("interlingua-"):
            seen.names.append(label)
    if reply.get("messagetype", "").lower() == "error":
        seen.outcome = "failed"
    return tokens


async def call(command, seen):
    url = f"{HUB}/agents/{command['peer']}/nlip" if command["agent"] else f"{HUB}/nlip"
    headers = {"interlingua-deadline": command["deadline"]} if command.get("deadline") else {}
    # A connection of its own: to give up is to close it.
    async with httpx.AsyncClient(timeout=170, headers=SHOWN) as http:
        reply = (await http.post(url, json=message(command).to_dict(), headers=headers)).json()
        tokens = await read(http, reply, seen)
        if seen.question and command.get("answer"):
            answer = NLIP_Factory.create_text(command["answer"]).to_dict()
            answer["submessages"] = tokens
            reply = (await http.post(url, json=answer, headers=headers)).json()
            await read(http, reply, seen)


asyncio.run(serve(call))
