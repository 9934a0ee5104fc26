"""pyTelegramBotAPI behind the protocol of test/libraries/bot-process.ts."""

import inspect
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import telebot
from telebot import apihelper, types, util, version
from wire import Absent, Refused, read, ready, say, serve_in_threads, snake, sum_of

CONVERTED = {
    "entities": types.MessageEntity,
    "reply_parameters": types.ReplyParameters,
    "commands": types.BotCommand,
    "permissions": types.ChatPermissions,
    "options": types.InputPollOption,
    "prices": types.LabeledPrice,
    "rich_message": types.InputRichMessage,
}
HANDLERS = {"inline_query": "inline_handler", "chosen_inline_result": "chosen_inline_handler"}
# What the library calls parameters of the bot API.
NAMES = {"sendInvoice": {"payload": "invoice_payload"}}
MEDIA = {"photo": types.InputMediaPhoto, "document": types.InputMediaDocument}


def markup(given):
    if "inline_keyboard" in given:
        return types.InlineKeyboardMarkup.de_json(json.dumps(given))
    rest = {name: value for name, value in given.items() if name not in ("keyboard", "remove_keyboard", "force_reply")}
    if "remove_keyboard" in given:
        return types.ReplyKeyboardRemove(**rest)
    if "force_reply" in given:
        return types.ForceReply(**rest)
    keyboard = types.ReplyKeyboardMarkup(**rest)
    for row in given["keyboard"]:
        keyboard.row(*[types.KeyboardButton(**button) for button in row])
    return keyboard


def media(given):
    fields = {name: converted(name, value) for name, value in given.items() if name != "type"}
    return MEDIA[given["type"]](**fields)


def sticker(given):
    return types.InputSticker(**given)


def converted(name, value):
    if isinstance(value, dict) and "upload" in value:
        return types.InputFile(value["upload"], file_name=value["name"])
    if name == "stickers":
        return [sticker(item) for item in value]
    if name == "sticker" and isinstance(value, dict):
        return sticker(value)
    if name == "reply_markup":
        return markup(value)
    if name == "results":
        return [
            types.InlineQueryResultArticle(
                item["id"], item["title"], types.InputTextMessageContent(**item["input_message_content"])
            )
            for item in value
        ]
    if name == "reaction":
        return [types.ReactionTypeEmoji(item["emoji"]) for item in value]
    if name == "media":
        return [media(item) for item in value] if isinstance(value, list) else (
            media(value) if isinstance(value, dict) else value
        )
    kind = CONVERTED.get(name)
    if kind is None:
        return value
    return [kind(**item) for item in value] if isinstance(value, list) else kind(**value)


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items() if item is not None}
    if type(value).__module__ == "telebot.types":
        members = {name: plain(item) for name, item in vars(value).items() if item is not None and name != "json"}
        if "from_user" in members:
            members["from"] = members.pop("from_user")
        return members
    return value


def main():
    start = read()["start"]
    address, key = start["address"], start["key"]

    # snippet
    apihelper.API_URL = f"{address}/bot{{0}}/{{1}}"
    apihelper.FILE_URL = f"{address}/file/bot{{0}}/{{1}}"
    bot = telebot.TeleBot(key)

    @bot.message_handler(commands=["echo"])
    def echo(message):
        bot.send_message(message.chat.id, f"echo {util.extract_arguments(message.text)}")
    # end

    everything = util.content_type_media + util.content_type_service
    bot.message_handler(func=lambda _: True, content_types=everything)(teller("message"))
    bot.edited_message_handler(func=lambda _: True, content_types=everything)(teller("edited_message"))
    for kind in start["allowed_updates"][2:]:
        getattr(bot, HANDLERS.get(kind, f"{kind}_handler"))(func=lambda _: True)(teller(kind))

    def call(method, parameters):
        function = getattr(bot, snake(method), None)
        if function is None:
            raise Absent(f"pyTelegramBotAPI has no {method}")
        if method == "sendChecklist":
            raise Absent("send_checklist of pyTelegramBotAPI writes the name of a Python object")
        names = inspect.signature(function).parameters
        own = NAMES.get(method, {})
        parameters = {own.get(name, name): value for name, value in parameters.items()}
        for name in parameters:
            if name not in names:
                raise Absent(f"{method} of pyTelegramBotAPI has no {name}")
        given = {name: converted(name, value) for name, value in parameters.items()}
        # The media that are sold have types of their own.
        if method == "sendPaidMedia":
            files = [converted("file", item["media"]) for item in parameters["media"]]
            given["media"] = [types.InputPaidMediaPhoto(file) for file in files]
        # It has no default, although nothing reads it beside the sticker.
        if method == "addStickerToSet":
            given["emojis"] = None
        try:
            return plain(function(**given))
        except apihelper.ApiTelegramException as refused:
            raise Refused({"code": refused.error_code, "description": refused.description})

    def download(file_id):
        return sum_of(bot.download_file(bot.get_file(file_id).file_path))

    receive(bot, start)
    ready(version.__version__)
    serve_in_threads(call, download)
    # Its polling thread ends only after the long poll.
    os._exit(0)


def teller(kind):
    return lambda event: say({"update": {kind: plain(event)}})


def receive(bot, start):
    allowed = start["allowed_updates"]
    if start["mode"] == "polling":
        polling = lambda: bot.infinity_polling(allowed_updates=allowed, logger_level=None)
        threading.Thread(target=polling, daemon=True).start()
        return
    hook = start["webhook"]

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            is_ours = self.headers["x-telegram-bot-api-secret-token"] == hook["secret"]
            if is_ours and self.path == hook["path"]:
                bot.process_new_updates([types.Update.de_json(body.decode())])
            self.send_response(200 if is_ours else 401)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", hook["port"]), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    bot.set_webhook(hook["url"], secret_token=hook["secret"], allowed_updates=allowed)


main()
