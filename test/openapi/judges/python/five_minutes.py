"""The five minutes of the README by a client that was generated from the document. Reads one-time codes from its input."""

import json
import sys
import time
from importlib import import_module

base_url, phone, username = sys.argv[1:]
client_module = import_module("api_client")
client = client_module.Client(base_url=base_url, raise_on_unexpected_status=True)


def model(name, fields):
    words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")
    return getattr(import_module(f"api_client.models.{words}"), name).from_dict(fields)


def answer(place, *path, **given):
    if "body" in given:
        given["body"] = model(*given["body"])
    return import_module(f"api_client.api.{place}").sync(*path, client=client, **given)


def result(place, *path, **given):
    answered = answer(place, *path, **given)
    if not answered.ok:
        raise RuntimeError(answered.description)
    return answered.result


challenge = result("auth.post_auth_send_otp", body=("PostAuthSendOtpBody", {"phone": phone}))
signed_in = result(
    "auth.post_auth_login",
    body=(
        "PostAuthLoginBody",
        {"phone": phone, "otp": sys.stdin.readline().strip(), "challenge_id": challenge.challenge_id},
    ),
)
client = client_module.AuthenticatedClient(base_url=base_url, token=signed_in.access_token)


def person(first_name, ending):
    fields = {"first_name": first_name, "phone": phone[:-1] + ending, "username": username + ending}
    return result("sandbox.post_sandbox_people", body=("SandboxNewPerson", fields))


def inbox(of):
    return result("sandbox.get_sandbox_people_by_person_inbox", of.id)


echo, ada = person("Echo", "1"), person("Ada", "2")
link = result(
    "linking.post_platforms_by_platform_link_start",
    "sandbox",
    body=("PostPlatformsByPlatformLinkStartBody", {"phone": echo.phone}),
)
linked = result(
    "linking.post_platforms_by_platform_link_verify",
    "sandbox",
    body=(
        "PostPlatformsByPlatformLinkVerifyBody",
        {"session_id": link.session_id, "otp": inbox(echo).codes[-1].code},
    ),
)
credential_id = linked.credential.credential_id
while result("credentials.get_platforms_credentials_by_credential_id", credential_id).state != "active":
    time.sleep(0.05)
key = result(
    "api_keys.post_api_keys",
    body=(
        "PostApiKeysBody",
        {"name": "echo", "credential_id": credential_id, "scopes": ["bot:send", "bot:receive"]},
    ),
)
me = result("bot_api.get_me", key.key)
sent = result(
    "bot_api.send_message",
    key.key,
    body=("BotSendMessageParameters", {"chat_id": ada.id, "text": "Hello!"}),
)
refused = answer(
    "bot_api.send_message",
    key.key,
    body=("BotSendMessageParameters", {"chat_id": "@nobody_is_here", "text": "Hello!"}),
)


def once(read, is_there):
    """The log and the usage are written a moment late."""
    while not is_there(value := read()):
        time.sleep(0.1)
    return value


usage = once(
    lambda: result("account.get_user_usage", api_key_id=key.api_key_id),
    lambda usage: usage.totals.bot_requests == 3,
)
log = once(
    lambda: result("account.get_user_logs_api_requests", api_key_id=key.api_key_id),
    lambda log: len(log.items) == 3,
)
print(
    json.dumps(
        {
            "accounts": [one.state for one in result("credentials.get_platforms_credentials").items],
            "me": me.to_dict(),
            "sent": sent.to_dict(),
            "received": [message.text for message in inbox(ada).messages],
            "refusal": refused.description,
            "errors": usage.totals.errors_by_code.to_dict(),
            "log": [f"{call.method} {call.status}" for call in log.items],
        }
    )
)
