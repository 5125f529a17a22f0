import { hash } from 'node:crypto'
import { join } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import { readTextFile, writeFileAtomically } from '../base/files.ts'
import { isObject } from '../base/objects.ts'
import { person, systemAgent } from '../model/agent.ts'
import { checkName } from '../model/name.ts'
import { makeHubDir, mustBePrivate, whileLocked } from './hub-dir.ts'
import { newToken, personFile } from './person-token.ts'
import { defaultScopes, earlyScopes, isScope, type Scope } from './scopes.ts'

/** A token as it is stored: its digest, and what it is good for. */
export interface TokenRow {
  sha256: string
  createdAt: string
  /** Absent in those from before there were scopes. */
  scopes?: readonly Scope[]
  expiresAt?: string
}

export interface AgentToken {
  name: string
  createdAt: string
  scopes: readonly Scope[]
  expiresAt?: string
}

/** By the agent. A map, because an agent can have any name: `__proto__` is one. */
type TokenRows = Map<string, TokenRow>

/** What machines that share a space call the file of the tokens. */
export const tokensName = 'hub/agents.json'
export const agentsFile = (dir: string): string => join(dir, tokensName)
export const digestOf = (token: string): string => hash('sha256', token, 'hex')

export function readTokens(dir: string): TokenRows {
  const file = agentsFile(dir)
  const text = readTextFile(file)
  if (text === undefined) return new Map()
  mustBePrivate(file)
  try {
    const found: unknown = JSON.parse(text)
    if (isObject(found) && Object.values(found).every(isTokenRow))
      return new Map(Object.entries(found as Record<string, TokenRow>))
    throw new MailboxError('invalid', 'not a list of tokens')
  } catch (cause) {
    throw new MailboxError('damaged', `${file} cannot be read: ${(cause as Error).message}`, {
      cause,
      hint: 'restore it from a backup, or delete it and give every agent a new token: mailbox token NAME',
    })
  }
}

const isTokenRow = (row: unknown): boolean =>
  isObject(row) &&
  typeof row['sha256'] === 'string' &&
  typeof row['createdAt'] === 'string' &&
  (row['scopes'] === undefined || Array.isArray(row['scopes'])) &&
  (row['expiresAt'] === undefined || !Number.isNaN(Date.parse(String(row['expiresAt']))))

/** A scope of a newer version gives nothing here. */
export const scopesOf = ({ scopes }: TokenRow): readonly Scope[] => scopes?.filter(isScope) ?? earlyScopes

export interface NewToken {
  /** @default act, read-own */
  scopes?: readonly Scope[] | undefined
  /** How long it is good for, in ms. @default until it is revoked */
  lastsMs?: number | undefined
}

/** Creates a token for an agent and revokes the one it had. Only its digest is stored. */
export function createAgentToken(dir: string, name: string, options: NewToken = {}): string {
  const { scopes = defaultScopes, lastsMs } = options
  checkName(name, 'agent name')
  if (name === person || name === systemAgent) {
    throw new MailboxError('invalid', `${name} cannot have an agent's token`, {
      hint: `the person's token is in ${personFile(dir)}; to replace it: mailbox token ${person} --rotate`,
    })
  }
  const token = newToken()
  const now = Date.now()
  changeTokens(dir, (rows) =>
    rows.set(name, {
      ...{ sha256: digestOf(token), createdAt: new Date(now).toISOString(), scopes },
      ...(lastsMs === undefined ? {} : { expiresAt: new Date(now + lastsMs).toISOString() }),
    }),
  )
  return token
}

/** Revokes an agent's token. False when it had none. */
export const revokeAgentToken = (dir: string, name: string): boolean =>
  changeTokens(dir, (rows) => rows.delete(name))

export const listAgentTokens = (dir: string): AgentToken[] =>
  [...readTokens(dir)].map(([name, row]) => ({
    ...{ name, createdAt: row.createdAt, scopes: scopesOf(row) },
    ...(row.expiresAt === undefined ? {} : { expiresAt: row.expiresAt }),
  }))

function changeTokens<T>(dir: string, change: (rows: TokenRows) => T): T {
  makeHubDir(dir)
  const file = agentsFile(dir)
  return whileLocked(file, () => {
    const rows = readTokens(dir)
    const result = change(rows)
    writeFileAtomically(file, `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`)
    return result
  })
}
