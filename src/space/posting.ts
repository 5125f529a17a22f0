import { type Choice, choicesOf } from '../conversation/choices.ts'
import { noticeOf } from '../conversation/notice.ts'
import { person, systemAgent } from '../model/agent.ts'
import { classOf } from '../model/receipt.ts'
import { findSeq, messageIfThere, receiptsOf, type StoredMessage } from '../query/message.ts'
import type { SpaceCore } from './core.ts'

/** A message to the person, and what it can be answered with in a word. */
export interface Posting {
  message: StoredMessage
  choices: Choice[]
}

/**
 * What somebody is to be told of a message to the person; undefined where they have been told, or nothing is left to tell.
 * A notice about mail that was sent to the person is about a matter that was told with that mail. `hasWaited`: since it was
 * sent, so that it may have been read or settled meanwhile.
 */
export const postingOf = (core: SpaceCore, id: string, hasWaited: boolean): Promise<Posting | undefined> =>
  core.query((source) => {
    const message = messageIfThere(source, findSeq(source, id) ?? 0)
    if (message === undefined) return undefined
    const own = receiptsOf(source, message.seq).filter(({ owner }) => owner === person)
    if (own.some(({ state }) => state === 'withdrawn')) return undefined
    if (hasWaited && own.every(({ state }) => classOf(state) !== 'unread')) return undefined
    const about = message.from === systemAgent ? (noticeOf(message)?.about ?? []) : []
    const isTold = (one: string) =>
      messageIfThere(source, findSeq(source, one) ?? 0)?.to.includes(person) === true
    if (about.length > 0 && about.every((item) => isTold(item.id))) return undefined
    return { message, choices: choicesOf(message) }
  })
