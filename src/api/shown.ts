import { MailboxError } from '../base/errors.ts'
import type { Source } from '../query/message.ts'
import type { Owed } from '../query/owed.ts'
import { ownMail } from '../query/own.ts'
import type { RosterAgent } from '../query/presence.ts'
import { agentByName } from '../query/roster.ts'

/** An agent as others know it. Its process and its session are its own affair. */
export function withoutSession<Known extends RosterAgent>({ session, ...agent }: Known) {
  const { generation, startedAt } = session
  return { ...agent, session: { generation, startedAt } }
}

/** What of the mail an agent may read that sees only its own. */
export function ownOf(source: Source, name: string) {
  const agent = agentByName(source, name)
  return agent === undefined ? { has: () => false, hasThread: () => false } : ownMail(source, agent)
}

/** What is not for the caller is not there. */
export function mustHaveSome<T>(found: T[], id: string): T[] {
  if (found.length > 0) return found
  throw new MailboxError('not_found', `no message or thread ${JSON.stringify(id.slice(0, 60))}`, {
    hint: 'a token reads the mail and the threads of its own agent; `--scope read-all` reads everything',
  })
}

/** Whether something is owed by an agent, or to it. */
export const isBetween = ({ from, to, by }: Pick<Owed, 'from' | 'to' | 'by'>, name: string): boolean =>
  [from, to, by].includes(name)

/** Where a webhook goes, without the path and the query: whoever knows those can post there. */
export const withoutSecret = (url: string): string =>
  URL.canParse(url) ? `${new URL(url).origin}/…` : url === '' ? '' : '…'
