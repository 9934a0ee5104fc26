"""Clients made with Telethon, driven by lines of JSON: each command has a number, and so has its answer."""

import asyncio
import base64
import datetime
import io
import json
import logging
import sys

from telethon import TelegramClient, events, functions, types, utils
from telethon.crypto import rsa
from telethon.errors import SessionPasswordNeededError
from telethon.network import connection as ways
from telethon.network.connection import tcpintermediate
from telethon.sessions import MemorySession
from telethon.tl.alltlobjects import LAYER

WAYS = {
    "full": ways.ConnectionTcpFull,
    "abridged": ways.ConnectionTcpAbridged,
    "intermediate": ways.ConnectionTcpIntermediate,
    "obfuscated": ways.ConnectionTcpObfuscated,
}


class Padded(ways.ConnectionTcpObfuscated):
    packet_codec = tcpintermediate.RandomizedIntermediatePacketCodec


WAYS["padded"] = Padded
clients = {}


def say(line):
    print(json.dumps(line, default=plain), flush=True)


def plain(value):
    if isinstance(value, datetime.datetime):
        return int(value.timestamp())
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return str(value)


def made(value):
    """What JSON cannot say: objects of the type language, and bytes."""
    if isinstance(value, list):
        return [made(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "bytes" in value and len(value) == 1:
        return base64.b64decode(value["bytes"])
    fields = {name: made(item) for name, item in value.items() if name != "_"}
    if "_" not in value:
        return fields
    return find(types, value["_"])(**fields)


def find(space, name):
    for part in name.split("."):
        space = getattr(space, part)
    return space


async def connect(name, spec):
    rsa.add_key(spec["key"], old=False)
    session = MemorySession()
    session.set_dc(spec["dc"], "127.0.0.1", spec["port"])
    client = TelegramClient(
        session,
        spec["api"],
        "hash of another application",
        connection=WAYS[spec["way"]],
        connection_retries=20,
        retry_delay=0.2,
        flood_sleep_threshold=spec.get("patience", 0),
        catch_up=True,
        device_model="Foreigner",
    )
    clients[name] = client
    # It would look for data centres where another network had them.
    TelegramClient._config = None

    async def told(update):
        say({"client": name, "update": update})

    async def heard(event):
        said = event.message
        pieces = [[type(entity).__name__, text] for entity, text in said.get_entities_text()]
        say({"client": name, "heard": said, "pieces": pieces})

    client.add_event_handler(told, events.Raw)
    client.add_event_handler(heard, events.NewMessage)
    await client.connect()
    return {"layer": LAYER}


async def sign_in(client, spec):
    """As a user does: the code, then the password if there is one."""
    try:
        return await client.sign_in(spec["phone"], spec["code"])
    except SessionPasswordNeededError:
        return await client.sign_in(password=spec["password"])


async def answer(command):
    name, do = command["client"], command["do"]
    if do == "connect":
        return await connect(name, command)
    client = clients[name]
    if do == "sign in":
        return await sign_in(client, command)
    if do == "raw":
        return await client(find(functions, command["name"] + "Request")(**made(command["fields"])))
    if do == "download":
        [message] = await client.get_messages(made(command["chat"]), ids=[command["message"]])
        return await client.download_media(message, bytes)
    if do == "file":
        file = made(command["file"])
        if isinstance(file, list):
            file = [named(one) for one in file]
        else:
            file = named(file)
        return await client.send_file(made(command["chat"]), file, **made(command["fields"]))
    method = getattr(client, command["name"])
    return await method(*made(command["given"]), **made(command["fields"]))


def named(file):
    stream = io.BytesIO(file["content"])
    stream.name = file["name"]
    return stream


async def carry_out(command):
    try:
        say({"answer": command["number"], "result": await answer(command)})
    except Exception as cause:
        told = {"kind": type(cause).__name__, "text": str(cause), "seconds": getattr(cause, "seconds", None)}
        say({"answer": command["number"], "error": told})


async def main():
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=2**26)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    running = set()
    while line := await reader.readline():
        task = loop.create_task(carry_out(json.loads(line)))
        running.add(task)
        task.add_done_callback(running.discard)


# It would tell of every connection that a test breaks.
logging.basicConfig(level=logging.ERROR)
asyncio.run(main())
