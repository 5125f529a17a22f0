import { person } from '../model/agent.ts'

/**
 * The members of a group (?1) that have not acknowledged a message (?2): agents that are not dead, without its sender
 * and those it excludes. Membership is what it is now. The person is asked by name, not as a member of a group.
 */
export const unackedMembers = `SELECT a.name FROM agent a JOIN message m ON m.seq = ?2
  WHERE a.name <> m.sender AND a.name <> '${person}' AND json_extract(a.json, '$.state') <> 'dead'
    AND (?1 = 'all' OR EXISTS (SELECT 1 FROM json_each(a.json, '$.tags') WHERE value = ?1))
    AND NOT EXISTS (SELECT 1 FROM json_each(m.excluded) WHERE value = a.name)
    AND NOT EXISTS (SELECT 1 FROM receipt r WHERE r.seq = ?2 AND r.owner = a.name
      AND r.state IN ('acked', 'processing', 'completed', 'failed', 'archived'))`

/** The members of its groups that have a message (?1) and are not done with it. */
export const readersOf =
  "SELECT owner FROM receipt WHERE seq = ?1 AND via_group = 1 AND state IN ('shown', 'acked', 'processing', 'failed')"
