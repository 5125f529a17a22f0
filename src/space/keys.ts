import { MailboxError } from '../base/errors.ts'
import { parseStrictJson } from '../base/json.ts'
import { isObject } from '../base/objects.ts'
import { isSignedBy, type SigningKey, signerOf } from '../base/signing.ts'
import { person } from '../model/agent.ts'
import type { KeyDraft } from '../model/entry.ts'
import { keyChangeText } from '../model/signature.ts'
import { currentKey, knownKeys } from '../query/keys.ts'
import { recordEvent } from './audit.ts'
import type { SpaceCore } from './core.ts'

export interface KnownKey {
  agent: string
  /** Absent once it was revoked. */
  key?: string
  /** Since which entry of the journal. */
  since: number
  /** Whether its secret half is on this machine. */
  here: boolean
}

/** The senders that have signed something, and the keys that they are known by. */
export const listKeys = async (core: SpaceCore): Promise<KnownKey[]> =>
  (await core.query(knownKeys)).map((known) => ({
    ...known,
    here: known.key !== undefined && core.keyring.signerFor(known.agent)?.public === known.key,
  }))

/** Replaces the key of an agent. What was signed with the old one stays signed; from now on only the new one counts. */
export async function rotateKey(core: SpaceCore, agent: string): Promise<string> {
  const by = await whoChanges(core, agent)
  const { public: key } = core.keyring.renew(agent)
  await record(core, { kind: 'key', change: 'rotated', agent, by, key })
  core.keyring.renewed(agent)
  if (core.vault.isOn) await core.vault.share([agent], true)
  return key
}

/** From now on nothing that is signed with the key of an agent counts as its own, until it gets a new one. */
export async function revokeKey(core: SpaceCore, agent: string): Promise<void> {
  await record(core, { kind: 'key', change: 'revoked', agent, by: await whoChanges(core, agent) })
  // What is written from now on is not for whoever has that key.
  if (core.vault.isOn) await core.vault.renew()
}

/** Lets an agent read an encrypted space, whose own key may be on another machine. Returns whether it can now. */
export async function shareKey(core: SpaceCore, agent: string): Promise<void> {
  if (!core.vault.isOn)
    throw new MailboxError('conflict', 'this space is not encrypted', {
      hint: 'to encrypt it: mailbox config set encrypt space',
    })
  const known = await core.query(() => core.keyring.publicOf(agent))
  if (!known) throw noKey(agent)
  await core.vault.prepare()
  await core.vault.share([agent], true)
}

/** A key as it is kept somewhere safe, with the ones that were in use before: they open old mail. */
interface ExportedKey extends SigningKey {
  retired?: SigningKey[]
  /** The space that it is a key of. */
  space: string
}

/** The key of an agent, to be kept somewhere safe. */
export async function exportKey(core: SpaceCore, agent: string, by: string): Promise<ExportedKey> {
  const signer = core.keyring.signerFor(agent)
  if (signer === undefined) throw noKey(agent)
  await recordEvent(core, { event: 'key_exported', by, about: agent })
  const retired = core.keyring.retiredOf(agent)
  const { space } = core.journal
  return { public: signer.public, secret: signer.secret, ...(retired.length > 0 && { retired }), space }
}

/** Puts an exported key back in its place. One of another space opens mail that was imported from there. */
export async function restoreKey(core: SpaceCore, agent: string, text: string): Promise<void> {
  const { retired, space = core.journal.space, ...key } = parseExport(text)
  if (space !== core.journal.space) return core.keyring.restore(agent, key, retired, space)
  const known = await core.query((source) => currentKey(source, agent))
  if (known && known !== key.public)
    throw new MailboxError('conflict', `${agent} is known by another key than this one`, {
      hint: `give it a new one: mailbox key rotate ${agent}`,
    })
  core.keyring.restore(agent, key, retired)
}

/** Whether a text is the key that an agent is known by now: its secret half is there, and fits. */
export async function isKeyOf(core: SpaceCore, agent: string, text: string): Promise<boolean> {
  const known =
    (await core.query((source) => currentKey(source, agent))) ?? core.keyring.signerFor(agent)?.public
  try {
    const key = parseExport(text)
    const proof = 'agent-mailbox secret'
    return key.public === known && isSignedBy(key.public, proof, signerOf(key)(proof))
  } catch (error) {
    if (error instanceof MailboxError && error.code === 'invalid') return false
    throw error
  }
}

function parseExport(text: string): SigningKey & { retired: SigningKey[]; space: string | undefined } {
  const found: unknown = parseStrictJson(text)
  const { retired = [], space } = isObject(found) ? found : {}
  const isWhole = Array.isArray(retired) && (space === undefined || typeof space === 'string')
  if (isWhole)
    return { ...parseKey(found), retired: retired.map(parseKey), space: space as string | undefined }
  throw notAKey()
}

function parseKey(found: unknown): SigningKey {
  if (isObject(found) && typeof found['public'] === 'string' && typeof found['secret'] === 'string') {
    const key = { public: found['public'], secret: found['secret'] }
    try {
      signerOf(key)('try')
      return key
    } catch {
      // Not a key.
    }
  }
  throw notAKey()
}

const notAKey = () =>
  new MailboxError('invalid', 'this is not a key', { hint: 'pass what `mailbox key export` printed' })

/**
 * Whose key signs the change. That is the person's, who alone may change keys; the agent's own where the person's is
 * not at hand.
 */
async function whoChanges(core: SpaceCore, agent: string): Promise<string> {
  const known = await core.query((source) => currentKey(source, agent))
  if (known === undefined)
    throw new MailboxError('not_found', `${agent} has signed nothing yet, so it has no key to change`, {
      hint: 'see `mailbox key list`',
    })
  // A person who has signed nothing yet becomes known by this.
  const ofPerson = await core.query((source) => currentKey(source, person))
  if (ofPerson !== null && core.keyring.signerFor(person) !== undefined) return person
  if (known && core.keyring.signerFor(agent) !== undefined) return agent
  throw noKey(agent)
}

const noKey = (agent: string) =>
  new MailboxError('not_found', `neither the key of ${agent} nor that of the person is here`, {
    hint: 'restore one of them from where you keep it: mailbox key restore NAME FILE',
  })

async function record(core: SpaceCore, change: Omit<KeyDraft, 'signature'>): Promise<void> {
  const signer = core.keyring.signerFor(change.by)!
  const signature = `${signer.public}.${signer.sign(keyChangeText(change, core.journal.space))}`
  await core.record('directory', () => [{ ...change, signature }])
}
