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
  return key
}

/** From now on nothing that is signed with the key of an agent counts as its own, until it gets a new one. */
export async function revokeKey(core: SpaceCore, agent: string): Promise<void> {
  await record(core, { kind: 'key', change: 'revoked', agent, by: await whoChanges(core, agent) })
}

/** The key of an agent, to be kept somewhere safe. */
export async function exportKey(core: SpaceCore, agent: string, by: string): Promise<SigningKey> {
  const signer = core.keyring.signerFor(agent)
  if (signer === undefined) throw noKey(agent)
  await recordEvent(core, { event: 'key_exported', by, about: agent })
  return { public: signer.public, secret: signer.secret }
}

/** Puts an exported key back in its place. */
export async function restoreKey(core: SpaceCore, agent: string, text: string): Promise<void> {
  const key = parseKey(text)
  const known = await core.query((source) => currentKey(source, agent))
  if (known && known !== key.public)
    throw new MailboxError('conflict', `${agent} is known by another key than this one`, {
      hint: `give it a new one: mailbox key rotate ${agent}`,
    })
  core.keyring.restore(agent, key)
}

/** Whether a text is the key that an agent is known by now: its secret half is there, and fits. */
export async function isKeyOf(core: SpaceCore, agent: string, text: string): Promise<boolean> {
  const known =
    (await core.query((source) => currentKey(source, agent))) ?? core.keyring.signerFor(agent)?.public
  try {
    const key = parseKey(text)
    const proof = 'agent-mailbox secret'
    return key.public === known && isSignedBy(key.public, proof, signerOf(key)(proof))
  } catch (error) {
    if (error instanceof MailboxError && error.code === 'invalid') return false
    throw error
  }
}

function parseKey(text: string): SigningKey {
  const found: unknown = parseStrictJson(text)
  if (isObject(found) && typeof found['public'] === 'string' && typeof found['secret'] === 'string') {
    const key = { public: found['public'], secret: found['secret'] }
    try {
      signerOf(key)('try')
      return key
    } catch {
      // Not a key.
    }
  }
  throw new MailboxError('invalid', 'this is not a key', { hint: 'pass what `mailbox key export` printed' })
}

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
