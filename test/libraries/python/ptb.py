"""python-telegram-bot behind the protocol of test/libraries/bot-process.ts."""

import asyncio
import inspect

import telegram
from telegram import error, ext
from wire import Absent, Refused, read, ready, say, serve, snake, sum_of

CONVERTED = {
    "entities": telegram.MessageEntity,
    "caption_entities": telegram.MessageEntity,
    "reply_parameters": telegram.ReplyParameters,
    "link_preview_options": telegram.LinkPreviewOptions,
    "commands": telegram.BotCommand,
    "scope": telegram.BotCommandScope,
    "permissions": telegram.ChatPermissions,
    "reaction": telegram.ReactionType,
    "prices": telegram.LabeledPrice,
    "menu_button": telegram.MenuButton,
}
MARKUPS = {
    "inline_keyboard": telegram.InlineKeyboardMarkup,
    "keyboard": telegram.ReplyKeyboardMarkup,
    "remove_keyboard": telegram.ReplyKeyboardRemove,
    "force_reply": telegram.ForceReply,
}
MEDIA = {
    "photo": telegram.InputMediaPhoto,
    "video": telegram.InputMediaVideo,
    "document": telegram.InputMediaDocument,
    "audio": telegram.InputMediaAudio,
    "animation": telegram.InputMediaAnimation,
}


def upload(given, attach=False):
    with open(given["upload"], "rb") as file:
        return telegram.InputFile(file, filename=given["name"], attach=attach)


def media(given):
    fields = {name: converted(name, value) for name, value in given.items() if name != "type"}
    if isinstance(given["media"], dict):
        fields["media"] = upload(given["media"], attach=True)
    return MEDIA[given["type"]](**fields)


def markup(given):
    if "keyboard" in given:
        rows = [[telegram.KeyboardButton.de_json(key, None) for key in row] for row in given["keyboard"]]
        return telegram.ReplyKeyboardMarkup(**{**given, "keyboard": rows})
    if "inline_keyboard" in given:
        return telegram.InlineKeyboardMarkup.de_json(given, None)
    name = "remove_keyboard" if "remove_keyboard" in given else "force_reply"
    return MARKUPS[name](**{field: value for field, value in given.items() if field != name})


def inline_result(given):
    words = given["input_message_content"]
    content = telegram.InputTextMessageContent(**words)
    return telegram.InlineQueryResultArticle(**{
        **{name: value for name, value in given.items() if name != "type"},
        "input_message_content": content,
    })


def sticker(given):
    return telegram.InputSticker(**given)


def checklist(given):
    tasks = [telegram.InputChecklistTask(**task) for task in given["tasks"]]
    return telegram.InputChecklist(**{**given, "tasks": tasks})


def converted(name, value):
    if isinstance(value, dict) and "upload" in value:
        return upload(value)
    if name == "checklist":
        return checklist(value)
    if name == "stickers":
        return [sticker(item) for item in value]
    if name == "sticker" and isinstance(value, dict):
        return sticker(value)
    if name == "reply_markup":
        return markup(value)
    if name == "paid_media":
        return [telegram.InputPaidMediaPhoto(upload(item["media"], attach=True)) for item in value]
    if name == "media" and isinstance(value, dict):
        return media(value)
    if name == "media" and isinstance(value, list):
        return [media(item) for item in value]
    if name == "results":
        return [inline_result(item) for item in value]
    kind = CONVERTED.get(name)
    if kind is None:
        return value
    if isinstance(value, list):
        return [kind.de_json(item, None) for item in value]
    return kind.de_json(value, None)


def plain(value):
    if isinstance(value, telegram.TelegramObject):
        return value.to_dict()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


async def main():
    start = read()["start"]
    address, key = start["address"], start["key"]

    # snippet
    app = (
        ext.ApplicationBuilder()
        .token(key)
        .base_url(f"{address}/bot")
        .base_file_url(f"{address}/file/bot")
        .build()
    )

    async def echo(update, context):
        await update.message.reply_text(f"echo {' '.join(context.args)}")

    app.add_handler(ext.CommandHandler("echo", echo))
    # end

    async def tell(update, context):
        say({"update": update.to_dict()})

    async def call(method, parameters):
        function = getattr(app.bot, snake(method), None)
        if function is None:
            raise Absent(f"python-telegram-bot has no {method}")
        for name in parameters:
            if name not in inspect.signature(function).parameters:
                raise Absent(f"{method} of python-telegram-bot has no {name}")
        # The media that are sold have types of their own.
        named = {"media": "paid_media"} if method == "sendPaidMedia" else {}
        given = {name: converted(named.get(name, name), value) for name, value in parameters.items()}
        try:
            return plain(await function(**given))
        except error.RetryAfter as refused:
            raise Refused({"code": 429, "description": refused.message, "retry_after": refused.retry_after})
        except error.NetworkError as broken:
            if type(broken) is error.BadRequest:
                raise Refused({"code": 400, "description": broken.message})
            raise
        except error.TelegramError as refused:
            raise Refused({"description": refused.message})

    async def download(file_id):
        file = await app.bot.get_file(file_id)
        return sum_of(await file.download_as_bytearray())

    app.add_handler(ext.TypeHandler(telegram.Update, tell), group=-1)
    await app.initialize()
    await app.start()
    if start["mode"] == "polling":
        await app.updater.start_polling(allowed_updates=start["allowed_updates"])
    else:
        hook = start["webhook"]
        await app.updater.start_webhook(
            listen="127.0.0.1",
            port=hook["port"],
            url_path=hook["path"],
            webhook_url=hook["url"],
            secret_token=hook["secret"],
            allowed_updates=start["allowed_updates"],
        )
    ready(telegram.__version__)
    await serve(call, download)
    await app.updater.stop()
    await app.stop()
    await app.shutdown()


asyncio.run(main())
