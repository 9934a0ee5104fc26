"""Apprise behind the protocol of test/libraries/bot-process.ts."""

import apprise
from apprise.plugins.telegram import NotifyTelegram
from wire import read, ready, serve_in_threads, Absent


def main():
    start = read()["start"]
    address, key = start["address"], start["key"]

    def notice(chat, title, body, attachment):
        # snippet
        NotifyTelegram.notify_url = f"{address}/bot"
        notifier = apprise.Apprise()
        notifier.add(f"tgram://{key}/{chat}")
        sent = notifier.notify(body, title=title, body_format="text", attach=attachment)
        # end
        return bool(sent)

    def call(method, parameters):
        if method != "notify":
            raise Absent(f"Apprise has no {method}")
        attachment = parameters.get("attachment")
        path = attachment and attachment["upload"]
        return notice(parameters["chat_id"], parameters["title"], parameters["body"], path)

    def download(_):
        raise Absent("Apprise downloads nothing")

    ready(apprise.__version__)
    serve_in_threads(call, download)


main()
