import { mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import {
  createFileAtomically,
  moveFile,
  readFileIfAny,
  readJsonIfAny,
  writeFileAtomically,
} from '../base/files.ts'
import type { DataKey } from '../base/sealing.ts'
import { newSigningKey, type SigningKey, signerOf } from '../base/signing.ts'
import type { Draft, Gist, LateDraft, MessageDraft, ScheduledDraft } from '../model/entry.ts'
import { nameToFile } from '../model/name.ts'
import { type MessageSigner, signAlone } from '../model/signature.ts'
import { configDir, type Environment } from './trust.ts'

/** How long a key that is not there is not looked for again. */
const missedForMs = 1_000

/** The key that the journal knows a sender by; null if it was revoked. */
type PinOf = (name: string) => string | null | undefined

interface Signer extends SigningKey, MessageSigner {
  /** Always the same, so that what it signs can be told. */
  self: () => MessageSigner
}

/**
 * The keys of the agents that act from this account, in a space. They are made when they are first needed, and kept
 * outside the space, where only the owner of the account can read them. Whoever can write to the files of a space but
 * not read the keys cannot write in anybody's name.
 */
export class Keyring {
  readonly #space: string
  readonly #env: Environment
  readonly #dir: string
  readonly #pinOf: PinOf
  readonly #signers = new Map<string, Signer>()
  /** When there was no key for a sender: a home without keys is not searched at every send. */
  readonly #missed = new Map<string, number>()
  /** Keys that changed while this process followed the journal; its index may not have them yet. */
  readonly #changed = new Map<string, string | null>()

  constructor(space: string, env: Environment, pinOf: PinOf) {
    this.#pinOf = pinOf
    this.#space = space
    this.#env = env
    this.#dir = dirOf(env, space)
  }

  /** Where the key of an agent is. */
  fileOf = (name: string): string => join(this.#dir, `${nameToFile(name)}.key`)

  /** The same in a space that mail was imported from. */
  #fileIn = (name: string, space = this.#space): string =>
    join(dirOf(this.#env, space), `${nameToFile(name)}.key`)

  /** The public key of an agent, in the journal or here; null if it was revoked, undefined if none is known. */
  publicOf(name: string): string | null | undefined {
    const changed = this.#changed.get(name)
    const pinned = changed === undefined ? this.#pinOf(name) : changed
    return pinned === undefined ? this.signerFor(name)?.public : pinned
  }

  /** What mail of an agent can be opened with: its key, and those that it had before. None if they are not here. */
  secretsOf(name: string, space?: string): string[] {
    const file = this.#fileIn(name, space)
    return attempt(() => [
      ...[file, nextFile(file)].flatMap((one) => readKey(one) ?? []),
      ...retiredIn(file),
    ]).map(({ secret }) => secret)
  }

  /**
   * The keys of a space that an agent has opened. They are kept beside the key that opens them, and are as secret: to
   * open one takes longer than a hook may take.
   */
  keptBy(name: string, space?: string): Record<string, string> {
    const [kept = {}] = attempt(() => [
      readJsonIfAny<Record<string, string>>(keptFile(this.#fileIn(name, space))) ?? {},
    ])
    return kept
  }

  keep(name: string, id: string, key: DataKey, space?: string): void {
    attempt(() => {
      const file = keptFile(this.#fileIn(name, space))
      const kept = { ...this.keptBy(name, space), [id]: key.toString('base64url') }
      writeFileAtomically(file, `${JSON.stringify(kept)}\n`, { expendable: true })
      return []
    })
  }

  /** The key of an agent; undefined where none can be kept. */
  signerFor(name: string): Signer | undefined {
    const known = this.#signers.get(name)
    if (known !== undefined) return known
    const now = performance.now()
    if (now - (this.#missed.get(name) ?? Number.NEGATIVE_INFINITY) < missedForMs) return undefined
    const found = this.#load(name)
    if (found === undefined) this.#missed.set(name, now)
    else this.#signers.set(name, found)
    return found
  }

  /** What is known of the key of an agent may not be true any more. */
  #forget(name: string): void {
    this.#signers.delete(name)
    this.#missed.delete(name)
  }

  /** Learns from entries of the journal which keys have changed. */
  follow(entries: readonly Gist[]): void {
    for (const entry of entries) {
      if (entry.kind !== 'key') continue
      this.#changed.set(entry.agent, entry.key ?? null)
      this.#forget(entry.agent)
    }
  }

  #load(name: string): Signer | undefined {
    const file = this.fileOf(name)
    try {
      const pinned = this.#changed.get(name) ?? this.#pinOf(name)
      if (this.#changed.get(name) === null || pinned === null) return undefined
      const next = readKey(nextFile(file))
      // A rotation was cut off after the journal had the new key.
      if (next !== undefined && next.public === pinned) advance(file)
      const key = readKey(file) ?? (pinned === undefined ? makeKey(file) : undefined)
      // What is signed with another key than the known one would look forged.
      if (key === undefined || (pinned !== undefined && pinned !== key.public)) return undefined
      const signer: Signer = { ...key, space: this.#space, sign: signerOf(key), self: () => signer }
      return signer
    } catch {
      // A home that cannot be written to, or a file that is no key: `doctor` and `verify` tell.
      return undefined
    }
  }

  /** A new key for an agent. It is in use once the journal has it and {@link renewed} was called. */
  renew(name: string): SigningKey {
    const file = nextFile(this.fileOf(name))
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    rmSync(file, { force: true })
    return makeKey(file)
  }

  renewed(name: string): void {
    const file = this.fileOf(name)
    advance(file)
    this.#forget(name)
  }

  /** The keys that an agent had before: what was encrypted for them can still be read. */
  retiredOf = (name: string): SigningKey[] => retiredIn(this.fileOf(name))

  /** Takes keys that were exported. `space`: the one that they are of, if that is another. */
  restore(name: string, key: SigningKey, retired: readonly SigningKey[] = [], space?: string): void {
    const file = this.#fileIn(name, space)
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    retire(file, retired)
    writeFileAtomically(file, `${JSON.stringify(key)}\n`)
    this.#forget(name)
  }

  /** Signs the messages of a decision. What was imported keeps the signature that it came with. */
  sign<D extends Draft | LateDraft>(drafts: D[], isRequired: boolean): D[] {
    for (const draft of drafts) {
      if (typeof draft !== 'object' || (draft.kind !== 'message' && draft.kind !== 'scheduled')) continue
      // What was scheduled was signed then.
      const isNew = draft.originalAt === undefined && !('scheduledAt' in draft)
      if (isNew) this.#signMessage(draft, isRequired)
    }
    return drafts
  }

  #signMessage(draft: MessageDraft | ScheduledDraft, isRequired: boolean): void {
    const { from } = draft.message
    const signer = this.signerFor(from)
    if (signer !== undefined) {
      if (draft.kind === 'message') draft.signer = signer.self
      else draft.signature = signAlone(draft, signer)
    } else if (isRequired)
      throw new MailboxError(
        'not_permitted',
        `this space takes signed mail only, and ${from} has no key here`,
        {
          hint: `restore ${this.fileOf(from)}, or give it a new key: mailbox key rotate ${from}`,
        },
      )
  }
}

const nextFile = (file: string): string => `${file}.next`
const retiredFile = (file: string): string => `${file}.old`
const keptFile = (file: string): string => `${file}.opened`

const dirOf = (env: Environment, space: string): string => join(configDir(env), 'keys', nameToFile(space))

/** None where files cannot be read, or are no keys: `doctor` and `verify` tell. */
function attempt<T>(work: () => T[]): T[] {
  try {
    return work()
  } catch {
    return []
  }
}

const retiredIn = (file: string): SigningKey[] => readJsonIfAny<SigningKey[]>(retiredFile(file)) ?? []

/** Keeps keys that are not in use any more. */
function retire(file: string, keys: readonly SigningKey[]): void {
  const known = retiredIn(file)
  const added = keys.filter((key) => !known.some((one) => one.public === key.public))
  if (added.length > 0) writeFileAtomically(retiredFile(file), `${JSON.stringify([...known, ...added])}\n`)
}

/** The next key takes the place of the one that was in use. */
function advance(file: string): void {
  const before = readKey(file)
  if (before !== undefined) retire(file, [before])
  moveFile(nextFile(file), file)
}

function makeKey(file: string): SigningKey {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  createFileAtomically(file, `${JSON.stringify(newSigningKey())}\n`)
  // Another process may have been first.
  return readKey(file)!
}

function readKey(file: string): SigningKey | undefined {
  const text = readFileIfAny(file)
  return text === undefined ? undefined : (JSON.parse(text) as SigningKey)
}
