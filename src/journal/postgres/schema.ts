/**
 * The tables, in a schema of their own. One row per space has the end of its journal; whoever appends updates it, so
 * its lock is the order of writers. Lines are stored as they are: `SELECT line FROM mailbox.entries` is the journal.
 *
 * `append` takes lines for an end that the caller knows. It can be called again with the same lines when its answer was
 * lost: a line has the checksum of the one before it, so the same first line at the same place is the same call.
 */
export const migrations: readonly string[] = [
  `
CREATE TABLE mailbox.spaces (
  space bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  id text NOT NULL,
  seq bigint NOT NULL,
  sum text NOT NULL,
  files bigint NOT NULL DEFAULT 0,
  commit text NOT NULL DEFAULT 'on' CHECK (commit IN ('on', 'remote_apply')),
  moved_to text,
  created_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

CREATE TABLE mailbox.entries (
  space bigint NOT NULL,
  seq bigint NOT NULL,
  line text NOT NULL,
  PRIMARY KEY (space, seq)
);

CREATE TABLE mailbox.files (
  space bigint NOT NULL REFERENCES mailbox.spaces,
  name text NOT NULL,
  content text,
  version bigint NOT NULL,
  PRIMARY KEY (space, name)
);

CREATE FUNCTION mailbox.clock() RETURNS double precision LANGUAGE sql
  AS $$ SELECT extract(epoch FROM clock_timestamp())::double precision * 1000 $$;

CREATE FUNCTION mailbox.lines_after(p_space bigint, p_seq bigint, p_bytes bigint) RETURNS text[] LANGUAGE sql STABLE
AS $$
  SELECT array_agg(line ORDER BY seq) FROM (
    SELECT seq, line, sum(octet_length(line)) OVER (ORDER BY seq) - octet_length(line) AS before FROM (
      SELECT seq, line FROM mailbox.entries WHERE space = p_space AND seq > p_seq ORDER BY seq LIMIT 2000
    ) AS page
  ) AS sized WHERE before < p_bytes
$$;

CREATE FUNCTION mailbox.hold(p_space bigint, p_wait_ms int) RETURNS mailbox.spaces LANGUAGE plpgsql
AS $$
DECLARE
  head mailbox.spaces;
BEGIN
  PERFORM set_config('lock_timeout', p_wait_ms || 'ms', true);
  -- A writer that is stopped while it has the lock keeps the others for a third of their patience at most.
  PERFORM set_config('idle_in_transaction_session_timeout', p_wait_ms / 3 || 'ms', true);
  SELECT * INTO head FROM mailbox.spaces AS s WHERE s.space = p_space FOR NO KEY UPDATE;
  IF head.commit = 'remote_apply' THEN
    PERFORM set_config('synchronous_commit', 'remote_apply', true);
  ELSIF current_setting('synchronous_commit') IN ('off', 'local') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  RETURN head;
END
$$;

CREATE FUNCTION mailbox.turn(
  p_space bigint, p_seq bigint, p_wait_ms int,
  OUT id text, OUT seq bigint, OUT sum text, OUT moved_to text, OUT files bigint,
  OUT clock double precision, OUT missing text[]
) LANGUAGE plpgsql
AS $$
DECLARE
  head mailbox.spaces := mailbox.hold(p_space, p_wait_ms);
BEGIN
  IF head.seq > p_seq THEN
    missing := mailbox.lines_after(p_space, p_seq, 4194304);
  END IF;
  id := head.id;
  seq := head.seq;
  sum := head.sum;
  moved_to := head.moved_to;
  files := head.files;
  clock := mailbox.clock();
END
$$;

CREATE FUNCTION mailbox.append(
  p_space bigint, p_seq bigint, p_sum text, p_lines text[], p_end text, p_wait_ms int,
  OUT outcome text, OUT id text, OUT seq bigint, OUT sum text, OUT moved_to text, OUT files bigint,
  OUT clock double precision, OUT missing text[]
) LANGUAGE plpgsql
AS $$
DECLARE
  head mailbox.spaces := mailbox.hold(p_space, p_wait_ms);
BEGIN
  IF head.space IS NULL OR head.moved_to IS NOT NULL THEN
    outcome := 'gone';
  ELSIF head.seq = p_seq AND head.sum = p_sum THEN
    INSERT INTO mailbox.entries
      SELECT p_space, p_seq + lines.n, lines.line FROM unnest(p_lines) WITH ORDINALITY AS lines (line, n);
    UPDATE mailbox.spaces AS s SET seq = p_seq + cardinality(p_lines), sum = p_end WHERE s.space = p_space;
    head.seq := p_seq + cardinality(p_lines);
    head.sum := p_end;
    outcome := 'appended';
  ELSIF EXISTS (
    SELECT FROM mailbox.entries AS e
    WHERE e.space = p_space AND e.seq = p_seq + 1 AND right(e.line, 34) = right(p_lines[1], 34)
  ) THEN
    outcome := 'appended';
  ELSE
    outcome := 'lost';
    missing := mailbox.lines_after(p_space, p_seq, 4194304);
  END IF;
  id := head.id;
  seq := head.seq;
  sum := head.sum;
  moved_to := head.moved_to;
  files := head.files;
  clock := mailbox.clock();
END
$$;
`,
  // Old segments, gzipped, in the place of the rows of their lines. What was removed from the beginning is told by `first`.
  `
ALTER TABLE mailbox.spaces
  ADD first_seq bigint NOT NULL DEFAULT 1,
  ADD first_segment int NOT NULL DEFAULT 1;

CREATE TABLE mailbox.archive (
  space bigint NOT NULL REFERENCES mailbox.spaces,
  segment int NOT NULL,
  name text NOT NULL,
  first_seq bigint NOT NULL,
  last_seq bigint NOT NULL,
  content bytea NOT NULL,
  PRIMARY KEY (space, segment)
);
ALTER TABLE mailbox.archive ALTER content SET STORAGE EXTERNAL;
`,
  // One statement moves the end of the journal. It is the last line by which a call is known again: lines that begin
  // alike may have come from two processes that were asked to send the same message.
  `
CREATE FUNCTION mailbox.confirm(p_commit text) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
  IF p_commit = 'remote_apply' THEN
    PERFORM set_config('synchronous_commit', 'remote_apply', true);
  ELSIF current_setting('synchronous_commit') IN ('off', 'local') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
END
$$;

CREATE OR REPLACE FUNCTION mailbox.append(
  p_space bigint, p_seq bigint, p_sum text, p_lines text[], p_end text, p_wait_ms int,
  OUT outcome text, OUT id text, OUT seq bigint, OUT sum text, OUT moved_to text, OUT files bigint,
  OUT clock double precision, OUT missing text[]
) LANGUAGE plpgsql
AS $$
DECLARE
  upto bigint := p_seq + cardinality(p_lines);
  head mailbox.spaces;
BEGIN
  PERFORM set_config('lock_timeout', p_wait_ms || 'ms', true);
  UPDATE mailbox.spaces AS s SET seq = upto, sum = p_end
    WHERE s.space = p_space AND s.seq = p_seq AND s.sum = p_sum AND s.moved_to IS NULL
    RETURNING s.* INTO head;
  IF FOUND THEN
    PERFORM mailbox.confirm(head.commit);
    INSERT INTO mailbox.entries
      SELECT p_space, p_seq + lines.n, lines.line FROM unnest(p_lines) WITH ORDINALITY AS lines (line, n);
    outcome := 'appended';
  ELSIF EXISTS (
    SELECT FROM mailbox.entries AS e
    WHERE e.space = p_space AND e.seq = upto AND right(e.line, 34) = right(p_lines[cardinality(p_lines)], 34)
  ) THEN
    -- The commit of this lock is confirmed after that of the lines.
    head := mailbox.hold(p_space, p_wait_ms);
    outcome := 'appended';
  ELSE
    SELECT * INTO head FROM mailbox.spaces AS s WHERE s.space = p_space;
    IF head.space IS NULL OR head.moved_to IS NOT NULL THEN
      outcome := 'gone';
    ELSE
      outcome := 'lost';
      missing := mailbox.lines_after(p_space, p_seq, 4194304);
    END IF;
  END IF;
  id := head.id;
  seq := head.seq;
  sum := head.sum;
  moved_to := head.moved_to;
  files := head.files;
  clock := mailbox.clock();
END
$$;
`,
  // The plans of such a function are kept by the session; those of one in SQL were made for every call.
  `
CREATE OR REPLACE FUNCTION mailbox.lines_after(p_space bigint, p_seq bigint, p_bytes bigint) RETURNS text[]
LANGUAGE plpgsql STABLE
AS $$
BEGIN
  RETURN (SELECT array_agg(line ORDER BY seq) FROM (
    SELECT seq, line, sum(octet_length(line)) OVER (ORDER BY seq) - octet_length(line) AS before FROM (
      SELECT e.seq, e.line FROM mailbox.entries AS e
        WHERE e.space = p_space AND e.seq > p_seq ORDER BY e.seq LIMIT 2000
    ) AS page
  ) AS sized WHERE before < p_bytes);
END
$$;
`,
]
