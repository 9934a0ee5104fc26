"""NoneBot with its adapter for Telegram behind the protocol of test/libraries/bot-process.ts."""

import asyncio
import inspect
import os
import sys
from copy import deepcopy
from importlib.metadata import version

import nonebot
from nonebot.adapters.telegram import Adapter, Bot, Event, model
from nonebot.adapters.telegram.api import API
from nonebot.adapters.telegram.exception import ActionFailed
from nonebot.params import CommandArg
from pydantic import BaseModel, TypeAdapter
from wire import Absent, Refused, read, ready, say, serve, snake, sum_of, with_files

UPLOADING = (
    "sendPhoto sendAudio sendDocument sendVideo sendAnimation sendVoice sendSticker sendMediaGroup editMessageMedia"
).split()


def pair(name, content):
    """A file as the library sends it."""
    return name, content


def given(value, kind):
    """The library's types of what it is to send; a file is no part of all of them."""
    if isinstance(value, (dict, list)):
        return TypeAdapter(kind).validate_python(value)
    return value


def plain(value):
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True, exclude_none=True)
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


async def main(start):
    bot = await connected()

    async def call(method, parameters):
        function = getattr(API, snake(method), None)
        if function is None:
            raise Absent(f"NoneBot has no {method}")
        known = inspect.signature(function).parameters
        for name in parameters:
            if name not in known:
                raise Absent(f"{method} of NoneBot has no {name}")
        if "'upload'" in repr(parameters) and method not in UPLOADING:
            raise Absent(f"{method} of NoneBot takes no file")
        made = {name: given(with_files(value, pair), known[name].annotation) for name, value in parameters.items()}
        try:
            return plain(await getattr(bot, snake(method))(**made))
        except ActionFailed as refused:
            raise Refused({"description": refused.description})

    async def download(file_id):
        file = await bot.get_file(file_id)
        address = f"{start['address']}/file/bot{start['key']}/{file.file_path}"
        request = nonebot.drivers.Request("GET", address)
        return sum_of((await bot.adapter.request(request)).content)

    ready(version("nonebot-adapter-telegram"))
    await serve(call, download)
    os._exit(0)


async def connected():
    while not nonebot.get_bots():
        await asyncio.sleep(0.05)
    return nonebot.get_bot()


def begin():
    start = read()["start"]
    address, key = start["address"], start["key"]
    nonebot.logger.remove()
    nonebot.logger.add(sys.stderr, level="ERROR")
    running = []
    hook = start.get("webhook")

    more = {"driver": "~none+~httpx"}
    if hook:
        url = hook["url"].removesuffix(hook["path"])
        more = {"driver": "~fastapi+~httpx", "port": hook["port"], "telegram_webhook_url": url}

    # snippet
    bot = {"token": key, "api_server": f"{address}/", "is_webhook": bool(hook)}
    nonebot.init(telegram_bots=[bot], **more)
    nonebot.get_driver().register_adapter(Adapter)
    echo = nonebot.on_command("echo")

    @echo.handle()
    async def _(words=CommandArg()):
        await echo.finish(f"echo {words}")
    # end

    parse = Event.parse_event.__func__

    def tell(kind, update):
        """Told before the library takes the texts out of it, for its segments."""
        if kind is Event:
            say({"update": plain(model.Update.model_validate(deepcopy(update)))})
        return parse(kind, update)

    Event.parse_event = classmethod(tell)

    @Bot.on_calling_api
    async def ask_for_all(bot, api, parameters):
        """It asks for what comes by default, and its secret is by chance: the script tells others."""
        if api in ("get_updates", "set_webhook"):
            parameters["allowed_updates"] = start["allowed_updates"]
        if api == "set_webhook":
            bot.secret_token = parameters["secret_token"] = hook["secret"]

    @nonebot.get_driver().on_startup
    async def run():
        running.append(asyncio.create_task(main(start)))

    nonebot.run(**({"log_level": "error"} if hook else {}))


begin()
