"""A plugin of pytest: points the libraries at the service, whose address is in CHAPAR."""

import os

import telegram.ext
from telebot import apihelper

address = os.environ["CHAPAR"]


def pytest_configure(config):
    # The plugin that knows this mark, and tries again what fails, is not in use.
    config.addinivalue_line("markers", "flaky: tried again")
    apihelper.API_URL = f"{address}/bot{{0}}/{{1}}"
    apihelper.FILE_URL = f"{address}/file/bot{{0}}/{{1}}"
    for kind in (telegram.Bot, telegram.ext.ExtBot):
        kind.__init__.__defaults__ = tuple(
            value.replace("https://api.telegram.org", address) if isinstance(value, str) else value
            for value in kind.__init__.__defaults__
        )
