/** Rises with every change of the tables or of `apply`: an index of another format is built anew. */
export const indexFormat = 13

/** What the tables were built from, and how far. */
const meta = `CREATE TABLE meta (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  format INTEGER NOT NULL, space TEXT NOT NULL, boot TEXT NOT NULL,
  seq INTEGER NOT NULL, segment INTEGER NOT NULL, offset INTEGER NOT NULL, sum TEXT NOT NULL
);`

/**
 * Bodies are not in here: a row knows the place of its line in the journal, and the line is read from
 * there. That keeps the index small and quick to rebuild, and what went in comes out byte for byte.
 */
export const indexSchema = `
${meta}

-- The roster and the counts of each box: the directory, as a new process starts with it.
CREATE TABLE agent (name TEXT PRIMARY KEY, json TEXT NOT NULL, generation INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE tally (box TEXT, slot INTEGER, n INTEGER NOT NULL, PRIMARY KEY (box, slot)) WITHOUT ROWID;
CREATE TABLE seen (agent TEXT PRIMARY KEY, at TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE message (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
  segment INTEGER NOT NULL, offset INTEGER NOT NULL, bytes INTEGER NOT NULL,
  sender TEXT NOT NULL, thread TEXT, rank INTEGER NOT NULL, expires INTEGER, excluded TEXT,
  created INTEGER NOT NULL, wants_ack INTEGER NOT NULL, generation INTEGER
);
CREATE INDEX message_sender ON message (sender, seq);
-- A message that starts a thread has no row here until somebody answers; its id is the thread.
CREATE INDEX message_thread ON message (thread, seq) WHERE thread IS NOT NULL;
-- Channels: the tags of a message, and the groups it is addressed to.
CREATE TABLE label (tag TEXT, seq INTEGER, PRIMARY KEY (tag, seq)) WITHOUT ROWID;
CREATE INDEX label_seq ON label (seq);
CREATE TABLE keyed (sender TEXT, key TEXT, seq INTEGER NOT NULL, PRIMARY KEY (sender, key)) WITHOUT ROWID;

-- One row a message and address; an agent's first sight of group mail adds a row of its own.
-- class: 0 unread, 1 open, 2 closed. box: whose inbox shows it.
CREATE TABLE receipt (
  seq INTEGER, owner TEXT, box TEXT NOT NULL, class INTEGER NOT NULL, rank INTEGER NOT NULL,
  state TEXT NOT NULL, attempts INTEGER NOT NULL, claim_until INTEGER, expires INTEGER,
  ack_by INTEGER, repeats INTEGER NOT NULL, level INTEGER NOT NULL, created INTEGER NOT NULL,
  via_group INTEGER NOT NULL, seen INTEGER NOT NULL,
  PRIMARY KEY (seq, owner)
) WITHOUT ROWID;
CREATE INDEX receipt_box ON receipt (box, class, rank, seq);
CREATE INDEX receipt_dead ON receipt (seq) WHERE state IN ('dead', 'expired');
-- What will be escalated if nobody reads it, and what will be shown again if nobody acks it.
CREATE INDEX receipt_young ON receipt (level, rank, created) WHERE class = 0 AND repeats = 0 AND level < 2;
CREATE INDEX receipt_unacked ON receipt (ack_by) WHERE ack_by IS NOT NULL;

-- Unread mail of agents and roles that went to other addresses as well: it may stand in two boxes of one
-- reader, so it is counted one by one.
CREATE TABLE shared (box TEXT, owner TEXT, seq INTEGER, rank INTEGER NOT NULL, PRIMARY KEY (box, seq, owner)) WITHOUT ROWID;

-- Claims by their end: one that has run out is free for the other holders of the role.
CREATE TABLE lease (owner TEXT, rank INTEGER, until INTEGER, seq INTEGER, PRIMARY KEY (owner, rank, until, seq)) WITHOUT ROWID;
CREATE INDEX lease_until ON lease (until);

-- Mail for one run of its agent, while it is not finished.
CREATE TABLE bound (seq INTEGER, owner TEXT, PRIMARY KEY (seq, owner)) WITHOUT ROWID;

-- For an agent and a group's box: everything of that rank up to seq is settled, so reading starts there.
CREATE TABLE floor (agent TEXT, box TEXT, rank INTEGER, seq INTEGER NOT NULL, PRIMARY KEY (agent, box, rank)) WITHOUT ROWID;

-- The entries that moved a message's receipts, for its ladder.
CREATE TABLE trail (
  message INTEGER, entry INTEGER, segment INTEGER NOT NULL, offset INTEGER NOT NULL, bytes INTEGER NOT NULL,
  PRIMARY KEY (message, entry)
) WITHOUT ROWID;

-- What is open between agents, and what came of it: protocol/matter.ts.
CREATE TABLE matter (
  seq INTEGER, owner TEXT, kind TEXT, state TEXT NOT NULL, asker TEXT NOT NULL, key TEXT,
  since INTEGER NOT NULL, until INTEGER, level INTEGER NOT NULL, open INTEGER NOT NULL,
  PRIMARY KEY (seq, owner, kind)
) WITHOUT ROWID;
CREATE INDEX matter_open ON matter (since) WHERE open = 1;
CREATE INDEX matter_until ON matter (until) WHERE open = 1 AND until IS NOT NULL;
CREATE INDEX matter_key ON matter (kind, key) WHERE open = 1;

-- When the life of unread mail ends, for each box it waits in.
CREATE TABLE due (at INTEGER, box TEXT, seq INTEGER, PRIMARY KEY (at, box, seq)) WITHOUT ROWID;

-- How many messages an agent has sent (kind 0), and how long it took until it was shown one (1) and had
-- finished one (2), in buckets of model/latency.ts.
CREATE TABLE measure (agent TEXT, kind INTEGER, bucket INTEGER, n INTEGER NOT NULL, PRIMARY KEY (agent, kind, bucket)) WITHOUT ROWID;
`

/** Full text has a file of its own: it is slower to fill than the rest, and only searching needs it. */
export const searchSchema = `
${meta}
CREATE VIRTUAL TABLE words USING fts5(subject, body, content='', tokenize="unicode61 remove_diacritics 2");
-- Merged rarely and many at a time: filling takes two thirds of the time, and a search looks into more pieces.
INSERT INTO words (words, rank) VALUES ('automerge', 0), ('crisismerge', 32), ('hashsize', 16777216);
`
