"""telegrinder behind the protocol of test/libraries/bot-process.ts."""

import asyncio
import inspect
import os
from datetime import datetime
from enum import Enum
from importlib.metadata import version
from types import NoneType

from aiohttp import web
from fntypes.option import Nothing, Some
from fntypes.variative import Variative
from msgspec import Struct
from msgspec.structs import fields
from telegrinder import API, Message, Telegrinder, Token
from telegrinder.bot.polling import Polling
from telegrinder.msgspec_utils import decoder
from telegrinder.rules import Argument, Command
from telegrinder.types import objects as types
from wire import Absent, Refused, read, ready, say, serve, snake, sum_of, with_files

GIVEN = {
    "reply_parameters": types.ReplyParameters,
    "permissions": types.ChatPermissions,
    "sticker": types.InputSticker,
}


def kind_of(name, value):
    """The library's type of what is an object, and no file."""
    if name == "media":
        return types.InputMediaPhoto
    if name != "reply_markup":
        return GIVEN[name]
    if "inline_keyboard" in value:
        return types.InlineKeyboardMarkup
    if "keyboard" in value:
        return types.ReplyKeyboardMarkup
    return types.ReplyKeyboardRemove if "remove_keyboard" in value else types.ForceReply


def given(name, value):
    made = with_files(value, types.InputFile)
    return kind_of(name, value)(**made) if isinstance(made, dict) else made


def plain(value):
    """What its types hold, in the names of the bot API."""
    if isinstance(value, Some):
        return plain(value.unwrap())
    if isinstance(value, Variative):
        return plain(value.v)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return int(value.timestamp())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if not isinstance(value, Struct):
        return value
    members = {field.encode_name: getattr(value, field.name) for field in fields(value)}
    return {name: plain(member) for name, member in members.items() if not isinstance(member, (Nothing, NoneType))}


async def main():
    start = read()["start"]
    address, key = start["address"], start["key"]

    # snippet
    API.API_URL = f"{address}/"
    API.API_FILE_URL = f"{address}/file/"
    api = API(Token(key))
    bot = Telegrinder(api)

    @bot.on.message(Command("echo", Argument("words", validators=[str])))
    async def echo(message: Message, words: str):
        await message.answer(f"echo {words}")
    # end

    async def take(update):
        say({"update": plain(update)})
        await bot.dispatch.feed(update, api)

    async def call(method, parameters):
        function = getattr(api, snake(method), None)
        if function is None:
            raise Absent(f"telegrinder has no {method}")
        for name in parameters:
            if name not in inspect.signature(function).parameters:
                raise Absent(f"{method} of telegrinder has no {name}")
        if "copy_text" in repr(parameters):
            raise Absent("a button of telegrinder has no copy_text")
        answer = await function(**{name: given(name, value) for name, value in parameters.items()})
        if not answer:
            raise Refused({"code": answer.error.code, "description": answer.error.error})
        return plain(answer.unwrap())

    async def download(file_id):
        file = (await api.get_file(file_id)).unwrap()
        return sum_of(await api.download_file(file.file_path.unwrap()))

    receiving = await receive(api, start, take)
    ready(version("telegrinder"))
    await serve(call, download)
    receiving.cancel()
    os._exit(0)


async def receive(api, start, take):
    allowed = start["allowed_updates"]
    if start["mode"] == "polling":

        async def poll():
            async for updates in Polling(api, include_updates=set(allowed)).listen():
                for update in updates:
                    await take(update)

        return asyncio.create_task(poll())
    hook = start["webhook"]

    async def post(request):
        if request.headers.get("x-telegram-bot-api-secret-token") != hook["secret"]:
            return web.Response(status=401)
        await take(decoder.decode(await request.read(), type=types.Update))
        return web.Response()

    app = web.Application()
    app.router.add_post(hook["path"], post)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", hook["port"]).start()
    (await api.set_webhook(hook["url"], secret_token=hook["secret"], allowed_updates=allowed)).unwrap()
    return asyncio.create_task(asyncio.sleep(0))


asyncio.run(main())
