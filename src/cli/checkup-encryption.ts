import type { EncryptionState } from '../space/encryption.ts'
import type { DiskSpace } from '../space/space.ts'
import type { Finding } from './checkup.ts'
import { count } from './progress.ts'

/** What is encrypted, whether it can be read here, and for whom nothing can be encrypted yet. */
export async function checkEncryption({ core }: DiskSpace): Promise<Omit<Finding, 'check'>> {
  const { encryptionState } = await import('../space/encryption.ts')
  const state = await encryptionState(core)
  const found = [whatIs(state), whoCanRead(state), ...whoCannot(state)].filter(Boolean).join('; ')
  const { isOn, locked, hasKey, withoutShare } = state
  if (locked > 0 || hasKey === false) {
    const next = 'restore a key that can read it: mailbox key restore NAME FILE'
    return { state: 'warn', found, next }
  }
  const [first] = withoutShare
  if (isOn && first !== undefined)
    return { state: 'warn', found, next: `let them read it: mailbox key share ${first}` }
  return { state: 'ok', found }
}

function whatIs({ isOn, forSpace, forRecipients }: EncryptionState): string {
  const old = [
    ...(forSpace > 0 ? [`${messages(forSpace)} for everybody in the space`] : []),
    ...(forRecipients > 0 ? [`${messages(forRecipients)} for their recipients alone`] : []),
  ].join(', ')
  const now = isOn ? 'the text of all new mail is encrypted' : 'new mail is not encrypted'
  return old === '' ? now : `${now}; encrypted so far: ${old}`
}

function whoCanRead({ tried, locked, hasKey }: EncryptionState): string {
  if (hasKey === false) return 'there is no key here for new mail'
  if (tried === 0) return ''
  if (locked === 0) return 'all of it can be read here'
  if (locked === tried) return 'none of it can be read here'
  return `${count(locked)} of the last ${messages(tried)} cannot be read here`
}

function whoCannot({ isOn, withoutKey, revoked, withoutShare }: EncryptionState): string[] {
  return [
    ...(isOn && withoutShare.length > 0 ? [`without the key of the space: ${list(withoutShare)}`] : []),
    ...(withoutKey.length > 0 ? [`no key yet: ${list(withoutKey)}`] : []),
    ...(revoked.length > 0 ? [`key revoked: ${list(revoked)}`] : []),
  ]
}

const messages = (n: number): string => `${count(n)} ${n === 1 ? 'message' : 'messages'}`

const shownNames = 5

const list = (names: readonly string[]): string =>
  names.length <= shownNames
    ? names.join(', ')
    : `${names.slice(0, shownNames).join(', ')} and ${count(names.length - shownNames)} more`
