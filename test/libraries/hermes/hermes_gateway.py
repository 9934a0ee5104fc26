"""The gateway of Hermes with its Telegram channel behind the protocol of test/libraries/bot-process.ts."""

import importlib.metadata
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from wire import read, ready, serve_in_threads, Absent


class Model(BaseHTTPRequestHandler):
    """A model that knows about kettles: it tells of the highest number it was asked about, piece by piece."""

    def do_GET(self):
        self.reply("application/json", json.dumps({"object": "list", "data": [{"id": "kettle"}]}))

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        numbers = re.findall(r"kettle (\d+)", json.dumps(asked["messages"]))
        words = [f"Kettle **{max(map(int, numbers), default=0)}** ", "boils."]
        if not asked.get("stream"):
            message = {"role": "assistant", "content": "".join(words)}
            return self.reply("application/json", json.dumps(self.answer("stop", message=message)))
        pieces = [self.answer(delta={"role": "assistant", "content": word}) for word in words]
        pieces.append(self.answer("stop", delta={}))
        lines = [f"data: {json.dumps(piece)}\n\n" for piece in pieces]
        return self.reply("text/event-stream", "".join([*lines, "data: [DONE]\n\n"]))

    def answer(self, reason=None, **choice):
        kind = "chat.completion.chunk" if "delta" in choice else "chat.completion"
        choices = [{"index": 0, "finish_reason": reason, **choice}]
        return {"id": "a", "object": kind, "created": 1, "model": "kettle", "choices": choices}

    def reply(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


def main():
    start = read()["start"]
    address, key, webhook = start["address"], start["key"], start.get("webhook")
    model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()

    # snippet
    # config.yaml, which may be JSON
    extra = {"base_url": f"{address}/bot", "base_file_url": f"{address}/file/bot"}
    config = {"platforms": {"telegram": {"enabled": True, "token": key, "extra": extra}}}
    # .env: with a webhook it does not poll
    settings = {"TELEGRAM_ALLOW_ALL_USERS": "true"}
    if webhook:
        settings["TELEGRAM_WEBHOOK_URL"] = webhook["url"]
        settings["TELEGRAM_WEBHOOK_PORT"] = str(webhook["port"])
        settings["TELEGRAM_WEBHOOK_SECRET"] = webhook["secret"]
    # end

    place = f"http://127.0.0.1:{model.server_port}/v1"
    config["model"] = {"provider": "custom", "default": "kettle", "base_url": place, "api_key": "none"}
    config["model"]["context_length"] = 200_000
    home = Path(tempfile.mkdtemp(prefix="chapar-hermes-"))
    (home / "config.yaml").write_text(json.dumps(config))
    env = {**os.environ, **settings, "HERMES_HOME": str(home), "HOME": str(home)}
    # Else it asks public name servers for other addresses of Telegram.
    env["HERMES_TELEGRAM_DISABLE_FALLBACK_IPS"] = "true"
    command = [sys.executable, "-m", "hermes_cli.main", "gateway", "run"]
    gateway = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    try:
        await_connection(home / "gateway_state.json", gateway)
        ready(importlib.metadata.version("hermes-agent"))
        serve_in_threads(absent, absent)
    finally:
        gateway.kill()
        gateway.wait()
        shutil.rmtree(home, ignore_errors=True)


def await_connection(state, gateway):
    while gateway.poll() is None:
        if state.exists():
            platforms = json.loads(state.read_text() or "{}").get("platforms", {})
            if platforms.get("telegram", {}).get("state") == "connected":
                return
        # Nothing but the order to stop comes meanwhile: the caller limits the time.
        if select.select([sys.stdin], [], [], 0.1)[0]:
            break
    raise RuntimeError(f"the gateway does not connect; it ended with {gateway.returncode}")


def absent(*_):
    raise Absent("the gateway takes no orders")


main()
