import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import { createFileAtomically, readTextFile, writeFileAtomically } from '../base/files.ts'
import { parseStrictJson } from '../base/json.ts'
import { isObject } from '../base/objects.ts'
import { person, systemAgent } from '../model/agent.ts'
import { checkName } from '../model/name.ts'
import { hubDir, isUnwritable, makeHubDir, mustBePrivate, whileLocked } from './hub-dir.ts'

/** Who sent a request. */
export interface Caller {
  agent: string
  /** The person can read everything; an agent only acts as itself. */
  isPerson: boolean
  /** The digest of its token, the key for everything that is counted per token. */
  digest: string
}

type AgentTokens = Record<string, { sha256: string; createdAt: string }>

const personFile = (dir: string) => join(hubDir(dir), 'token')
const agentsFile = (dir: string) => join(hubDir(dir), 'agents.json')
const digestOf = (token: string) => hash('sha256', token, 'hex')
const newToken = () => `mbx_${randomBytes(32).toString('base64url')}`

/**
 * The person's token. It is created when it is first needed; where nothing can be written, it is one for this process
 * alone.
 */
function personToken(dir: string): string {
  const file = personFile(dir)
  const found = statSync(file, { throwIfNoEntry: false })
  // A power loss could leave an empty file while an earlier version wrote tokens. Nobody has that token.
  const isEmpty = found?.isFile() && found.size === 0
  if (found === undefined || isEmpty) {
    try {
      makeHubDir(dir)
      if (isEmpty) rmSync(file)
      createFileAtomically(file, `${newToken()}\n`)
    } catch (error) {
      if (!isUnwritable(error)) throw error
      return newToken()
    }
  }
  const token = readTextFile(file)?.trim() ?? ''
  mustBePrivate(file)
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new MailboxError('damaged', `${file} has no token`, {
    hint: 'delete it: a new token is created, and the old one ends',
  })
}

function readAgents(dir: string): AgentTokens {
  const file = agentsFile(dir)
  const text = readTextFile(file)
  if (text === undefined) return {}
  mustBePrivate(file)
  try {
    const found = parseStrictJson(text)
    if (isObject(found) && Object.values(found).every(isTokenRow)) return found as AgentTokens
    throw new MailboxError('invalid', 'not a list of tokens')
  } catch (cause) {
    throw new MailboxError('damaged', `${file} cannot be read: ${(cause as Error).message}`, {
      cause,
      hint: 'restore it from a backup, or delete it and give every agent a new token: mailbox token NAME',
    })
  }
}

const isTokenRow = (row: unknown): boolean =>
  isObject(row) && typeof row['sha256'] === 'string' && typeof row['createdAt'] === 'string'

/** Creates a token for an agent and revokes the one it had. Only its digest is stored. */
export function createAgentToken(dir: string, name: string): string {
  checkName(name, 'agent name')
  if (name === person || name === systemAgent) {
    throw new MailboxError('invalid', `${name} cannot have an agent's token`, {
      hint: `the person's token is in ${personFile(dir)}`,
    })
  }
  const token = newToken()
  changeAgents(dir, (agents) => ({
    ...agents,
    [name]: { sha256: digestOf(token), createdAt: new Date().toISOString() },
  }))
  return token
}

/** Revokes an agent's token. False when it had none. */
export function revokeAgentToken(dir: string, name: string): boolean {
  let had = false
  changeAgents(dir, ({ [name]: taken, ...kept }) => {
    had = taken !== undefined
    return kept
  })
  return had
}

export const listAgentTokens = (dir: string): { name: string; createdAt: string }[] =>
  Object.entries(readAgents(dir)).map(([name, { createdAt }]) => ({ name, createdAt }))

function changeAgents(dir: string, change: (agents: AgentTokens) => AgentTokens): void {
  makeHubDir(dir)
  const file = agentsFile(dir)
  whileLocked(file, () => {
    writeFileAtomically(file, `${JSON.stringify(change(readAgents(dir)), null, 2)}\n`)
  })
}

/** Looks tokens up. Reads the file again when it has changed, so that a revocation takes effect at once. */
export class Tokens {
  /** The person's token. */
  readonly person: string
  readonly #dir: string
  readonly #person: Buffer
  #agents = new Map<string, string>()
  #version = ''

  constructor(dir: string) {
    this.#dir = dir
    this.person = personToken(dir)
    this.#person = Buffer.from(digestOf(this.person), 'hex')
  }

  callerOf(token: string): Caller | undefined {
    return this.callerWith(digestOf(token))
  }

  /** The same by the digest, for open connections. */
  callerWith(digest: string): Caller | undefined {
    if (timingSafeEqual(Buffer.from(digest, 'hex'), this.#person)) {
      return { agent: person, isPerson: true, digest }
    }
    this.#refresh()
    const agent = this.#agents.get(digest)
    return agent === undefined ? undefined : { agent, isPerson: false, digest }
  }

  #refresh(): void {
    const stat = statSync(agentsFile(this.#dir), { throwIfNoEntry: false })
    const version = stat === undefined ? '' : `${stat.ino} ${stat.mtimeMs} ${stat.size}`
    if (version === this.#version) return
    const found = Object.entries(readAgents(this.#dir))
    this.#agents = new Map(found.map(([name, { sha256 }]) => [sha256, name]))
    this.#version = version
  }
}
