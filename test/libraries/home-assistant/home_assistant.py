"""Home Assistant with its integration telegram_bot behind the protocol of test/libraries/bot-process.ts."""

import asyncio
import atexit
import shutil
import socket
import sys
import tempfile
from functools import partial

from homeassistant import auth, bootstrap, config_entries, loader
from homeassistant.const import __version__
from homeassistant.components import telegram_bot
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from telegram import Bot
from wire import read, ready, say, serve, Absent


async def main():
    start = read()["start"]
    address, key, chat = start["address"], start["key"], start["chat"]

    # snippet
    # The last Home Assistant for Python 3.11 has no setting for the address; newer ones ask for
    # the "API endpoint" when the bot is added.
    places = {"base_url": f"{address}/bot", "base_file_url": f"{address}/file/bot"}
    telegram_bot.Bot = partial(Bot, **places)
    # configuration.yaml
    configuration = {
        "telegram_bot": [{"platform": "polling", "api_key": key, "allowed_chat_ids": [chat]}],
        "automation": [
            {
                "alias": "Echo",
                "mode": "queued",
                "trigger": {
                    "platform": "event",
                    "event_type": "telegram_command",
                    "event_data": {"command": "/echo"},
                },
                "action": {
                    "service": "telegram_bot.send_message",
                    "data": {
                        "target": "{{ trigger.event.data.chat_id }}",
                        "message": "echo {{ trigger.event.data.args | join(' ') }}",
                    },
                },
            },
            {
                "alias": "Boil",
                "trigger": {
                    "platform": "event",
                    "event_type": "telegram_callback",
                    "event_data": {"command": "/boil"},
                },
                "action": {
                    "service": "telegram_bot.answer_callback_query",
                    "data": {
                        "callback_query_id": "{{ trigger.event.data.id }}",
                        "message": "It will",
                        "show_alert": True,
                    },
                },
            },
        ],
    }
    # end

    home = await home_with(configuration)
    home.config.allowlist_external_dirs.add(tempfile.gettempdir())
    for event in ("telegram_text", "telegram_command", "telegram_callback"):
        home.bus.async_listen(event, tell)
    await home.async_start()

    async def notify(chat_id, title, body, attachment=None, buttons=None):
        """Resolves whether a message was sent."""
        sent = asyncio.Event()
        forget = home.bus.async_listen("telegram_sent", lambda _: sent.set())
        data = {"target": chat_id}
        if attachment:
            service = "send_photo" if attachment["name"].endswith(".jpg") else "send_document"
            data |= {"file": attachment["upload"], "caption": f"{title}: {body}"}
        else:
            service = "send_message"
            data |= {"title": title, "message": body}
        if buttons:
            data["inline_keyboard"] = [buttons]
        try:
            await home.services.async_call("telegram_bot", service, data, blocking=True)
            await asyncio.wait_for(sent.wait(), 5)
            return True
        except TimeoutError:
            return False
        finally:
            forget()

    async def call(method, parameters):
        if method != "notify":
            raise Absent(f"Home Assistant has no {method}")
        return await notify(**parameters)

    async def download(_):
        raise Absent("the integration downloads nothing")

    ready(__version__)
    await serve(call, download)
    await home.async_stop(force=True)


def tell(event):
    say({"update": {event.event_type: dict(event.data)}})


async def home_with(configuration):
    """A home of these integrations alone: without the pages that a browser shows."""
    folder = tempfile.mkdtemp(prefix="chapar-home-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    home = HomeAssistant(folder)
    home.config.skip_pip = True
    loader.async_setup(home)
    home.config_entries = config_entries.ConfigEntries(home, {})
    await bootstrap.async_load_base_functionality(home)
    home.auth = await auth.auth_manager_from_config(home, [], [])
    own = {"http": {"server_host": "127.0.0.1", "server_port": free_port()}}
    for integration in ("homeassistant", "telegram_bot", "automation"):
        if not await async_setup_component(home, integration, {**configuration, **own}):
            sys.exit(f"{integration} is not set up")
    return home


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


asyncio.run(main())
