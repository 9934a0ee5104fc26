"""Bots made with two libraries for Soroush Plus, at a gateway: each answers one message. Prints a line of JSON for each step."""

import asyncio
import io
import json
import sys

from aiosplus import Bot
from aiosplus.client.session import AioSplusSession
from plustik import Client

address, key, other_key = sys.argv[1:]


def tell(**seen):
    print(json.dumps(seen), flush=True)


async def with_aiosplus():
    session = AioSplusSession(
        api_url=address + "/bot{token}/{method}",
        file_url=address + "/file/bot{token}/{file_path}",
    )
    async with Bot(key, session=session) as bot:
        tell(me=(await bot.get_me()).username)
        offset = None
        while True:
            for update in await bot.get_updates(offset=offset, timeout=20):
                offset = update.update_id + 1
                if update.message and update.message.text:
                    await answer(bot, update.message)
                    await bot.get_updates(offset=offset, timeout=0)
                    return


async def answer(bot, message):
    chat = message.chat.id
    tell(heard=message.text, chat=chat)
    sent = await bot.send_message(chat, "*heard*", parse_mode="Markdown", reply_to_message_id=message.message_id)
    await bot.edit_message_text("and understood", chat_id=chat, message_id=sent.message_id)
    document = await bot.send_document(chat, io.BytesIO(b"soroush" * 1000), caption="a file")
    file = await bot.get_file(document.document.file_id)
    content = io.BytesIO()
    await bot.download_file(file, content)
    tell(sent=sent.message_id, file=content.getvalue() == b"soroush" * 1000)


async def with_plustik():
    bot = Client(other_key, base_url=address + "/bot")
    me = await bot.get_me()
    # Each key has a place of its own among the updates.
    updates = await bot.get_updates(timeout=20)
    message = updates[0]["message"]
    sent = await bot.send_message(message["chat"]["id"], "from the other key")
    tell(other=me.username, heard=message["text"], sent=sent.text)


async def main():
    await with_aiosplus()
    await with_plustik()


asyncio.run(main())
