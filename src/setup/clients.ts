import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { MailboxError } from '../errors.ts'
import { claude } from './claude.ts'
import type { ClientSetup } from './client.ts'
import { codex } from './codex.ts'
import { gemini } from './gemini.ts'
import { opencode } from './opencode.ts'

export const clientSetups: readonly ClientSetup[] = [claude, codex, gemini, opencode]

/** The clients on this machine: those that can be started or have been used. */
export const findClients = (env: NodeJS.ProcessEnv): ClientSetup[] =>
  clientSetups.filter((client) => existsSync(client.home(env)) || findBinary(client, env) !== undefined)

export function findBinary({ binary }: ClientSetup, env: NodeJS.ProcessEnv): string | undefined {
  const candidates = (env['PATH'] ?? '').split(delimiter).filter(Boolean)
  return candidates.map((dir) => join(dir, binary)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

export function clientNamed(name: string): ClientSetup {
  const found = clientSetups.find((client) => client.name === name)
  if (found !== undefined) return found
  throw new MailboxError('invalid', `there is no client ${JSON.stringify(name)} here`, {
    hint: `clients: ${clientSetups.map((client) => client.name).join(', ')}`,
  })
}
