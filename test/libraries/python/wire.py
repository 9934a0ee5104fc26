"""The protocol of test/libraries/bot-process.ts for bots in Python."""

import asyncio
import hashlib
import json
import sys
import threading

_lock = threading.Lock()


class Absent(Exception):
    """The library has no such method or parameter."""


class Refused(Exception):
    """The bot API refused; `args[0]` has the members `code`, `description` and `retry_after`."""


def say(line):
    with _lock:
        sys.stdout.write(json.dumps(line, default=str) + "\n")
        sys.stdout.flush()


def read():
    """The next command, or none when there are no more."""
    line = sys.stdin.readline()
    return json.loads(line) if line else None


def ready(version):
    say({"ready": {"version": version}})


def sum_of(content):
    content = bytes(content)
    return {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def with_files(value, made):
    """The same with each file as the library has it: `made` gets its name and its bytes."""
    if isinstance(value, list):
        return [with_files(item, made) for item in value]
    if not isinstance(value, dict):
        return value
    if "upload" not in value:
        return {name: with_files(item, made) for name, item in value.items()}
    with open(value["upload"], "rb") as file:
        return made(value["name"], file.read())


def answer_of(error):
    if isinstance(error, Absent):
        return {"absent": str(error)}
    if isinstance(error, Refused):
        return {"refused": error.args[0]}
    return {"failed": f"{type(error).__name__}: {error}"}


def snake(method):
    """sendMessage → send_message"""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in method)


async def serve(call, download):
    """Answers commands until it is told to stop; calls run side by side."""
    running = set()

    async def answer(command):
        try:
            if "call" in command:
                result = await call(command["call"], command["parameters"])
            else:
                result = await download(command["download"])
            say({"id": command["id"], "result": result})
        except Exception as error:  # whatever a library throws is the answer
            say({"id": command["id"], **answer_of(error)})

    while command := await asyncio.to_thread(read):
        if "stop" in command:
            break
        task = asyncio.create_task(answer(command))
        running.add(task)
        task.add_done_callback(running.discard)


def serve_in_threads(call, download):
    """The same for libraries that block."""

    def answer(command):
        try:
            if "call" in command:
                result = call(command["call"], command["parameters"])
            else:
                result = download(command["download"])
            say({"id": command["id"], "result": result})
        except Exception as error:
            say({"id": command["id"], **answer_of(error)})

    while command := read():
        if "stop" in command:
            break
        threading.Thread(target=answer, args=[command], daemon=True).start()
