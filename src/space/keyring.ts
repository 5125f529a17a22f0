import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import { createFileAtomically, readFileIfAny } from '../base/files.ts'
import { newSigningKey, type SigningKey, signerOf } from '../base/signing.ts'
import type { Draft, LateDraft, MessageDraft } from '../model/entry.ts'
import { nameToFile } from '../model/name.ts'
import { signedText } from '../model/signature.ts'
import type { Environment } from './trust.ts'

interface Signer extends SigningKey {
  sign: (text: string) => string
}

/**
 * The keys of the agents that act from this account, in a space. They are made when they are first needed, and kept
 * outside the space, where only the owner of the account can read them. Whoever can write to the files of a space but
 * not read the keys cannot write in anybody's name.
 */
export class Keyring {
  readonly #space: string
  readonly #dir: string
  readonly #pinOf: (name: string) => string | undefined
  readonly #signers = new Map<string, Signer | undefined>()

  /** `pinOf`: the key that the journal knows a sender by. */
  constructor(space: string, env: Environment, pinOf: (name: string) => string | undefined) {
    this.#pinOf = pinOf
    this.#space = space
    this.#dir = join(keysDir(env), nameToFile(space))
  }

  /** Where the key of an agent is. */
  fileOf = (name: string): string => join(this.#dir, `${nameToFile(name)}.key`)

  /** The key of an agent; undefined where none can be kept. */
  signerFor(name: string): Signer | undefined {
    if (!this.#signers.has(name)) this.#signers.set(name, this.#load(name))
    return this.#signers.get(name)
  }

  #load(name: string): Signer | undefined {
    const file = this.fileOf(name)
    try {
      const pinned = this.#pinOf(name)
      const key = readKey(file) ?? (pinned === undefined ? makeKey(file) : undefined)
      // What is signed with another key than the known one would look forged.
      if (key === undefined || (pinned !== undefined && pinned !== key.public)) return undefined
      return { ...key, sign: signerOf(key) }
    } catch {
      // A home that cannot be written to, or a file that is no key: `doctor` and `verify` tell.
      return undefined
    }
  }

  /** Signs the messages of a decision. What was imported keeps the signature that it came with. */
  sign<D extends Draft | LateDraft>(drafts: D[], isRequired: boolean): D[] {
    for (const draft of drafts)
      if (typeof draft === 'object' && draft.kind === 'message' && draft.originalAt === undefined)
        this.#signMessage(draft, isRequired)
    return drafts
  }

  #signMessage(draft: MessageDraft, isRequired: boolean): void {
    const { from } = draft.message
    const signer = this.signerFor(from)
    if (signer !== undefined)
      draft.signature = `${signer.public}.${signer.sign(signedText(draft, this.#space))}`
    else if (isRequired)
      throw new MailboxError(
        'not_permitted',
        `this space takes signed mail only, and ${from} has no key here`,
        {
          hint: `restore ${this.fileOf(from)}, or give it a new key: mailbox key rotate ${from}`,
        },
      )
  }
}

const keysDir = (env: Environment): string =>
  join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'agent-mailbox', 'keys')

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
