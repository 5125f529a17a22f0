import { boxesTo } from '../model/address.ts'
import { type Agent, boxesOf, systemAgent } from '../model/agent.ts'
import { receiptsOf, type Source, type StoredMessage } from './message.ts'

/** The boxes whose mail is an agent's own. */
const boxesRead = (agent: Agent): string[] => {
  const { roles, groups } = boxesOf(agent)
  return [agent.name, ...roles, ...groups]
}

/**
 * Whether a thread is an agent's own: it has begun it, or somebody wrote to it there. Its own words in a thread of
 * others do not count, nor does what the mailbox told it about them: else it could let itself in.
 */
function isOwnThread({ index }: Source, agent: Agent, id: string): boolean {
  const inThread = 'SELECT seq FROM message WHERE thread = ?1 UNION SELECT seq FROM message WHERE id = ?1'
  const first = index
    .sql(`SELECT sender FROM message WHERE seq = (SELECT min(seq) FROM (${inThread}))`)
    .get<[string]>([id])
  if (first?.[0] === agent.name) return true
  const got = index.sql(
    `SELECT 1 FROM message m JOIN receipt r ON r.seq = m.seq WHERE m.seq IN (${inThread})
     AND m.sender NOT IN (?2, ?3) AND (r.owner IN (SELECT value FROM json_each(?4))
     OR r.box IN (SELECT value FROM json_each(?4))) LIMIT 1`,
  )
  return got.get([id, agent.name, systemAgent, JSON.stringify(boxesRead(agent))]) !== undefined
}

/**
 * Which messages an agent may read that sees only what is its own: those it has sent or got, and the others of its
 * threads. The answer is for one snapshot.
 */
export function ownMail(
  source: Source,
  agent: Agent,
): { has(message: StoredMessage): boolean; hasThread(id: string): boolean } {
  const boxes = new Set(boxesRead(agent))
  const threads = new Map<string, boolean>()
  const hasThread = (id: string): boolean => {
    const known = threads.get(id) ?? isOwnThread(source, agent, id)
    threads.set(id, known)
    return known
  }
  const has = ({ from, to, seq, threadId }: StoredMessage): boolean =>
    from === agent.name ||
    boxesTo(to).some((box) => boxes.has(box)) ||
    receiptsOf(source, seq).some(({ owner, box }) => boxes.has(owner) || boxes.has(box)) ||
    hasThread(threadId)
  return { has, hasThread }
}
