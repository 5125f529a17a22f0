"""A mailbox behind a hub, for Python 3.8 and later. One file, standard library only: copy it into your project.

    from mailbox_client import Mailbox          # under any name but mailbox: that is a module of Python itself
    ada = Mailbox("https://hub.example.org:7337", token)
    ada.join(roles=["architect"])
    for message in ada.check():
        ada.reply(message["id"], body="With the model.")

A token that ends with the fingerprint of the hub's certificate (`mailbox serve --tls`) is sent to that hub only.
Every operation of the HTTP API can be called by its name: `ada.call("claim-next", role="worker")`.
"""

import base64
import hashlib
import http.client
import json
import ssl
import time
import urllib.parse


class MailboxError(Exception):
    """What the hub refused, with the codes of the library: not_found, conflict, over_limit and so on."""

    def __init__(self, code, message, hint=None, status=None):
        super().__init__(f"{code}: {message}" + (f" ({hint})" if hint else ""))
        self.code, self.message, self.hint, self.status = code, message, hint, status


READING = {
    "inbox", "thread", "sent", "search", "show", "count", "lead", "owed", "awaited", "agent", "template", "unread",
    "wait-for-ack", "wait-until-settled",
}
HELD_SECONDS = 50
GRACE_SECONDS = 30


class Mailbox:
    """The mailbox of the agent that the token belongs to."""

    def __init__(self, url, token, retry_seconds=15):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise MailboxError("invalid", f"{url!r} is not the address of a hub")
        self._parts, self._retry_seconds = parts, retry_seconds
        self._token, _, self._pin = token.partition("~")
        if self._pin and parts.scheme == "http":
            raise MailboxError("invalid", "the token is for a hub that speaks TLS", "use https")
        self.name = self.get("space")["you"]

    # Requests

    def call(self, operation, **fields):
        """An operation of this mailbox, by its name in the API."""
        given = {name: value for name, value in fields.items() if value is not None}
        repeatable = operation in READING or "key" in given
        path = f"/api/mailboxes/{urllib.parse.quote(self.name, safe='')}/{operation}"
        return self._request("POST", path, given, repeatable)

    def get(self, reading, **query):
        """A reading of the space: agents, owed, messages/ID and so on."""
        given = {name: value for name, value in query.items() if value is not None}
        search = f"?{urllib.parse.urlencode(given)}" if given else ""
        return self._request("GET", f"/api/{reading}{search}", None, True)

    def _request(self, method, path, body, repeatable):
        deadline, pause = time.monotonic() + self._retry_seconds, 0.05
        while True:
            sent = False
            try:
                connection = self._connect()
                try:
                    sent = True
                    return self._exchange(connection, method, path, body)
                finally:
                    connection.close()
            except (OSError, http.client.HTTPException) as error:
                safe = repeatable or not sent
                if safe and time.monotonic() + pause < deadline:
                    time.sleep(pause)
                    pause = min(pause * 2, 2)
                    continue
                known = "does not answer" if safe else "disconnected; it may or may not have been carried out"
                raise MailboxError("unreachable", f"the hub {known}", "a send with a key can be repeated") from error

    def _connect(self):
        host, port = self._parts.hostname, self._parts.port
        seconds = HELD_SECONDS + GRACE_SECONDS
        if self._parts.scheme == "http":
            connection = http.client.HTTPConnection(host, port, timeout=seconds)
        else:
            context = ssl.create_default_context()
            if self._pin:
                # Whoever signed the certificate does not matter: it is compared below, before anything is sent.
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            connection = http.client.HTTPSConnection(host, port, timeout=seconds, context=context)
        connection.connect()
        if self._pin:
            digest = hashlib.sha256(connection.sock.getpeercert(True)).digest()
            if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != self._pin:
                connection.close()
                raise MailboxError("not_permitted", "this is not the hub that the token is for")
        return connection

    def _exchange(self, connection, method, path, body):
        headers = {"Authorization": f"Bearer {self._token}"}
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, path, data, headers)
        response = connection.getresponse()
        text = response.read()
        if response.status < 300:
            return json.loads(text)
        try:
            error = json.loads(text)["error"]
        except (ValueError, KeyError, TypeError):
            raise MailboxError("unreachable", f"the response ({response.status}) is not from a hub") from None
        raise MailboxError(error["code"], error["message"], error.get("hint"), response.status)

    # What agents do

    def join(self, roles=None, tags=None, note=None):
        return self.call("join", roles=roles, tags=tags, note=note)

    def send(self, to, body="", **fields):
        """Returns when the message is on disk. With `key=` a send whose answer was lost is repeated, and sent once."""
        return self.call("send", to=to, body=body, **fields)

    def reply(self, id, body="", **fields):
        return self.call("reply", id=id, body=body, **fields)

    def check(self, **options):
        """New mail, the most urgent first; it is marked as read."""
        return self.call("check", **options)["messages"]

    def show(self, id):
        """A message, and what became of it for each recipient."""
        return self.call("show", id=id)

    def ack(self, id, note=None):
        return self.call("ack", id=id, note=note)

    def start(self, id):
        return self.call("start", id=id)

    def done(self, id, note=None):
        return self.call("done", id=id, note=note)

    def fail(self, id, reason):
        return self.call("fail", id=id, reason=reason)

    def wait(self, timeout=60, **wanted):
        """A message that is `type=`, `from_=` or `replyTo=` this; None when the time is up."""
        if "from_" in wanted:
            wanted["from"] = wanted.pop("from_")
        deadline = time.monotonic() + timeout
        while True:
            left = max(0, min(deadline - time.monotonic(), HELD_SECONDS))
            message = self.call("wait", timeoutMs=int(left * 1000), **wanted)["message"]
            if message is not None or time.monotonic() >= deadline:
                return message
