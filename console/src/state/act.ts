import { signal } from '@preact/signals'
import { act } from '../data/api.ts'
import type { StoredMessage } from '../data/types.ts'
import { complain, say } from '../parts/toast.tsx'
import { needsYou, owed } from './matters.ts'

/** What the person is doing right now, so that one press is one deed. */
export const busy = signal<string | null>(null)

/** Does one thing for the person, and says how it went. True when it went well. */
export async function perform(what: string, done: string, work: () => Promise<unknown>): Promise<boolean> {
  if (busy.value !== null) return false
  busy.value = what
  try {
    await work()
    say(done)
    // What one has just done is seen at once.
    void needsYou.refresh()
    void owed.refresh()
    return true
  } catch (error) {
    complain(error)
    return false
  } finally {
    busy.value = null
  }
}

/** Whether a message lies in the person's own inbox and waits there. */
export const waitsForYou = (id: string): boolean =>
  needsYou.data.value?.some(({ message }) => message.id === id) ?? false

/** Mail to the person that it has dealt with is put away; mail to others is theirs, and left alone. */
export async function putAway(message: Pick<StoredMessage, 'id' | 'to'>): Promise<void> {
  if (!message.to.includes('user') && !waitsForYou(message.id)) return
  // The answer is sent; that this is put away already, by another page perhaps, is no matter.
  await act('done', { id: message.id }).catch(() => {})
}

export const approve = (message: StoredMessage, feedback: string) =>
  perform(`approve ${message.id}`, 'Plan approved', async () => {
    await act('approve-plan', { id: message.id, ...(feedback !== '' && { feedback }) })
    await putAway(message)
  })

export const reject = (message: StoredMessage, feedback: string) =>
  perform(`reject ${message.id}`, 'Plan sent back', async () => {
    await act('reject-plan', { id: message.id, feedback })
    await putAway(message)
  })

export const acknowledge = (message: StoredMessage) =>
  perform(`ack ${message.id}`, 'Acknowledged', () => act('ack', { id: message.id }))

export const finish = (message: StoredMessage) =>
  perform(`done ${message.id}`, 'Put away', () => act('done', { id: message.id }))

export const resend = (id: string, to: readonly string[]) =>
  perform(`resend ${id}`, `Sent again to ${to.join(', ')}`, () => act('resend', { id, to }))

export const requestShutdown = (to: string, reason: string) =>
  perform(`shutdown ${to}`, `Asked ${to} to shut down`, () =>
    act('request-shutdown', { to, ...(reason !== '' && { reason }) }),
  )

export const askStatus = (to: string) =>
  perform(`status ${to}`, `Asked ${to} how far it is`, () =>
    act('send', { to, type: 'status_request', subject: 'How far are you?', body: '', payload: {} }),
  )
