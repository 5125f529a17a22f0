import { hash } from 'node:crypto'
import { isSignedBy } from '../base/signing.ts'
import { person } from './agent.ts'
import type { Entry, KeyDraft, MessageDraft, ShareDraft } from './entry.ts'

/**
 * A message is signed over what it says, together with the space that it was sent in: nobody can change it, put it into
 * another space, or write one in the sender's name without the sender's key. The signature stands in the entry as
 * `KEY.SIGNATURE`, with `.SPACE` behind it if the message was imported from there.
 *
 * To sign takes longer than all the rest of a send, so messages of one sender that are written together have one
 * signature, over the root of a tree of their digests. Behind it, each has its way to the root: `~lDIGEST` or `~rDIGEST`
 * for every step, with the digest that is to the left or to the right. So each can be checked without the others.
 */
interface Signature {
  key: string
  value: string
  /** The way to the root; empty if it was signed alone. */
  path: string
  /** The space that it was signed in, if that is another one. */
  space?: string | undefined
}

const pattern = /^([\w-]{43})\.([\w-]{86})((?:~[lr][\w-]{32}){0,20})(?:\.(.{1,120}))?$/

export function parseSignature(signature: string): Signature | undefined {
  const [, key, value, path = '', space] = pattern.exec(signature) ?? []
  return key === undefined || value === undefined ? undefined : { key, value, path, space }
}

/** Who signs messages, and in which space. */
export interface MessageSigner {
  public: string
  space: string
  sign: (text: string) => string
}

const digestOf = (text: string | Buffer): string => hash('sha256', text, 'base64url').slice(0, 32)
const leafStart = 'leaf '
const leafOf = (text: string): string => digestOf(leafStart + text)
const nodeOf = (left: string, right: string): string => digestOf(`node ${left}${right}`)
const rootText = (root: string): string => JSON.stringify(['agent-mailbox messages', root])

/** The signatures of texts that are signed at once, with one signature for all of them. */
export const signTogether = (texts: readonly string[], signer: MessageSigner): string[] =>
  texts.length === 1
    ? [`${signer.public}.${signer.sign(texts[0]!)}`]
    : signLeaves(
        texts.map((text) => leafOf(text)),
        signer,
      )

/** The same for several texts by their digests: see {@link LeafBuffer}. */
export function signLeaves(leaves: readonly string[], signer: MessageSigner): string[] {
  const paths = leaves.map(() => '')
  /** Each node with the texts below it, which stand side by side. */
  let level = leaves.map((digest, at) => ({ digest, from: at, to: at + 1 }))
  const extend = ({ from, to }: { from: number; to: number }, step: string) => {
    for (let at = from; at < to; at++) paths[at] += step
  }
  while (level.length > 1) {
    const above: typeof level = []
    for (let at = 0; at < level.length; at += 2) {
      const [left, right] = [level[at]!, level[at + 1]]
      if (right === undefined) {
        above.push(left)
        continue
      }
      extend(left, `~r${right.digest}`)
      extend(right, `~l${left.digest}`)
      above.push({ digest: nodeOf(left.digest, right.digest), from: left.from, to: right.to })
    }
    level = above
  }
  const signed = `${signer.public}.${signer.sign(rootText(level[0]!.digest))}`
  return paths.map((path) => signed + path)
}

/** What was signed, for a text that has a way to the root. */
function climbed(text: string, path: string): string {
  let digest = leafOf(text)
  for (const [, side, other = ''] of path.matchAll(/~([lr])([^~]+)/g))
    digest = side === 'l' ? nodeOf(other, digest) : nodeOf(digest, other)
  return rootText(digest)
}

type Signed = Pick<MessageDraft, 'message' | 'exclude'>

/** The signature of one message, before it is written. */
export const signAlone = (draft: Signed, signer: MessageSigner): string =>
  signTogether([signedText(draft, signer.space)], signer)[0]!

/** What is signed. */
const signedText = ({ message, exclude }: Signed, space: string): string =>
  JSON.stringify(['agent-mailbox message', space, message, exclude ?? []])

/** The key that signed a message in a space; undefined if it is not signed, or not by that key, or was changed. */
export function signerIn(draft: Signed & Pick<MessageDraft, 'signature'>, space: string): string | undefined {
  const found = draft.signature === undefined ? undefined : parseSignature(draft.signature)
  if (found === undefined || found.space !== undefined) return undefined
  const text = signedText(draft, space)
  const { key, value, path } = found
  return isSignedBy(key, path === '' ? text : climbed(text, path), value) ? key : undefined
}

const messageStart = '"kind":"message","message":'
const messageStartBytes = Buffer.from(messageStart)
const noneExcluded = ',[]]'
const startIn = (space: string): string => `["agent-mailbox message",${JSON.stringify(space)},`

/** The same as {@link signedText} from the text of the entry's line, which has the message in JSON already. */
export const signedTextIn = (line: string, draft: Signed, space: string): string =>
  isPlain(line, draft)
    ? startIn(space) + line.slice(messageStart.length) + noneExcluded
    : signedText(draft, space)

const isPlain = (line: string, { exclude }: Signed): boolean =>
  exclude === undefined && line.startsWith(messageStart)

/**
 * The texts of lines that are signed together. Each is encoded once: its digest is taken where it stands, with what is signed
 * besides in the place of what stands around it in the line.
 */
export class LeafBuffer {
  #bytes = Buffer.allocUnsafeSlow(65_536)
  #length = 0
  #space = ''
  #start = Buffer.alloc(0)

  /** What was added before is not needed any more. */
  clear(): void {
    this.#length = 0
  }

  /** The digest of what is signed of a line, and the text of the line in bytes, unless it has to be encoded by itself. */
  add(line: string, draft: Signed, space: string): { leaf: string; bytes?: Buffer } {
    if (!isPlain(line, draft)) return { leaf: leafOf(signedText(draft, space)) }
    if (this.#space !== space) {
      this.#space = space
      this.#start = Buffer.from(leafStart + startIn(space))
    }
    const start = this.#start
    const before = start.length - messageStart.length
    // A UTF-16 unit takes at most three bytes.
    const most = before + line.length * 3 + noneExcluded.length
    // What is in the old one stays there.
    if (this.#length + most > this.#bytes.length) {
      this.#bytes = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length, 2 * most))
      this.#length = 0
    }
    const bytes = this.#bytes
    const from = this.#length + before
    const to = from + bytes.write(line, from, 'utf8')
    bytes.set(start, this.#length)
    const end = to + bytes.write(noneExcluded, to, 'latin1')
    const leaf = digestOf(bytes.subarray(this.#length, end))
    bytes.set(messageStartBytes, from)
    this.#length = to
    return { leaf, bytes: bytes.subarray(from, to) }
  }
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
  if (signed === undefined || signed.path !== '') return undefined
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
    if (entry.kind !== 'message' && entry.kind !== 'scheduled') return undefined
    if (entry.originalAt !== undefined) return undefined
    const { from } = entry.message
    if (entry.signature === undefined) return undefined
    const signer = signerIn(entry, this.#space)
    if (!this.#keys.has(from) && signer !== undefined) this.#keys.set(from, signer)
    if (signer !== undefined && signer === this.#keys.get(from)) return undefined
    return `the message says that it is from ${from}, but is not signed with the key of ${from}`
  }

  /** Whether the entry is a message without a signature, of a sender that has signed before. */
  isUnsigned(entry: Entry): boolean {
    if (entry.kind !== 'message' && entry.kind !== 'scheduled') return false
    if (entry.originalAt !== undefined) return false
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
