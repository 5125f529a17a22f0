import { onTestFinished } from 'vitest'
import type { Entry, LocalSpace, Mailbox, Settings, StoredMessage } from '../../src/mod.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { type Clock, clockAt, hour, minute } from '../helpers/scene.ts'
import { Sleeper } from '../helpers/sleeper.ts'
import { tempSpace } from '../helpers/temp.ts'

/** A Tuesday morning by the local clock, and the Friday of that week: the person has hours. */
const tuesday = new Date(2026, 10, 3, 10).toISOString()
export const friday = new Date(2026, 10, 6, 16).toISOString()

export interface Stage {
  space: DiskSpace
  clock: Clock
  /** An agent that joined by hand: no process stands for it. */
  agent(name: string, ...roles: string[]): Promise<Mailbox>
  /** An agent with a process that can be killed. */
  running(name: string, ...roles: string[]): Promise<{ mailbox: Mailbox; kill: () => Promise<void> }>
  /**
   * Lets time pass while somebody stays who does what is due. `meanwhile` happens every quarter of an hour, and every
   * hour where it is more than half a day.
   */
  pass(ms: number, meanwhile?: () => Promise<unknown>): Promise<void>
  /** What the system has told these addresses and not taken back, the oldest first. */
  told(...addresses: string[]): Promise<StoredMessage[]>
}

export async function stage(at = tuesday): Promise<Stage> {
  const clock = clockAt(at)
  const space = await openWithHours(clock)
  const agent = async (name: string, ...roles: string[]) => {
    await space.join(name, { roles, session: { id: `${name}-1` } })
    return space.mailbox(name, { join: false })
  }
  return {
    ...{ space, clock, agent },
    async running(name, ...roles) {
      const sleeper = new Sleeper()
      onTestFinished(() => sleeper.kill())
      await space.join(name, { roles, session: { id: `${name}-1`, pid: sleeper.pid } })
      return { mailbox: await space.mailbox(name, { join: false }), kill: () => sleeper.kill() }
    },
    async pass(ms, meanwhile = async () => {}) {
      const stepMs = ms > 12 * hour ? hour : 15 * minute
      for (let left = ms; left > 0; left -= stepMs) {
        clock.advance(Math.min(left, stepMs))
        await space.runDue()
        await meanwhile()
      }
    },
    async told(...addresses) {
      const messages: StoredMessage[] = []
      for (const entry of await journalOf(space)) {
        if (entry.kind !== 'message' || entry.message.from !== 'system') continue
        if (!entry.message.to.some((to) => addresses.includes(to))) continue
        const { receipts } = await space.show(entry.message.id)
        if (receipts.every(({ state }) => state === 'withdrawn')) continue
        messages.push({ ...entry.message, seq: entry.seq } as StoredMessage)
      }
      return messages
    },
  }
}

/** The person is there on weekdays from 9 to 18, where the space knows of hours. */
async function openWithHours(clock: Clock): Promise<DiskSpace> {
  const plain = await tempSpace({ now: clock.now })
  if (!('hours' in plain.settings)) return plain
  return tempSpace({ now: clock.now, settings: { hours: 'mon-fri 9-18' } as Partial<Settings> })
}

async function journalOf(space: LocalSpace): Promise<Entry[]> {
  const end = await space.lastSeq()
  const entries: Entry[] = []
  for await (const { entry } of space.follow()) {
    entries.push(entry)
    if (entry.seq >= end) break
  }
  return entries
}

/** Everybody who only has to be there looks in, so that nobody counts as silent. */
export const lookIn =
  (...mailboxes: Mailbox[]) =>
  async (): Promise<void> => {
    for (const mailbox of mailboxes) await mailbox.heartbeat()
  }

export const subjectsOf = (messages: readonly { subject: string }[]): string[] =>
  messages.map(({ subject }) => subject)
export const idsOf = (messages: readonly { id: string }[]): string[] => messages.map(({ id }) => id)
/** Ids of what an agent is shown now. */
export const check = async (mailbox: Mailbox): Promise<string[]> => idsOf((await mailbox.check()).messages)
/** Whether a notice is about a message. */
export const isAbout =
  (id: string) =>
  (message: StoredMessage): boolean =>
    message.replyTo === id || JSON.stringify(message.payload ?? {}).includes(id) || message.body.includes(id)

export { hour, minute }
