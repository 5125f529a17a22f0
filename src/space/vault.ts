import { AsyncLocalStorage } from 'node:async_hooks'
import { MailboxError } from '../base/errors.ts'
import { type DataKey, idOfKey, newDataKey } from '../base/sealing.ts'
import { unwrapKey, wrapKey } from '../base/wrapping.ts'
import type { PlacedEntry } from '../journal/journal.ts'
import { person } from '../model/agent.ts'
import type { Entry, Gist, ShareDraft } from '../model/entry.ts'
import { audienceOf, parseSealed, type Seal } from '../model/sealed.ts'
import { shareText } from '../model/signature.ts'
import type { Source } from '../query/message.ts'
import { currentShare, sharesOf } from '../query/shares.ts'
import type { Keyring } from './keyring.ts'
import { openedEntry } from './opened.ts'

export interface VaultParts {
  space: string
  keyring: Keyring
  /** Whether everything that is written to the space is encrypted. */
  isOn: () => boolean
  query: <T>(work: (source: Source) => T) => Promise<T>
  /** The agents as whom this process acts, if it runs inside a client; none outside of clients. */
  actors: () => Promise<string[]>
  /** Who can read an encrypted message, by its seq; undefined if that is not known. */
  readersOf: (seq: number) => readonly string[] | undefined
  /** The agents that get a new key of the space, besides the person. */
  members: () => string[]
  record: (draft: ShareDraft) => Promise<void>
}

/** What is wanted to read something: the reference to its key, the space it is from, and who might have the key. */
interface Wanted {
  key: string
  space: string | undefined
  /** Undefined: whoever the key was shared with. */
  readers: readonly string[] | undefined
}

/** A decision cannot be taken before a key is at hand. Nothing was written: get it, and decide again. */
export class KeysWanted extends Error {
  readonly get: () => Promise<void>

  constructor(get: () => Promise<void>) {
    super('a key is wanted')
    this.get = get
  }
}

const callers = new AsyncLocalStorage<string>()

/** Reads on behalf of an agent that comes to this process from outside: what is for others stays closed. */
export const readAs = <T>(name: string, work: () => T): T => callers.run(name, work)

/** How long it counts that there is no key. Another process may get one meanwhile. */
const lockedForMs = 5_000
const keysKept = 10_000

/**
 * The keys that messages are encrypted with, as far as this process may use them. What runs inside a client reads with
 * the keys of its agents; everything else with all keys of the account. To open a key takes milliseconds and a turn of
 * the event loop, and queries and decisions have neither: they note what they want, and are asked again.
 */
export class Vault {
  readonly #parts: VaultParts
  /** Keys by their references, of late. */
  readonly #keys = new Map<string, DataKey>()
  /** Since when it is known that there is no key. */
  readonly #locked = new Map<string, number>()
  #wanted = new Map<string, Wanted>()
  #isOn = false
  /** The key for what this process writes, once it is known. */
  #current: Seal | undefined
  /** Keys for messages that only some can read, by who that is: new ones in every process. */
  readonly #own = new Map<string, Seal>()

  constructor(parts: VaultParts) {
    this.#parts = parts
  }

  get space(): string {
    return this.#parts.space
  }

  /** Who can read an encrypted message, if they alone can. */
  readersOf = (seq: number): readonly string[] | undefined => this.#parts.readersOf(seq)

  /** Learns from entries of the journal that other keys may be in use. */
  follow(entries: readonly Gist[]): void {
    if (!entries.some(({ kind }) => kind === 'share' || kind === 'key')) return
    this.#current = undefined
    this.#locked.clear()
    this.#own.clear()
    this.#isOn ||= entries.some((entry) => entry.kind === 'share' && entry.change === 'created')
  }

  /** Somebody may have turned it on while this process was running. */
  get isOn(): boolean {
    return this.#isOn || this.#parts.isOn()
  }

