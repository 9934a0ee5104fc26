"""aiogram behind the protocol of test/libraries/bot-process.ts."""

import asyncio
import re

import aiogram
from aiogram import Bot, Dispatcher, methods
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import TelegramAPIError, TelegramNetworkError, TelegramRetryAfter
from aiogram.filters import Command, CommandObject
from aiogram.types import FSInputFile, Message, TelegramObject
from aiogram.webhook.aiohttp_server import SimpleRequestHandler
from aiohttp import web
from wire import Absent, Refused, read, ready, say, serve, sum_of


def converted(value):
    if isinstance(value, dict):
        if "upload" in value:
            return FSInputFile(value["upload"], filename=value["name"])
        return {name: converted(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [converted(item) for item in value]
    return value


def plain(value):
    if isinstance(value, TelegramObject):
        return value.model_dump(by_alias=True, exclude_none=True, warnings=False)
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


async def main():
    start = read()["start"]
    address, key = start["address"], start["key"]

    # snippet
    session = AiohttpSession(api=TelegramAPIServer.from_base(address))
    bot = Bot(key, session=session)
    dispatcher = Dispatcher()

    @dispatcher.message(Command("echo"))
    async def echo(message: Message, command: CommandObject):
        await message.answer(f"echo {command.args}")
    # end

    @dispatcher.update.outer_middleware
    async def tell(handler, event, data):
        say({"update": plain(event)})
        return await handler(event, data)

    async def call(method, parameters):
        kind = getattr(methods, method[0].upper() + method[1:], None)
        if kind is None:
            raise Absent(f"aiogram has no {method}")
        for name in parameters:
            if name not in kind.model_fields:
                raise Absent(f"{method} of aiogram has no {name}")
        try:
            return plain(await bot(kind(**converted(parameters))))
        except TelegramNetworkError:
            raise
        except TelegramRetryAfter as refused:
            raise Refused({"code": 429, "description": refused.message, "retry_after": refused.retry_after})
        except TelegramAPIError as refused:
            raise Refused({"description": re.sub("^Telegram server says - ", "", refused.message)})

    async def download(file_id):
        return sum_of((await bot.download(file_id)).read())

    allowed = start["allowed_updates"]
    if start["mode"] == "polling":
        running = asyncio.create_task(
            dispatcher.start_polling(bot, allowed_updates=allowed, handle_signals=False)
        )
        close = dispatcher.stop_polling
    else:
        hook = start["webhook"]
        app = web.Application()
        SimpleRequestHandler(dispatcher, bot, secret_token=hook["secret"]).register(app, path=hook["path"])
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", hook["port"]).start()
        await bot.set_webhook(hook["url"], secret_token=hook["secret"], allowed_updates=allowed)
        running, close = None, runner.cleanup
    ready(aiogram.__version__)
    await serve(call, download)
    await close()
    if running:
        await running
    await session.close()


asyncio.run(main())
