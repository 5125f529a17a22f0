"""A workflow that mails by agents/WORKFLOW/mailbox: writes its outbox, reads its inbox, keeps the count.

jean-claude.py AGENTS NAME PEER SEND RECEIVE: sends SEND numbered messages to PEER and reads RECEIVE from it. It can be
killed at any time; a new one looks at the files and goes on.
"""
import json
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

agents, name, peer, to_send, to_receive = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
folder = agents / name / "mailbox"
folder.mkdir(parents=True, exist_ok=True)
inbox, outbox, count = folder / "inbox.jsonl", folder / "outbox.jsonl", folder / "inbox_count.json"


def lines(path: Path) -> list[dict]:
    found = []
    if path.exists():
        for line in path.read_text().split("\n"):
            try:
                found.append(json.loads(line))
            except ValueError:
                pass
    return found


def send(n: int) -> None:
    message = {
        "id": f"{name}-{n}", "from": name, "to": peer, "type": "status", "subject": f"number {n}", "body": f"{n}",
        "priority": "normal", "created_at": datetime.now(timezone.utc).isoformat(), "awaiting_response": False,
    }
    with open(outbox, "a") as file:
        file.write(json.dumps(message) + "\n")


def check() -> int:
    """Everything that is in the inbox has been seen once this returns."""
    found = [message for message in lines(inbox) if message.get("from") == peer]
    temporary = folder / "inbox_count.json.new"
    temporary.write_text(json.dumps({"unread": 0, "last_checked": datetime.now(timezone.utc).isoformat()}))
    temporary.rename(count)
    return len({message["id"] for message in found})


sent = {int(message["body"]) for message in lines(outbox)}
upcoming = [n for n in range(to_send) if n not in sent]
while True:
    for n in upcoming[:20]:
        send(n)
    upcoming = upcoming[20:]
    if check() >= to_receive and not upcoming:
        break
    time.sleep(0.02)
print("done", flush=True)
