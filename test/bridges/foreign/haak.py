"""A session that mails by data/agent-mailbox.jsonl: appends messages, appends reads, never changes a line.

haak.py DATA NAME PEER SEND RECEIVE: sends SEND numbered messages to PEER and reads RECEIVE from it. It can be killed at
any time; a new one looks at the files and goes on.
"""
import json
import sys
import time
import uuid
from datetime import datetime, timezone
from pathlib import Path

data, name, peer, to_send, to_receive = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
mailbox, reads = data / "agent-mailbox.jsonl", data / "agent-mailbox-reads.jsonl"


def now() -> str:
    return datetime.now(timezone.utc).isoformat().replace("+00:00", "Z")


def lines(path: Path) -> list[dict]:
    found = []
    if path.exists():
        for line in path.read_text().split("\n"):
            try:
                found.append(json.loads(line))
            except ValueError:
                pass
    return found


def append(path: Path, value: dict) -> None:
    with open(path, "a") as file:
        file.write(json.dumps(value) + "\n")


def send(n: int) -> None:
    append(mailbox, {
        "id": str(uuid.uuid4()), "sender": name, "recipient": peer, "timestamp": now(), "content": f"{n}",
        "thread": None, "ttl_hours": None, "read_by": [],
    })


def read_new() -> int:
    seen = {read["message_id"] for read in lines(reads) if read["reader_session_id"] == name}
    for message in lines(mailbox):
        if message.get("recipient") == name and message.get("sender") == peer and message["id"] not in seen:
            append(reads, {"message_id": message["id"], "reader_session_id": name, "timestamp": now()})
            seen.add(message["id"])
    return len(seen)


sent = {int(message["content"]) for message in lines(mailbox) if message.get("sender") == name}
upcoming = [n for n in range(to_send) if n not in sent]
while True:
    for n in upcoming[:20]:
        send(n)
    upcoming = upcoming[20:]
    if read_new() >= to_receive and not upcoming:
        break
    time.sleep(0.02)
print("done", flush=True)
