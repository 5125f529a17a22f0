import { type Agent, person, systemAgent } from '../../model/agent.ts'
import type { Folder } from '../folder.ts'
import type { Outgoing } from '../format.ts'
import type { SessionRecord } from './session-files.ts'

/** Names as Claude Code compares them. */
export const plainName = (name: string): string => name.normalize('NFKC').toLowerCase().replaceAll(' ', '-')

/** A session that its own hooks bring mail to. */
export const isSessionOf = ({ session }: Agent, { sessionId, pid }: SessionRecord): boolean =>
  session.client === 'claude' && (session.id === sessionId || session.pid === pid)

/** Those of us who are no sessions themselves. */
export function ownAgents(folder: Folder, sessions: readonly SessionRecord[]): Agent[] {
  return [...(folder.host?.agents.values() ?? [])].filter(
    (agent) =>
      agent.name !== person &&
      agent.state !== 'dead' &&
      agent.session.client !== 'bridge' &&
      !/[@/]/.test(agent.name) &&
      !reserved.has(agent.name) &&
      !sessions.some((session) => isSessionOf(agent, session)),
  )
}

const reserved = new Set(['main', 'team-lead', 'user', 'system'])

/** A session takes whoever writes for another session of Claude Code, so the text says who it is. */
export function textFor({ letter }: Outgoing, space: string): string {
  const { from, subject = '', body = '' } = letter
  const who =
    from === systemAgent
      ? 'From the mailbox itself; there is nobody to answer.'
      : from === person
        ? 'From the person who runs the mailbox, who reads no answers here.'
        : `From ${from}, an agent in the mailbox ${space}, not a session of Claude Code. To answer: SendMessage to ${from}.`
  const said = [subject, body].filter((text) => text !== '').join('\n\n')
  return `[${who}]\n\n${said}`
}
