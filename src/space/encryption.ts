import { person, systemAgent } from '../model/agent.ts'
import { currentKey } from '../query/keys.ts'
import { messageIfThere } from '../query/message.ts'
import { currentShare, sealedMail, sharesOf } from '../query/shares.ts'
import type { SpaceCore } from './core.ts'

/** What is encrypted in a space, and for whom, as far as this process can tell. */
export interface EncryptionState {
  /** Whether all new mail is. */
  isOn: boolean
  /** Messages that everybody in the space can read, and those for their recipients alone. */
  forSpace: number
  forRecipients: number
  /** How many of the newest were tried, and how many of these cannot be read here. */
  tried: number
  locked: number
  /** Whether there is a key here for what is written next: undefined if none was made yet. */
  hasKey: boolean | undefined
  /** Agents that are not dead. Their own keys are not known: they have signed nothing yet. */
  withoutKey: string[]
  /** Their keys were revoked. */
  revoked: string[]
  /** They do not have the key of the space, which is on. */
  withoutShare: string[]
}

/** To open mail that is encrypted for its recipients takes milliseconds for each. */
const triedAtMost = 200

export async function encryptionState(core: SpaceCore): Promise<EncryptionState> {
  const { vault } = core
  const found = await core.query((source) => {
    const { seqs, ...counts } = sealedMail(source, triedAtMost)
    const locked = seqs.filter((seq) => messageIfThere(source, seq)?.locked).length
    const here = [...core.agents.values()].filter(({ state }) => state !== 'dead').map(({ name }) => name)
    const names = [person, ...here.filter((name) => name !== person && name !== systemAgent)]
    const keys = names.map((name) => ({ name, key: currentKey(source, name) }))
    const share = vault.isOn ? currentShare(source) : undefined
    const has = new Set(share && sharesOf(source, share.key).flatMap((one) => Object.keys(one.for)))
    return {
      ...{ ...counts, tried: seqs.length, locked, share },
      withoutKey: keys.flatMap(({ name, key }) => (key === undefined ? [name] : [])),
      revoked: keys.flatMap(({ name, key }) => (key === null ? [name] : [])),
      withoutShare: share === undefined ? [] : names.filter((name) => !has.has(name)),
    }
  })
  const { share, ...state } = found
  const hasKey = share === undefined ? undefined : await vault.canOpen(share.key)
  return { isOn: vault.isOn, hasKey, ...state }
}
