"""A worker of the swarm that keeps its mail in workspace/mailboxes (ADR-003), in the manner of its mailbox manager.

adr003.py WORKSPACE NAME PEER SEND RECEIVE: sends SEND numbered messages to PEER and handles RECEIVE from it. It can be
killed at any time; a new one looks at the files and goes on.
"""
import json
import sys
import time
import uuid
from datetime import datetime
from pathlib import Path

workspace, name, peer, to_send, to_receive = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])


def box(agent: str, kind: str) -> Path:
    folder = workspace / "mailboxes" / agent.replace("/", "_").replace("\\", "_") / kind
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def save(message: dict, agent: str) -> None:
    path = box(agent, "inbox") / f"{message['id']}.json"
    temporary = path.with_suffix(".json.tmp")
    with open(temporary, "w") as file:
        json.dump(message, file, indent=2)
    temporary.rename(path)


def load(path: Path) -> dict | None:
    try:
        return json.loads(path.read_text())
    except (ValueError, FileNotFoundError):
        return None


def numbers_sent() -> set[int]:
    found = set()
    for kind in ("inbox", "archive"):
        for path in box(peer, kind).glob("MSG-*.json"):
            message = load(path)
            if message and message["from_agent"] == name and "n" in message["payload"]:
                found.add(message["payload"]["n"])
    return found


def send(n: int) -> None:
    save({
        "id": f"MSG-{uuid.uuid4().hex[:12]}", "from_agent": name, "to_agent": peer, "swarm_name": None,
        "type": "notification", "subject": f"number {n}", "body": f"from {name}: {n} \u00e9", "payload": {"n": n},
        "priority": 2, "created_at": datetime.now().isoformat(), "expires_at": None, "status": "unread",
        "read_at": None, "completed_at": None, "reply_to": None, "thread_id": None, "context": {}, "attachments": [],
        "tags": [],
    }, peer)


def archive(message: dict) -> None:
    """Moves it: the inbox file goes first. A killed worker would lose it there, so this one writes first."""
    message["status"] = "archived"
    path = box(name, "archive") / f"{message['id']}.json"
    temporary = path.with_suffix(".json.tmp")
    with open(temporary, "w") as file:
        json.dump(message, file, indent=2)
    temporary.rename(path)
    (box(name, "inbox") / f"{message['id']}.json").unlink(missing_ok=True)


def handle() -> int:
    for path in sorted(box(name, "inbox").glob("MSG-*.json")):
        message = load(path)
        if message is None or message["from_agent"] != peer:
            continue
        if (box(name, "archive") / path.name).exists():
            path.unlink(missing_ok=True)
            continue
        message["status"], message["read_at"] = "read", datetime.now().isoformat()
        save(message, name)
        message["status"], message["completed_at"] = "completed", datetime.now().isoformat()
        archive(message)
    done = [load(path) for path in box(name, "archive").glob("MSG-*.json")]
    return sum(1 for message in done if message and message["from_agent"] == peer)


sent = numbers_sent()
upcoming = [n for n in range(to_send) if n not in sent]
while True:
    for n in upcoming[:5]:
        send(n)
    upcoming = upcoming[5:]
    if handle() >= to_receive and not upcoming:
        break
    time.sleep(0.005)
print("done", flush=True)
