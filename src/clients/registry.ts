import { existsSync } from 'node:fs'
import { MailboxError } from '../base/errors.ts'
import { clients } from '../model/client.ts'
import { claudeSetup } from './claude/setup.ts'
import { codexSetup } from './codex/setup.ts'
import { geminiSetup } from './gemini/setup.ts'
import { opencodeSetup } from './opencode/setup.ts'
import type { ClientSetup } from './setup/client-setup.ts'
import { findProgram } from './setup/find-program.ts'

/** How `init`, `uninit` and `doctor` handle each client. */
export const clientSetups: readonly ClientSetup[] = [claudeSetup, codexSetup, geminiSetup, opencodeSetup]

/** The clients on this machine: those that are installed or have been used. */
export const findClients = (env: NodeJS.ProcessEnv): ClientSetup[] =>
  clientSetups.filter(
    (client) => existsSync(client.home(env)) || findProgram(client.binary, env) !== undefined,
  )

export function clientNamed(name: string): ClientSetup {
  const found = clientSetups.find((client) => client.name === name)
  if (found !== undefined) return found
  throw new MailboxError('invalid', `unknown client ${JSON.stringify(name)}`, {
    hint: `known clients: ${clients.join(', ')}`,
  })
}
