"""A plugin of pytest: points the libraries at the service, leaves out the tests that a list names, and
writes down what became of all.

CHAPAR is the address, LEFT_OUT the list, OUTCOME the file to write. A line of the list is a test, a class or
a file, then two spaces and the reason.
"""

import json
import os
import re

import pytest
import telegram.ext
from telebot import apihelper

address = os.environ["CHAPAR"]
left_out = {}
unused = set()
outcome = {"passed": [], "failed": [], "skipped": []}


def pytest_configure(config):
    # The plugin that knows this mark, and tries again what fails, is not in use.
    config.addinivalue_line("markers", "flaky: tried again")
    with open(os.environ["LEFT_OUT"]) as lines:
        for line in lines:
            if not line.startswith("#"):
                test, reason = line.strip().split("  ", 1)
                left_out[test] = reason
    unused.update(left_out)
    apihelper.API_URL = f"{address}/bot{{0}}/{{1}}"
    apihelper.FILE_URL = f"{address}/file/bot{{0}}/{{1}}"
    for kind in (telegram.Bot, telegram.ext.ExtBot):
        kind.__init__.__defaults__ = tuple(
            value.replace("https://api.telegram.org", address) if isinstance(value, str) else value
            for value in kind.__init__.__defaults__
        )


def names_of(nodeid):
    """Of a test with parameters, without them, of its class and of its file."""
    whole = re.sub(r"^.*?(\w+\.py)", r"\1", nodeid)
    test = whole.split("[")[0]
    parts = test.split("::")
    return [whole, *("::".join(parts[:length]) for length in range(len(parts), 0, -1))]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    for item in items:
        for name in names_of(item.nodeid):
            if name in left_out:
                unused.discard(name)
                item.add_marker(pytest.mark.skip(reason=left_out[name]))
                break


def pytest_runtest_logreport(report):
    if report.passed and report.when != "call":
        return
    # The suites excuse what an official server that is busy may refuse: this one is not.
    is_excused = report.skipped and hasattr(report, "wasxfail")
    kind = "failed" if report.failed or is_excused else "skipped" if report.skipped else "passed"
    outcome[kind].append([names_of(report.nodeid)[0], reason_of(report)])


def reason_of(report):
    if hasattr(report, "wasxfail"):
        return report.wasxfail
    if report.skipped:
        return report.longrepr[2]
    crash = getattr(report.longrepr, "reprcrash", None)
    return crash.message if crash else str(report.longrepr or "")


def pytest_sessionfinish():
    outcome["failed"] += [[test, "is left out, but there is no such test"] for test in sorted(unused)]
    with open(os.environ["OUTCOME"], "w") as file:
        json.dump(outcome, file)
