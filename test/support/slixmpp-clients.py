"""XMPP clients of another make, driven by lines of JSON: commands on stdin, answers and what they see on stdout."""
import asyncio
import json
import sys

import slixmpp
from slixmpp.xmlstream import ET
from slixmpp.xmlstream.handler import Callback
from slixmpp.xmlstream.matcher import MatchXPath

CLIENT = "{jabber:client}"
BODY = CLIENT + "body"
CARBONS = "{urn:xmpp:carbons:2}"
CORRECTION = "{urn:xmpp:message-correct:0}replace"
FALLBACK = "{urn:xmpp:fallback:0}"
FORWARDED = "{urn:xmpp:forward:0}forwarded"
RECEIPT = "{urn:xmpp:receipts}received"
REPLY = "{urn:xmpp:reply:0}reply"
RETRACTION = "{urn:xmpp:message-retract:1}retract"
STATES = "{http://jabber.org/protocol/chatstates}"


def say(**facts):
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def child_id(xml, name):
    child = xml.find(name)
    return None if child is None else child.get("id")


def describe(xml):
    carbon = xml.find(CARBONS + "sent")
    if carbon is not None:
        xml = carbon.find(FORWARDED).find(CLIENT + "message")
    body = xml.find(BODY)
    states = [child.tag[len(STATES):] for child in xml if child.tag.startswith(STATES)]
    return {
        "id": xml.get("id"),
        "type": xml.get("type"),
        "from": xml.get("from"),
        "to": xml.get("to"),
        "carbon": carbon is not None,
        "body": None if body is None else body.text,
        "replaces": child_id(xml, CORRECTION),
        "retracts": child_id(xml, RETRACTION),
        "replyTo": child_id(xml, REPLY),
        "received": child_id(xml, RECEIPT),
        "state": states[0] if states else None,
    }


class Client(slixmpp.ClientXMPP):
    def __init__(self, name, jid, password, port):
        super().__init__(jid, password)
        self.name = name
        self.port = port
        self.backlog = []
        self.ready = False
        self.leaving = False
        self.register_plugin("xep_0280")
        self["feature_mechanisms"].unencrypted_plain = True
        self.add_event_handler("session_start", self.begin)
        self.add_event_handler("disconnected", self.reconnect_soon)
        self.add_event_handler("failed_auth", lambda _: say(client=name, failed="could not log in"))
        self.register_handler(Callback("all", MatchXPath(CLIENT + "message"), self.see))

    def dial(self):
        self.connect(("127.0.0.1", self.port), force_starttls=False, disable_starttls=True)

    async def begin(self, _):
        self["xep_0280"].enable()
        self.send_presence()
        self.ready = True
        say(client=self.name, online=True)
        backlog, self.backlog = self.backlog, []
        for command in backlog:
            self.write(command)

    def reconnect_soon(self, _):
        self.ready = False
        if not self.leaving:
            self.loop.call_later(0.2, self.dial)

    def see(self, stanza):
        say(client=self.name, message=describe(stanza.xml))

    def write(self, command):
        if not self.ready:
            self.backlog.append(command)
            return
        message = self.make_message(mto=command["to"], mtype="chat")
        message["id"] = command["id"]
        xml = message.xml
        for name, text in command.get("children", []):
            child = ET.SubElement(xml, name)
            for key, value in text.items():
                if key == "text":
                    child.text = value
                elif key == "range":
                    ET.SubElement(child, FALLBACK + "body", value)
                else:
                    child.set(key, value)
        message.send()


async def main():
    clients = {}
    reader = asyncio.StreamReader(limit=2**24)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        command = json.loads(line)
        name = command["client"]
        if command["do"] == "connect":
            jid, password, port = command["jid"], command["password"], command["port"]
            clients[name] = Client(name, jid, password, port)
            clients[name].dial()
        elif command["do"] == "write":
            clients[name].write(command)
        elif command["do"] == "disconnect":
            client = clients.pop(name)
            client.leaving = True
            await client.disconnect()
            say(client=name, offline=True)


asyncio.run(main())
