import { isSignedBy } from '../base/signing.ts'
import { person } from './agent.ts'
import type { Entry, KeyDraft, MessageDraft, ShareDraft } from './entry.ts'

/**
 * A message is signed over what it says, together with the space that it was sent in: nobody can change it, put it into
 * another space, or write one in the sender's name without the sender's key. The signature stands in the entry as
 * `KEY.SIGNATURE`, with `.SPACE` behind it if the message was imported from there.
 */
interface Signature {
  key: string
  value: string
  /** The space that it was signed in, if that is another one. */
  space?: string | undefined
}

const pattern = /^([\w-]{43})\.([\w-]{86})(?:\.(.{1,120}))?$/

export function parseSignature(signature: string): Signature | undefined {
  const [, key, value, space] = pattern.exec(signature) ?? []
  return key === undefined || value === undefined ? undefined : { key, value, space }
}

type Signed = Pick<MessageDraft, 'message' | 'exclude'>

/** What is signed. */
export const signedText = ({ message, exclude }: Signed, space: string): string =>
  JSON.stringify(['agent-mailbox message', space, message, exclude ?? []])

/** The key that signed a message in a space; undefined if it is not signed, or not by that key, or was changed. */
export function signerIn(draft: Signed & Pick<MessageDraft, 'signature'>, space: string): string | undefined {
  const found = draft.signature === undefined ? undefined : parseSignature(draft.signature)
  if (found === undefined || found.space !== undefined) return undefined
  return isSignedBy(found.key, signedText(draft, space), found.value) ? found.key : undefined
}

/** What is signed when a key is replaced or revoked. */
export const keyChangeText = (
  { change, agent, by, key }: Omit<KeyDraft, 'signature'>,
  space: string,
): string => JSON.stringify(['agent-mailbox key', space, change, agent, by, key ?? ''])

/**
 * The key that signed the change of a key, if it may: the one that `by` is known by, which is the agent itself or the
 * person. A person who has signed nothing yet becomes known by it. Undefined if the change does not count.
 */
export function changerIn(
  entry: KeyDraft,
  space: string,
  known: string | null | undefined,
): string | undefined {
  if (entry.by !== entry.agent && entry.by !== person) return undefined
  return authorIn(entry, keyChangeText(entry, space), known)
}

/** What is signed when a key of the space is shared. */
export const shareText = (
  { change, by, key, for: each }: Omit<ShareDraft, 'kind' | 'signature'>,
  space: string,
): string => JSON.stringify(['agent-mailbox share', space, change, by, key, each])

/** The key that signed the sharing of a key of the space, in the same way. */
export const sharerIn = (
  entry: ShareDraft,
  space: string,
  known: string | null | undefined,
): string | undefined => authorIn(entry, shareText(entry, space), known)

/** `known`: the key that its author is known by; null if that was revoked. */
function authorIn(
  { by, signature }: { by: string; signature: string },
  text: string,
  known: string | null | undefined,
): string | undefined {
  const signed = parseSignature(signature)
  if (signed === undefined) return undefined
  if (known === undefined ? by !== person : known !== signed.key) return undefined
  return isSignedBy(signed.key, text, signed.value) ? signed.key : undefined
}

/** A signature as an export has it. */
export const exportedSignature = (signature: string, space: string): string =>
  parseSignature(signature)?.space === undefined ? `${signature}.${space}` : signature

/** Follows the keys of senders through the entries of a journal. */
export class KeyHistory {
  readonly #space: string
  /** The keys in force; undefined for one that was revoked. */
  readonly #keys = new Map<string, string | undefined>()

  constructor(space: string) {
    this.#space = space
  }

  /** What is wrong with the signature of the next entry, in words; undefined if nothing is. */
  forgedIn(entry: Entry): string | undefined {
    if (entry.kind === 'key') return this.#changed(entry)
    if (entry.kind === 'share') return this.#shared(entry)
    if (entry.kind !== 'message' || entry.originalAt !== undefined) return undefined
    const { from } = entry.message
    if (entry.signature === undefined) return undefined
    const signer = signerIn(entry, this.#space)
    if (!this.#keys.has(from) && signer !== undefined) this.#keys.set(from, signer)
    if (signer !== undefined && signer === this.#keys.get(from)) return undefined
    return `the message says that it is from ${from}, but is not signed with the key of ${from}`
  }

  /** Whether the entry is a message without a signature, of a sender that has signed before. */
  isUnsigned(entry: Entry): boolean {
    if (entry.kind !== 'message' || entry.originalAt !== undefined) return false
    return entry.signature === undefined && this.#keys.has(entry.message.from)
  }

  #known = (by: string): string | null | undefined =>
    this.#keys.has(by) ? (this.#keys.get(by) ?? null) : undefined

  #shared(entry: ShareDraft): string | undefined {
    const { by, originalAt } = entry
    if (originalAt !== undefined) return undefined
    const sharer = sharerIn(entry, this.#space, this.#known(by))
    if (sharer === undefined) return `a key of the space is shared without the key of ${by}`
    this.#keys.set(by, sharer)
    return undefined
  }

  #changed(entry: KeyDraft): string | undefined {
    const { agent, by, key } = entry
    const changer = changerIn(entry, this.#space, this.#known(by))
    if (changer === undefined) return `the key of ${agent} is changed without the key of ${by}`
    this.#keys.set(by, changer)
    this.#keys.set(agent, key)
    return undefined
  }
}
