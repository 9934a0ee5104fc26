"""XMPP clients of another make, driven by lines of JSON: commands on stdin, answers and what they see on stdout."""
import asyncio
import json
import sys

import slixmpp
from slixmpp.xmlstream import ET
from slixmpp.xmlstream.handler import Callback
from slixmpp.xmlstream.matcher import MatchXPath

CLIENT = "{jabber:client}"
ALBUM = "{urn:chapar:album:0}album"
BODY = CLIENT + "body"
CARD = "{urn:ietf:params:xml:ns:vcard-4.0}"
CARBONS = "{urn:xmpp:carbons:2}"
CORRECTION = "{urn:xmpp:message-correct:0}replace"
FALLBACK = "{urn:xmpp:fallback:0}"
FILE = "{urn:xmpp:file:metadata:0}"
FORWARDED = "{urn:xmpp:forward:0}forwarded"
LOCATION = "{http://jabber.org/protocol/geoloc}"
OUT_OF_BAND = "{jabber:x:oob}"
RECEIPT = "{urn:xmpp:receipts}received"
DISPLAYED = "{urn:xmpp:chat-markers:0}displayed"
REACTIONS = "{urn:xmpp:reactions:0}"
REPLY = "{urn:xmpp:reply:0}reply"
FALLBACK = "{urn:xmpp:fallback:0}"
RETRACTION = "{urn:xmpp:message-retract:1}retract"
SHARING = "{urn:xmpp:sfs:0}file-sharing"
STANZA_ID = "{urn:xmpp:sid:0}stanza-id"
STATES = "{http://jabber.org/protocol/chatstates}"
THUMBNAIL = "{urn:xmpp:thumbs:1}thumbnail"
MUC = "{http://jabber.org/protocol/muc}x"
MUC_USER = "{http://jabber.org/protocol/muc#user}"


def say(**facts):
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def quoted_range(xml):
    """The part of the body that repeats the message answered, in code points."""
    for fallback in xml.iter(FALLBACK + "fallback"):
        body = fallback.find(FALLBACK + "body")
        if fallback.get("for") == "urn:xmpp:reply:0" and body is not None:
            return [int(body.get("start")), int(body.get("end"))]
    return None


def child_id(xml, name):
    child = xml.find(name)
    return None if child is None else child.get("id")


def describe_file(sharing):
    if sharing is None:
        return None
    file = sharing.find(FILE + "file")
    thumbnail = file.find(THUMBNAIL)
    return {
        "disposition": sharing.get("disposition"),
        "type": file.findtext(FILE + "media-type"),
        "name": file.findtext(FILE + "name"),
        "size": file.findtext(FILE + "size"),
        "thumbnail": None if thumbnail is None else thumbnail.get("uri"),
    }


def describe_parts(element, paths):
    return None if element is None else {name: element.findtext(path) for name, path in paths.items()}


CARD_PATHS = {"given": f"{CARD}n/{CARD}given", "phone": f"{CARD}tel/{CARD}uri"}
LOCATION_PATHS = {"title": LOCATION + "description", "address": LOCATION + "text"}


def describe_reactions(element):
    if element is None:
        return None
    return {"to": element.get("id"), "emojis": [child.text for child in element]}


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
        "quoted": quoted_range(xml),
        "received": child_id(xml, RECEIPT),
        "displayed": child_id(xml, DISPLAYED),
        "reactions": describe_reactions(xml.find(REACTIONS + "reactions")),
        "state": states[0] if states else None,
        "link": xml.findtext(f"{OUT_OF_BAND}x/{OUT_OF_BAND}url"),
        "file": describe_file(xml.find(SHARING)),
        "card": describe_parts(xml.find(CARD + "vcard"), CARD_PATHS),
        "place": describe_parts(xml.find(LOCATION + "geoloc"), LOCATION_PATHS),
        "album": child_id(xml, ALBUM),
        "forwarded": xml.find(FORWARDED) is not None,
        "stanzaId": child_id(xml, STANZA_ID),
    }


class Client(slixmpp.ClientXMPP):
    def __init__(self, name, jid, password, port):
        super().__init__(jid, password)
        self.name = name
        self.port = port
        self.backlog = []
        self.ready = False
        self.leaving = False
        self.entered = set()
        self.register_plugin("xep_0280")
        self["feature_mechanisms"].unencrypted_plain = True
        self.add_event_handler("session_start", self.begin)
        self.add_event_handler("disconnected", self.reconnect_soon)
        self.add_event_handler("failed_auth", lambda _: say(client=name, failed="could not log in"))
        self.register_handler(Callback("all", MatchXPath(CLIENT + "message"), self.see))
        self.register_handler(Callback("rooms", MatchXPath(CLIENT + "presence"), self.meet))

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

    def meet(self, stanza):
        if stanza.xml.get("type") == "error":
            names = [child.tag.rpartition("}")[2] for child in stanza.xml.find(CLIENT + "error")]
            say(client=self.name, refused=next(name for name in names if name != "text"))
        codes = [status.get("code") for status in stanza.xml.iter(MUC_USER + "status")]
        # ejabberd leaves the mark of one's own presence out where it puts somebody out.
        is_out = stanza.xml.get("type") == "unavailable" and stanza.xml.get("from") in self.entered
        if "110" in codes or is_out:
            self.entered.add(stanza.xml.get("from"))
            kind = "left" if stanza.xml.get("type") == "unavailable" else "joined"
            item = stanza.xml.find(f"{MUC_USER}x/{MUC_USER}item")
            standing = None if item is None else item.get("affiliation")
            say(client=self.name, affiliation=standing, **{kind: stanza.xml.get("from")})

    def join(self, occupant):
        presence = self.make_presence(pto=occupant)
        ET.SubElement(presence.xml, MUC)
        presence.send()

    def ask(self, command):
        iq = self.make_iq_set(ito=command["to"])
        iq.xml.append(ET.fromstring(command["xml"]))
        iq.send(callback=lambda _: say(client=self.name, answered=command["question"]))

    def flood(self, command):
        for number in range(command["count"]):
            self.make_message(mto=command["to"], mtype="chat", mbody=f"number {number}").send()

    def write(self, command):
        if not self.ready:
            self.backlog.append(command)
            return
        message = self.make_message(mto=command["to"], mtype=command["type"])
        message["id"] = command["id"]
        xml = message.xml
        for name, text in command.get("children", []):
            if not name:
                xml.append(ET.fromstring(text["xml"]))
                continue
            child = ET.SubElement(xml, name)
            for key, value in text.items():
                if key == "text":
                    child.text = value
                elif key == "url":
                    ET.SubElement(child, OUT_OF_BAND + "url").text = value
                elif key == "xml":
                    child.append(ET.fromstring(value))
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
        elif command["do"] == "join":
            clients[name].join(command["occupant"])
        elif command["do"] == "flood":
            clients[name].flood(command)
        elif command["do"] == "ask":
            clients[name].ask(command)
        elif command["do"] == "disconnect":
            client = clients.pop(name)
            client.leaving = True
            await client.disconnect()
            say(client=name, offline=True)


asyncio.run(main())