  /** An entry as this process may read it. */
  open = (entry: Entry): Entry =>
    openedEntry(entry, this.space, (sealed, readers) => this.#find(sealed, readers), this.#parts.readersOf)

  /** The key for something that is sealed, if it is at hand. */
  #find(sealed: string, readers: () => readonly string[]): DataKey | undefined {
    const found = parseSealed(sealed)
    if (found === undefined) return undefined
    const caller = callers.getStore()
    const isOwn = audienceOf(found) === 'space'
    // Nobody but the person is served with the keys of others.
    if (!isOwn && caller !== undefined && caller !== person && !readers().includes(caller)) return undefined
    const { key, space } = found
    const known = this.#keys.get(key)
    if (known !== undefined) return known
    const lockedAt = this.#locked.get(key)
    if (lockedAt === undefined || performance.now() - lockedAt > lockedForMs)
      this.#wanted.set(key, { key, space, readers: isOwn ? undefined : readers() })
    return undefined
  }

  /** Whether something could not be read that perhaps can be when it is asked for again. */
  get isWanting(): boolean {
    return this.#wanted.size > 0
  }

  /** Gets what was wanted, as far as that is possible. */
  async getWanted(): Promise<void> {
    const wanted = [...this.#wanted.values()]
    this.#wanted = new Map()
    const actors = await this.#parts.actors()
    for (const one of wanted) {
      const { key, space, readers } = one
      const opened =
        readers === undefined
          ? await this.#openShared(key, actors)
          : await unwrapKey(
              key,
              (actors.length === 0 ? readers : actors).flatMap((name) =>
                this.#parts.keyring.secretsOf(name, space),
              ),
            )
      if (this.#keys.size >= keysKept) this.#keys.clear()
      if (this.#locked.size >= keysKept) this.#locked.clear()
      if (opened === undefined) this.#locked.set(key, performance.now())
      else this.#keys.set(key, opened)
    }
  }

  /** A key of the space, if it was shared with one of these names; with anybody whose key is here if there are none. */
  async #openShared(id: string, actors: readonly string[]): Promise<DataKey | undefined> {
    const { keyring } = this.#parts
    for (const { for: each, space } of await this.#parts.query((source) => sharesOf(source, id))) {
      const names = Object.keys(each).filter((name) => actors.length === 0 || actors.includes(name))
      // The person has a key of every space.
      for (const name of names.sort((a, b) => Number(b === person) - Number(a === person))) {
        const kept = keyring.keptBy(name, space)[id]
        const key =
          kept === undefined
            ? await unwrapKey(each[name]!, keyring.secretsOf(name, space))
            : Buffer.from(kept, 'base64url')
        if (key === undefined || idOfKey(key) !== id) continue
        if (kept === undefined) keyring.keep(name, id, key, space)
        return key
      }
    }
    return undefined
  }

  /** Whether this process has a key of the space, by its id. */
  canOpen = async (id: string): Promise<boolean> =>
    this.#keys.has(id) || (await this.#openShared(id, await this.#parts.actors())) !== undefined

  /** The key for what everybody in the space may read; undefined if that is not encrypted. */
  get current(): Seal | undefined {
    if (!this.isOn) return undefined
    if (this.#current === undefined) throw new KeysWanted(() => this.prepare())
    return this.#current
  }

  /** The key for what only these agents may read. */
  sealFor(names: readonly string[]): Seal {
    const readers = [...new Set(names)].sort()
    const seal = this.#own.get(readers.join(' '))
    if (seal === undefined) throw new KeysWanted(() => this.#prepareFor(readers))
    return seal
  }

  async #prepareFor(readers: readonly string[]): Promise<void> {
    const key = newDataKey()
    const publicKeys = await this.#parts.query(() => readers.map((name) => this.#publicOf(name)))
    const ref = await wrapKey(key, publicKeys)
    this.#keys.set(ref, key)
    this.#own.set(readers.join(' '), { ref, key })
  }

  #publicOf(name: string): string {
    const key = this.#parts.keyring.publicOf(name)
    if (key) return key
    throw new MailboxError(
      'not_permitted',
      key === null ? `the key of ${name} was revoked` : `no key of ${name} is known here`,
      { hint: `give it one: mailbox key rotate ${name}; or send the message without encryption` },
    )
  }

  /** Finds the key that is in use in the space, or makes one. */
  async prepare(): Promise<void> {
    if (this.#current !== undefined) return
    const current = await this.#parts.query(currentShare)
    if (current === undefined || current.isStale) return this.renew()
    const { key: ref } = current
    const actors = await this.#parts.actors()
    const own = await this.#openShared(ref, actors)
    const key = own ?? (await this.#shareWith(ref, actors))
    if (key === undefined) throw noSpaceKey(actors[0])
    this.#current = { ref, key }
    this.#keys.set(ref, key)
  }

  /** From now on a new key is in use, which is shared with everybody whose own key was not revoked. */
  async renew(): Promise<void> {
    const key = newDataKey()
    const ref = idOfKey(key)
    await this.#share('created', ref, key, [person, ...this.#parts.members()])
    this.#current = { ref, key }
    this.#keys.set(ref, key)
  }

  /**
   * Gives the key in use to agents that do not have it. Those whose key was revoked do not get it. `isRenewed`: they
   * have new keys.
   */
  async share(names: readonly string[], isRenewed = false): Promise<void> {
    const current = await this.#parts.query(currentShare)
    if (current === undefined) return
    const shares = await this.#parts.query((source) => sharesOf(source, current.key))
    await this.#shareWith(
      current.key,
      names.filter((name) => isRenewed || shares.every((one) => !Object.hasOwn(one.for, name))),
    )
  }

  /** Who is to get the key in use. This runs for every message, so there is nothing to wait for if it is nobody. */
  joinedIn(placed: readonly PlacedEntry[]): string[] | undefined {
    if (!this.isOn || !placed.some(({ entry }) => entry.kind === 'agent')) return undefined
    const names = placed.flatMap(({ entry }) =>
      entry.kind === 'agent' && entry.change === 'joined' ? entry.agent.name : [],
    )
    return names.length === 0 ? undefined : names
  }

  /** Whoever has joined gets the key in use. If that fails, it gets it when it first writes something. */
  async welcome(names: readonly string[]): Promise<void> {
    await this.share(names).catch(() => {})
  }

  async #shareWith(ref: string, names: readonly string[]): Promise<DataKey | undefined> {
    const key = names.length === 0 ? undefined : await this.#openShared(ref, [])
    if (key === undefined) return undefined
    const isShared = await this.#share('shared', ref, key, names)
    return isShared ? key : undefined
  }

  async #share(
    change: ShareDraft['change'],
    ref: string,
    key: DataKey,
    names: readonly string[],
  ): Promise<boolean> {
    const { keyring, query } = this.#parts
    const known = await query(() => names.map((name) => ({ name, publicKey: keyring.publicOf(name) })))
    const each: Record<string, string> = {}
    for (const { name, publicKey } of known) if (publicKey) each[name] = await wrapKey(key, [publicKey])
    if (Object.keys(each).length === 0) return false
    const by = await query(() => [person, ...names].find((name) => keyring.signerFor(name) !== undefined))
    if (by === undefined) throw noSpaceKey(names[0])
    const draft = { change, by, key: ref, for: each }
    await this.#parts.record(this.signed(draft))
    for (const name of Object.keys(each)) if (keyring.secretsOf(name).length > 0) keyring.keep(name, ref, key)
    return true
  }

  /** Signs the sharing of a key. */
  signed(draft: Omit<ShareDraft, 'kind' | 'signature'>): ShareDraft {
    const { keyring, space } = this.#parts
    const signer = keyring.signerFor(draft.by)
    if (signer === undefined) throw noSpaceKey(draft.by)
    const signature = `${signer.public}.${signer.sign(shareText(draft, space))}`
    return { kind: 'share', ...draft, signature }
  }
}

const noSpaceKey = (name = person) =>
  new MailboxError('not_permitted', `this space is encrypted, and ${name} has no key to it here`, {
    hint: `whoever has one can share it: mailbox key share ${name}`,
  })
