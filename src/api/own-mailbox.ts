import { MailboxError } from '../base/errors.ts'
import { findSeq, messageBySeq } from '../query/message.ts'
import { ownMail } from '../query/own.ts'
import { agentByName } from '../query/roster.ts'
import { search } from '../query/search.ts'
import { mustBeGranted } from '../space/acting.ts'
import type { SpaceCore } from '../space/core.ts'
import type { ServedMailbox } from '../space/mailbox/api.ts'

/** Methods that are about a message, by its id or several by a list. */
const aboutMail = new Set<keyof ServedMailbox>([
  ...(['read', 'show', 'reply', 'withdraw', 'resend', 'take', 'takeAll', 'notified'] as const),
  ...(['ack', 'claim', 'start', 'done', 'fail', 'release', 'retry', 'archive'] as const),
  ...(['waitForAck', 'waitUntilSettled'] as const),
])

/**
 * The mailbox of an agent from outside: what is not its own mail, or in a thread of its own, is not there for it. An
 * agent on this machine can read the files, so nothing is kept from it; one on another machine sees what it is sent.
 */
export function ownMailbox(core: SpaceCore, mailbox: ServedMailbox, isLimited: () => boolean): ServedMailbox {
  const { name } = mailbox

  /** Throws for what is not there for this agent, as for what is not there at all. */
  const mustBeOwn = (ids: readonly string[]): Promise<void> =>
    core.query((source) => {
      const agent = agentByName(source, name)
      const own = agent === undefined ? undefined : ownMail(source, agent)
      for (const id of ids) {
        const seq = findSeq(source, id)
        // What does not exist is refused where it is looked for.
        if (seq !== undefined && !own?.has(messageBySeq(source, seq))) throw notThere(id)
      }
    })

  const limited: Partial<ServedMailbox> = {
    async thread(id) {
      const messages = await mailbox.thread(id)
      return core.query((source) => {
        const agent = agentByName(source, name)
        const own = agent === undefined ? undefined : ownMail(source, agent)
        const found = messages.filter((message) => own?.has(message))
        if (found.length === 0) throw notThere(id)
        return found
      })
    },
    search: (query, options = {}) =>
      core.queryWords((source, words) => {
        const agentOf = (at: typeof source) => agentByName(at, name)!
        const isOwn = (at: typeof source) => ownMail(at, agentOf(at)).has
        return search(source, words, agentOf, query, options, core.now(), isOwn)
      }),
    async send(input) {
      if (typeof input.replyTo === 'string') await mustBeOwn([input.replyTo])
      return mailbox.send(input)
    },
    async broadcast(input) {
      if (typeof input.replyTo === 'string') await mustBeOwn([input.replyTo])
      return mailbox.broadcast(input)
    },
  }

  /** Whatever it may read: nobody from outside leads by saying so. */
  const update: ServedMailbox['update'] = async (input) => {
    await mustBeGranted(core, name, input.addRoles, true)
    return mailbox.update(input)
  }

  return new Proxy(mailbox, {
    get(target, key: keyof ServedMailbox) {
      if (key === 'update') return update
      // The target's own fields are private to it, so nothing is called on the proxy.
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function' || !isLimited()) return bound(value, target)
      const instead = limited[key]
      if (instead !== undefined) return instead
      if (!aboutMail.has(key)) return bound(value, target)
      return async (ids: string | readonly string[], ...rest: unknown[]) => {
        await mustBeOwn([ids].flat())
        return (value as (...words: unknown[]) => unknown).call(target, ids, ...rest)
      }
    },
  })
}

const bound = (value: unknown, target: object): unknown =>
  typeof value === 'function' ? (value.bind(target) as unknown) : value

const notThere = (id: string) =>
  new MailboxError('not_found', `no message ${JSON.stringify(id.slice(0, 60))}`, {
    hint: 'a token reads the mail and the threads of its own agent; `--scope read-all` reads everything',
  })
