import { existsSync } from 'node:fs'
import { MailboxError } from '../../base/errors.ts'
import { claude } from '../claude/setup.ts'
import { codex } from '../codex/setup.ts'
import { gemini } from '../gemini/setup.ts'
import { opencode } from '../opencode/setup.ts'
import type { ClientSetup } from './client.ts'
import { findProgram } from './find-program.ts'

export const clientSetups: readonly ClientSetup[] = [claude, codex, gemini, opencode]

/** The clients on this machine: those that can be started or have been used. */
export const findClients = (env: NodeJS.ProcessEnv): ClientSetup[] =>
  clientSetups.filter(
    (client) => existsSync(client.home(env)) || findProgram(client.binary, env) !== undefined,
  )

export function clientNamed(name: string): ClientSetup {
  const found = clientSetups.find((client) => client.name === name)
  if (found !== undefined) return found
  throw new MailboxError('invalid', `there is no client ${JSON.stringify(name)} here`, {
    hint: `clients: ${clientSetups.map((client) => client.name).join(', ')}`,
  })
}
