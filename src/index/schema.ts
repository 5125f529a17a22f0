/** Rises with every change to the tables or to `apply`: an index with another format is rebuilt. */
export const indexFormat = 24

/** Which journal the tables were built from, and up to where. */
const meta = `CREATE TABLE meta (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  format INTEGER NOT NULL, space TEXT NOT NULL, boot TEXT NOT NULL,
  seq INTEGER NOT NULL, segment INTEGER NOT NULL, offset INTEGER NOT NULL, sum TEXT NOT NULL
);`

/**
 * Bodies are not stored here: a row has the place of its line in the journal, and the line is read from there.
 * That keeps the index small and fast to rebuild, and messages are read back byte for byte.
 */
export const indexSchema = `
${meta}

-- The roster and the counts of each box: the directory that a new process starts with.
-- pid: the process of the client that the agent runs in, while it is not dead.
CREATE TABLE agent (
  name TEXT PRIMARY KEY, json TEXT NOT NULL, generation INTEGER NOT NULL, pid INTEGER
) WITHOUT ROWID;
CREATE INDEX agent_pid ON agent (pid) WHERE pid IS NOT NULL;
CREATE TABLE tally (box TEXT, slot INTEGER, n INTEGER NOT NULL, PRIMARY KEY (box, slot)) WITHOUT ROWID;
CREATE TABLE seen (agent TEXT PRIMARY KEY, at TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE message (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
  segment INTEGER NOT NULL, offset INTEGER NOT NULL, bytes INTEGER NOT NULL,
  sender TEXT NOT NULL, thread TEXT, rank INTEGER NOT NULL, expires INTEGER, excluded TEXT,
  created INTEGER NOT NULL, wants_ack INTEGER NOT NULL, generation INTEGER, asks INTEGER NOT NULL, imported INTEGER NOT NULL,
  sealed INTEGER NOT NULL
);
-- What is encrypted (1: for the space, 2: for its recipients), which the table of words does not have.
CREATE INDEX message_sealed ON message (seq) WHERE sealed > 0;
CREATE INDEX message_imported ON message (seq) WHERE imported = 1;
CREATE INDEX message_sender ON message (sender, seq);
-- A message that starts a thread is not in here; its id is the thread.
CREATE INDEX message_thread ON message (thread, seq) WHERE thread IS NOT NULL;
-- Channels: the tags of a message, and the groups it is addressed to.
CREATE TABLE label (tag TEXT, seq INTEGER, PRIMARY KEY (tag, seq)) WITHOUT ROWID;
CREATE INDEX label_seq ON label (seq);
CREATE TABLE keyed (sender TEXT, key TEXT, seq INTEGER NOT NULL, PRIMARY KEY (sender, key)) WITHOUT ROWID;

-- One row per message and address; when an agent first sees group mail, it gets a row of its own.
-- class: 0 unread, 1 open, 2 closed. box: whose inbox shows it. since: when it last became unread.
-- before: the state it had before it became a dead letter.
CREATE TABLE receipt (
  seq INTEGER, owner TEXT, box TEXT NOT NULL, class INTEGER NOT NULL, rank INTEGER NOT NULL,
  state TEXT NOT NULL, attempts INTEGER NOT NULL, failures INTEGER NOT NULL, claim_until INTEGER, expires INTEGER,
  ack_by INTEGER, repeats INTEGER NOT NULL, level INTEGER NOT NULL, since INTEGER NOT NULL,
  via_group INTEGER NOT NULL, seen INTEGER NOT NULL, before TEXT,
  PRIMARY KEY (seq, owner)
) WITHOUT ROWID;
CREATE INDEX receipt_box ON receipt (box, class, rank, seq);
CREATE INDEX receipt_dead ON receipt (seq) WHERE state IN ('dead', 'expired');
-- What will be escalated if it stays unread, and what will be shown again if it is not acknowledged.
CREATE INDEX receipt_young ON receipt (level, rank, since) WHERE class = 0 AND repeats = 0 AND level < 2;
CREATE INDEX receipt_unacked ON receipt (ack_by) WHERE ack_by IS NOT NULL AND level < 4;
-- What was shown and not acknowledged although that was asked for, to count it.
CREATE INDEX receipt_ack ON receipt (box) WHERE ack_by IS NOT NULL;
-- Mail to a group that expired: whoever was away then still gets it.
CREATE INDEX receipt_expired ON receipt (box, rank, expires) WHERE state = 'expired';

-- Unread mail to an agent or role that has other recipients as well: it may be in two boxes of one reader,
-- so it is counted one by one.
CREATE TABLE shared (box TEXT, owner TEXT, seq INTEGER, rank INTEGER NOT NULL, PRIMARY KEY (box, seq, owner)) WITHOUT ROWID;

-- Claims by their end: once expired, the message is free for the other holders of the role.
CREATE TABLE lease (owner TEXT, rank INTEGER, until INTEGER, seq INTEGER, PRIMARY KEY (owner, rank, until, seq)) WITHOUT ROWID;
CREATE INDEX lease_until ON lease (until);

-- Every claim that was made, by its number: what an earlier holder does is told from what the last one does.
-- entry: the seq of its entry, which is its number unless claims were imported.
CREATE TABLE claim (
  seq INTEGER, owner TEXT, number INTEGER, agent TEXT NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY (seq, owner, number)
) WITHOUT ROWID;

-- Notices of the system, by the message that they are about; live: nobody has read it yet.
CREATE TABLE notice (about TEXT, seq INTEGER, live INTEGER NOT NULL, PRIMARY KEY (about, seq)) WITHOUT ROWID;
CREATE INDEX notice_seq ON notice (seq);
CREATE INDEX notice_live ON notice (seq) WHERE live = 1;

-- The agents that are here, by the roles they hold.
CREATE TABLE holder (role TEXT, agent TEXT, PRIMARY KEY (role, agent)) WITHOUT ROWID;
CREATE INDEX holder_agent ON holder (agent);

-- Unread mail of a role that one of its holders may take before the others.
CREATE TABLE offer (seq INTEGER PRIMARY KEY, agent TEXT NOT NULL, until INTEGER NOT NULL);
CREATE INDEX offer_agent ON offer (agent);

-- Unfinished mail for one particular run of its agent.
CREATE TABLE bound (seq INTEGER, owner TEXT, PRIMARY KEY (seq, owner)) WITHOUT ROWID;

-- For an agent and a group's box: everything of that rank up to seq is settled, so reading starts after it.
CREATE TABLE floor (agent TEXT, box TEXT, rank INTEGER, seq INTEGER NOT NULL, PRIMARY KEY (agent, box, rank)) WITHOUT ROWID;

-- The entries that changed a message's receipts, for its history.
CREATE TABLE trail (
  message INTEGER, entry INTEGER, segment INTEGER NOT NULL, offset INTEGER NOT NULL, bytes INTEGER NOT NULL,
  PRIMARY KEY (message, entry)
) WITHOUT ROWID;

-- What is open between agents, and what came of it: conversation/matter.ts.
CREATE TABLE matter (
  seq INTEGER, owner TEXT, kind TEXT, state TEXT NOT NULL, asker TEXT NOT NULL, key TEXT,
  since INTEGER NOT NULL, until INTEGER, level INTEGER NOT NULL, open INTEGER NOT NULL,
  PRIMARY KEY (seq, owner, kind)
) WITHOUT ROWID;
CREATE INDEX matter_open ON matter (since) WHERE open = 1;
CREATE INDEX matter_until ON matter (until) WHERE open = 1 AND until IS NOT NULL;
CREATE INDEX matter_key ON matter (kind, key) WHERE open = 1;

-- The keys of senders: each from the entry "since" on, and before the entry "until".
CREATE TABLE pin (agent TEXT, key TEXT NOT NULL, since INTEGER, until INTEGER, PRIMARY KEY (agent, since)) WITHOUT ROWID;

-- The keys that messages are encrypted with, and where they are encrypted for whom. fresh: from here on it is in use.
-- origin: the space that it comes from, if it was imported.
CREATE TABLE share (
  seq INTEGER PRIMARY KEY, key TEXT NOT NULL, fresh INTEGER NOT NULL, origin TEXT, signature TEXT NOT NULL,
  segment INTEGER NOT NULL, offset INTEGER NOT NULL, bytes INTEGER NOT NULL
);
CREATE INDEX share_key ON share (key);

-- What was recorded for whoever audits the space.
CREATE TABLE audit (seq INTEGER PRIMARY KEY, segment INTEGER NOT NULL, offset INTEGER NOT NULL, bytes INTEGER NOT NULL);

-- When unread mail expires, for each box it is in.
CREATE TABLE due (at INTEGER, box TEXT, seq INTEGER, PRIMARY KEY (at, box, seq)) WITHOUT ROWID;

-- What is to be sent later.
CREATE TABLE scheduled (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, sender TEXT NOT NULL, key TEXT,
  segment INTEGER NOT NULL, offset INTEGER NOT NULL, bytes INTEGER NOT NULL
);
CREATE INDEX scheduled_at ON scheduled (at);
CREATE INDEX scheduled_sender ON scheduled (sender, seq);

-- Records that cannot be read, with the place of what is left of them.
CREATE TABLE damaged (
  segment INTEGER, offset INTEGER, bytes INTEGER NOT NULL, line INTEGER NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY (segment, offset)
) WITHOUT ROWID;
-- Seqs that no entry of the journal has, from first to last. They do not count what was removed from its beginning.
CREATE TABLE hole (first INTEGER PRIMARY KEY, last INTEGER NOT NULL);

-- How many messages an agent has sent (kind 0), and how long it took until it was shown a message (1) and
-- until it finished one (2), in the buckets of model/latency.ts.
CREATE TABLE measure (agent TEXT, kind INTEGER, bucket INTEGER, n INTEGER NOT NULL, PRIMARY KEY (agent, kind, bucket)) WITHOUT ROWID;
`

export const wordTable = `CREATE VIRTUAL TABLE words USING fts5(subject, body, content='', tokenize="unicode61 remove_diacritics 2");`

/** Full text has its own file: it takes longer to fill than the rest, and only search needs it. */
export const searchSchema = `
${meta}
${wordTable}
-- Merged rarely, and many segments at a time: filling takes two thirds of the time, and a search reads more segments.
INSERT INTO words (words, rank) VALUES ('automerge', 0), ('crisismerge', 32), ('hashsize', 16777216);
`
